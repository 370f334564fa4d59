"""KITTI semantic's folders: which annotated frames a split has, and their label ids, at their own size and unmerged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import tables
from groundeval.benchmarks import _labels, _splits
from groundeval.benchmarks.kitti_semantic import RECORD, TASK, merging
from groundeval.errors import InputError

# 200 of the 400 images are annotated; "100/50/50" of the paper is read as a split of those.
SHARES = {"train": 100, "val": 50, "test": 50}
HIGHEST_TRAIN_ID = 18


def manifest(raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str]) -> pa.Table:
    """The frames of a split: of the user's lists where there are some, else of a seeded split, which the notes say."""
    stems = _labels.pairs(raw / "training" / "image_2", raw / "training" / "semantic", notes)
    chosen = _splits.choose(raw, split, stems, SHARES, options, notes)
    return _labels.manifest(raw / "training" / "semantic", chosen)


def truth(raw: Path, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]) -> Iterator[pa.RecordBatch]:
    """uint8 label ids [H, W] at native size, not merged, so that one table serves every preset.

    Another value than 0..33 and 255 is an InputError; so are labels that are train ids throughout.
    """
    preset = options.get("merge") or "category"
    notes[f"frames merged by preset {preset} of the merge table with sha256 {merging.digest()[:16]}"] = (
        manifest.num_rows
    )
    folder = raw / "training" / "semantic"
    return tables.rows_to_batches(_rows(folder, manifest, notes), tables.truth_schema(RECORD.shape))


def _rows(folder: Path, manifest: pa.Table, notes: Counter[str]) -> Iterator[dict[str, Any]]:
    highest = 0
    for stem, label in _labels.read(folder, manifest, (*range(TASK.truth_values), int(TASK.ignore or 0))):
        scored = label[label != TASK.ignore]
        highest = max(highest, int(scored.max(initial=0)))
        notes["pixels of 255 in the labels, ignored"] += label.size - scored.size
        if not scored.size:
            notes["labels in which every pixel is ignored"] += 1
        yield {"sample_id": stem, **tables.pack_map(label)}
    if highest <= HIGHEST_TRAIN_ID:
        what = f"no label of this split has an id above {highest}; these look like train ids"
        raise InputError(folder, what, "Use the official labels, which hold Cityscapes label ids (sky is 23).")
