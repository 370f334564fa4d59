"""A working tree with results of gRefCOCO, made from tables: as many samples and models as are wanted, with any text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval import tables
from groundeval.provenance import results
from groundeval.stages import aggregate, score

OPTIONS = {"absent": "missing", "boxes": "xyxy", "score_threshold": None, "unit": "px"}


def grefcoco(
    root: Path,
    ids: Sequence[str],
    texts: Sequence[str],
    models: Sequence[str],
    images: Sequence[str] | None = None,
    fault: str | None = None,
) -> list[Path]:
    """Write manifest, truth and each model's results below `root`; the files metrics.json. ids: sorted.

    fault: why answers that would say "none" are invalid instead.
    """
    rng, count = np.random.default_rng(1), len(ids)
    kinds = rng.integers(0, 3, count)
    manifest, truth = (root / f"data/{kind}/grefcoco/val.parquet" for kind in ("splits", "truth"))
    said = {"benchmark": "grefcoco", "split": "val", "dataset": "demo", "notes": {}, "options": {}}
    tables.write(manifest, _manifest(ids, texts, images, kinds).to_batches(), tables.MANIFEST, said)
    boxes, ends = _boxes(rng, kinds)
    rows = pa.RecordBatch.from_arrays(
        [pa.array(ids), tables.pack_boxes(boxes, ends), pa.nulls(count, pa.list_(pa.float64()))],
        schema=tables.truth_schema("boxes"),
    )
    tables.write(truth, [rows], rows.schema, {"notes": {}})
    made = [_model(root, name, ids, boxes, ends, rng, fault) for name in models]
    for folder in made:
        samples, histograms = folder / results.SAMPLES, folder / results.HISTOGRAMS
        score.run(manifest, truth, folder / results.PREDICTIONS, folder.name, samples, histograms)
        names = (results.METRICS, results.SUMMARY, results.CURVES)
        aggregate.run(samples, histograms, *(folder / name for name in names))
    return [folder / results.METRICS for folder in made]


def _manifest(ids: Sequence[str], texts: Sequence[str], images: Sequence[str] | None, kinds: Any) -> pa.Table:
    named = [f"{row // 3}" for row in range(len(ids))] if images is None else images
    rows = zip(ids, texts, named, kinds.tolist(), strict=True)
    sizes: dict[str, Any] = {"height": 480, "width": 640, "tags": {}, "truth_sha256": None}
    said = [
        {"sample_id": i, "image_id": g, "kind": ("none", "single", "multi")[k], "text": t, **sizes}
        for i, t, g, k in rows
    ]
    return pa.Table.from_pylist(said, schema=tables.MANIFEST)


def _boxes(rng: np.random.Generator, amounts: Any) -> tuple[Any, Any]:
    corners = rng.uniform(0, 300, (int(amounts.sum()), 2)).round(1)
    return np.hstack([corners, corners + rng.uniform(20, 150, corners.shape).round(1)]), np.cumsum([0, *amounts])


def _model(
    root: Path, name: str, ids: Sequence[str], boxes: Any, ends: Any, rng: np.random.Generator, fault: str | None
) -> Path:
    """Boxes that are moved; of some samples none."""
    folder = root / "results/grefcoco/val" / name
    moved = boxes + rng.normal(0, 12, boxes.shape).round(1)
    answered = (np.diff(ends) > 0) & (rng.random(len(ids)) < 0.9)
    kept = np.repeat(answered, np.diff(ends))
    amounts = np.where(answered, np.diff(ends), 0)
    columns = [
        pa.array(ids),
        pa.array(np.where(answered, "answered", "none" if fault is None else "invalid")),
        pa.array([None if there else fault for there in answered.tolist()], pa.string()),
        tables.pack_boxes(moved[kept], np.cumsum([0, *amounts]), answered),
        pa.nulls(len(ids), pa.list_(pa.float64())),
    ]
    schema = tables.predictions_schema("boxes")
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    said = {"format": "boxes_json", "options": OPTIONS, "notes": {}, "allow_incomplete": False}
    tables.write(folder / results.PREDICTIONS, [rows], schema, said)
    return folder
