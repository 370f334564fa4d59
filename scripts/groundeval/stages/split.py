"""split: which samples there are. Every denominator comes from the manifest that this stage writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, tables
from groundeval.errors import InputError, did_you_mean, quoted


def manifest(
    benchmark: str, raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str], dataset: str | None = None
) -> tuple[pa.Table, dict[str, Any]]:
    """The manifest of one split from a folder in the official layout, and what is said of it."""
    record = benchmarks.record(benchmark)
    if not record.has_split(str(split)):
        what = f"unknown split {quoted(split)}{did_you_mean(split, record.splits)}"
        raise InputError(benchmark, what, "Name one of its splits.")
    if not raw.is_dir():
        raise InputError(
            raw, "no such folder", f"Give the folder in the official layout: {_on_one_line(record.layout)}"
        )
    table = benchmarks.part(benchmark, "truth").manifest(raw, split, options, notes)
    if table.num_rows == 0:
        raise InputError(raw, f"no samples in split {quoted(split)}", f"Expected {_on_one_line(record.layout)}")
    said = {"benchmark": benchmark, "split": split, "dataset": dataset, "options": dict(options), "notes": dict(notes)}
    return table, said


def _on_one_line(layout: str) -> str:
    return "; ".join(" ".join(line.split()) for line in layout.splitlines())


def run(
    benchmark: str, raw: Path, split: str, options: Mapping[str, Any], out: Path, dataset: str | None = None
) -> None:
    """Write the manifest."""
    table, said = manifest(benchmark, raw, split, options, Counter(), dataset)
    tables.write(out, table.to_batches(), tables.MANIFEST, said)
