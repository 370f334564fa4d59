"""GRiN-Drive's files as our tables. Which of two layouts a folder has, its files say: {split}.jsonl, or else *.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import tables
from groundeval.benchmarks.grin_drive import RECORD, jsonl, regseg
from groundeval.benchmarks.grin_drive.samples import Sample, region_masks
from groundeval.errors import InputError
from groundeval.metrics import masks
from groundeval.sources.folder import Source

# arXiv 2508.21102. They add up to 17,144, the total is given as 17,114: a difference is noted, never an error.
PUBLISHED_SIZES = {"train": 14973, "val": 1413, "test": 758}

_ROWS = 1024  # samples whose polygons go through the rasteriser together


def manifest(raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str]) -> pa.Table:  # noqa: ARG001
    """The samples, sorted. kind counts the regions that have a pixel: none, single, multi. Tag: `split`."""
    source = Source(raw)
    rows: list[dict[str, Any]] = []
    for samples in _parts(_samples(source, split)):
        found = region_masks(source, samples, Counter())
        rows += [_row(s, split, regions) for s, regions in zip(samples, found, strict=True)]
    if len(rows) != PUBLISHED_SIZES[split]:
        notes[f"samples in {split}, where {PUBLISHED_SIZES[split]} are published"] = len(rows)
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["sample_id"]), schema=tables.MANIFEST)


def truth(
    raw: Path,
    manifest: pa.Table,
    options: Mapping[str, Any],  # noqa: ARG001
    notes: Counter[str],
) -> Iterator[pa.RecordBatch]:
    """The union of each sample's regions; empty where there is no target."""
    source = Source(raw)
    splits = sorted({dict(tags)["split"] for tags in manifest.column("tags").to_pylist()})
    known = {s.sample_id: s for split in splits for s in _samples(source, split)}
    expected = manifest.column("sample_id").to_pylist()
    if gone := [i for i in expected if i not in known]:
        raise InputError(raw, f"{len(gone)} samples of the split are gone, first {gone[0]}", "Make the split again.")
    for samples in _parts([known[i] for i in expected]):
        found = region_masks(source, samples, notes)
        unions = [
            r[0] if len(r) == 1 else masks.union(r, s.height, s.width) for s, r in zip(samples, found, strict=True)
        ]
        columns = {"sample_id": [s.sample_id for s in samples], "mask": unions}
        yield pa.RecordBatch.from_pydict(columns, tables.truth_schema(RECORD.shape))


def _samples(source: Source, split: str) -> list[Sample]:
    if f"{split}.jsonl" in source.names(".jsonl"):
        return jsonl.read(source, split)
    found = regseg.find(source, split)
    if found is None:
        what = f"has neither {split}.jsonl nor a JSON file with a split {split}"
        raise InputError(
            source.path, what, "Give a folder in one of the two layouts that the benchmark's card describes."
        )
    return regseg.read(source, split, *found)


def _parts(samples: Sequence[Sample]) -> Iterator[Sequence[Sample]]:
    return (samples[start : start + _ROWS] for start in range(0, len(samples), _ROWS))


def _row(sample: Sample, split: str, regions: Sequence[bytes]) -> dict[str, Any]:
    empty = masks.empty(sample.height, sample.width)
    targets = sum(region != empty for region in regions)
    return {
        "sample_id": sample.sample_id,
        "image_id": sample.image,
        "height": sample.height,
        "width": sample.width,
        "kind": ("none", "single", "multi")[min(targets, 2)],
        "text": sample.text,
        "tags": {"split": split},
        "truth_sha256": sample.sha256,
    }
