"""A manifest of three samples with masks, for the tests of the mask formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import formats, tables
from groundeval.metrics import masks
from groundeval.sources.folder import Source

SIZES = {"a": (4, 6), "b-cup-handle": (5, 5), "c": (7, 3)}
MASKS: dict[str, NDArray[np.bool_]] = {
    name: np.random.default_rng(n).random(size) < 0.4 for n, (name, size) in enumerate(SIZES.items())
}
COUNTS = {name: masks.encode(mask) for name, mask in MASKS.items()}


def manifest() -> pa.Table:
    """The three samples, in order."""
    rows = [
        {"sample_id": name, "image_id": name, "height": h, "width": w, "tags": {}} for name, (h, w) in SIZES.items()
    ]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def read(
    name: str, path: Path, options: Mapping[str, Any] | None = None, notes: Counter[str] | None = None
) -> dict[str, dict[str, Any]]:
    """What a format makes of a path: the rows by id, after checking their schema and order."""
    read_ = formats.module(name).read
    batches = list(read_(Source(path), manifest(), options or {}, Counter() if notes is None else notes))
    assert all(b.schema == tables.predictions_schema("mask") for b in batches)
    rows = [row for b in batches for row in b.to_pylist()]
    assert [row["sample_id"] for row in rows] == list(SIZES)
    return {row.pop("sample_id"): row for row in rows}


def answered(name: str) -> dict[str, Any]:
    """The row of a right answer."""
    return {"status": "answered", "reason": None, "mask": COUNTS[name]}


def without(status: str) -> dict[str, Any]:
    """The row of a sample without a mask and without a fault."""
    return {"status": status, "reason": None, "mask": None}
