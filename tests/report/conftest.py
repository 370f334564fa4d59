"""A benchmark `toy` that the registry finds like any other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundeval import benchmarks
from report import made_up


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that holds the benchmark; more may be written into it."""
    inside = tmp_path / "benchmarks"
    made_up.benchmark(inside)
    monkeypatch.setattr(benchmarks, "__path__", [*benchmarks.__path__, str(inside)])
    yield inside
    for name in [n for n in sys.modules if n.startswith("groundeval.benchmarks.toy")]:
        del sys.modules[name]
