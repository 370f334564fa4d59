"""convert: the user's prediction files as our table. Every check that can name the user's file happens here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, cores, formats, options, tables
from groundeval.errors import InputError, first_of
from groundeval.sources import progress
from groundeval.sources.folder import Source
from groundeval.stages import other_splits

_ALLOW = "declare --allow-incomplete (params.yaml: allow_incomplete): they then count as wrong."


def declared(benchmark: str, format_name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """All options of the benchmark and the format with their values; what the user did not declare is an error."""
    record = benchmarks.record(benchmark)
    chosen = formats.record(format_name, shape=record.shape)
    if not chosen.fits(record.shape, record.maps):
        fitting = [f for f in formats.names() if formats.record(f).fits(record.shape, record.maps)]
        what = f"makes {chosen.maps or chosen.shape}, but {benchmark} needs {record.maps or record.shape}"
        raise InputError(f"format {format_name}", what, f"Use one of {', '.join(fitting)}.")
    return options.resolve({**record.options, **chosen.options}, said, f"format {format_name}")


def convert(
    source: Source,
    format_name: str,
    manifest: pa.Table,
    chosen: Mapping[str, Any],
    notes: Counter[str],
    allow_incomplete: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Batches of predictions in the manifest's order. Missing and invalid ones stop the run, unless allowed."""
    faults: dict[str, list[str]] = {"missing": [], "invalid": []}
    several = 1 if source.packed else cores.worth(manifest.num_rows)
    with progress.counted(f"convert {source.path}", manifest.num_rows) as advance, cores.using(several):
        for batch in formats.module(format_name).read(source, manifest, chosen, notes):
            _collect(batch, faults)
            advance(batch.num_rows)
            yield batch
    if not allow_incomplete:
        _refuse(source, faults, manifest.num_rows)


def run(
    benchmark: str,
    manifest: Path,
    predictions: Path,
    format_name: str,
    said: Mapping[str, Any],
    out: Path,
    allow_incomplete: bool = False,
) -> None:
    """Write the predictions table."""
    record = benchmarks.record(benchmark)
    chosen = declared(benchmark, format_name, {**_given(tables.meta(manifest)["options"]), **said})
    notes: Counter[str] = Counter()
    batches = convert(Source(predictions), format_name, tables.read(manifest), chosen, notes, allow_incomplete)
    head = {"benchmark": benchmark, "format": format_name, "options": chosen, "allow_incomplete": allow_incomplete}
    with other_splits.told(lambda: other_splits.beside(manifest)):
        tables.write(out, batches, tables.predictions_schema(record.shape), lambda: {**head, "notes": dict(notes)})


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the split stage was told."""
    return {name: value for name, value in values.items() if value is not None}


def _collect(batch: pa.RecordBatch, faults: dict[str, list[str]]) -> None:
    status = batch.column("status").to_pylist()
    if "missing" not in status and "invalid" not in status:
        return
    ids, reasons = batch.column("sample_id").to_pylist(), batch.column("reason").to_pylist()
    faults["missing"] += [i for i, s in zip(ids, status, strict=True) if s == "missing"]
    faults["invalid"] += [r or i for i, r, s in zip(ids, reasons, status, strict=True) if s == "invalid"]


def _refuse(source: Source, faults: Mapping[str, list[str]], expected: int) -> None:
    invalid, missing = faults["invalid"], faults["missing"]
    if invalid:
        what = f"{len(invalid)} of {expected} answers cannot be used, the first: {invalid[0].rstrip('.')}"
        raise InputError(
            source.path,
            what,
            f"Correct them, or {_ALLOW}",
        )
    if missing:
        what = f"{len(missing)} of {expected} samples have no answer, {first_of(missing)}"
        fix = f"Write an explicit empty answer if the model found nothing, or {_ALLOW}"
        raise InputError(source.path, what, fix)
