"""prepare: the ground truth as our table, one row a sample of the manifest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from groundeval import benchmarks, tables


def run(raw: Path, manifest: Path, out: Path) -> None:
    """Write the truth table for a manifest, batch by batch."""
    said = tables.meta(manifest)
    record = benchmarks.record(said["benchmark"])
    notes: Counter[str] = Counter()
    rows = benchmarks.part(record.name, "truth").truth(raw, tables.read(manifest), said["options"], notes)
    head = {"benchmark": record.name, "split": said["split"], "options": said["options"]}
    tables.write(out, rows, tables.truth_schema(record.shape), lambda: {**head, "notes": dict(notes)})
