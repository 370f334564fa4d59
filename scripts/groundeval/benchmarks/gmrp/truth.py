"""GMRP's folders: which frames a split has, and their labels, at their own size and untouched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import tables
from groundeval.benchmarks import _labels, _splits
from groundeval.benchmarks.gmrp import RECORD, TASK

# Wang et al. 2021, arXiv 2103.02433: 3896 frames. The lists themselves were not found.
SHARES = {"train": 2726, "val": 585, "test": 585}


def manifest(raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str]) -> pa.Table:
    """The frames of a split: of the user's lists where there are some, else of a seeded split, which the notes say."""
    stems = _labels.pairs(raw / "rgb", raw / "label", notes)
    return _labels.manifest(raw / "label", _splits.choose(raw, split, stems, SHARES, options, notes))


def truth(
    raw: Path,
    manifest: pa.Table,
    options: Mapping[str, Any],  # noqa: ARG001
    notes: Counter[str],
) -> Iterator[pa.RecordBatch]:
    """uint8 class maps [H, W] at native size. A value that is no class is an InputError."""
    return tables.rows_to_batches(_rows(raw, manifest, notes), tables.truth_schema(RECORD.shape))


def _rows(raw: Path, manifest: pa.Table, notes: Counter[str]) -> Iterator[dict[str, Any]]:
    for stem, label in _labels.read(raw / "label", manifest, range(TASK.truth_values)):
        if not label.any():
            notes["labels with no class but unlabeled"] += 1
        yield {"sample_id": stem, **tables.pack_map(label)}
