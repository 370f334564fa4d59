"""The merge table: which of the four classes each Cityscapes label id belongs to, by preset."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from groundeval.benchmarks.kitti_semantic import PRESETS, TASK

_FILE = Path(__file__).with_name("merge.yaml")


@cache
def digest() -> str:
    """sha256 of merge.yaml, which goes into the notes of each result."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return content


@cache
def preset(name: str) -> tuple[int, ...]:
    """The class of each label id 0 .. 33."""
    rows = {row["id"]: row[name] for row in _content()["ids"]}
    return tuple(rows[i] for i in range(TASK.truth_values))


@cache
def variants() -> dict[str, tuple[int, ...]]:
    """Every preset, and the first one with one uncertain decision the other way: what the sensitivity table compares."""
    out = {name: preset(name) for name in PRESETS}
    for name, moved in _content()["alternatives"].items():
        out[name] = tuple(moved.get(i, c) for i, c in enumerate(preset(PRESETS[0])))
    return out
