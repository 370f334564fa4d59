"""polygons_jsonl: one JSON line a sample, with polygons and, if the model says so, whether there is a target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from groundeval.errors import quoted
from groundeval.formats import Format, _lines, _padding
from groundeval.metrics.polygons import Rasters, Unit, rasterise
from groundeval.options import REQUIRED, Option
from groundeval.sources import ids
from groundeval.sources.folder import Source
from groundeval.tables import predictions_schema

FORMAT = Format(
    name="polygons_jsonl",
    shape="mask",
    reads="one JSON Lines file",
    options={
        "unit": Option(
            "choice", "pixels of the original image, or image widths and heights", REQUIRED, ("px", "norm1")
        ),
        "drop_padding": _padding.OPTION,
    },
    example=(
        '{"sample_id": "0001", "polygons": [[[10, 20], [60, 20], [60, 45]], [100, 50, 120, 50, 110, 70]]}\n'
        '{"sample_id": "0002", "exists": false, "polygons": []}'
    ),
    traps=(
        "Several polygons are a union; holes cannot be written. Polygons of fewer than 3 distinct points, or of no "
        "area, are dropped: four numbers are no box. Where exists is false the polygons are not looked at; where it is "
        "absent, there is a target if a pixel is covered. A polygon that crosses itself is filled by the even-odd rule."
    ),
)

_SCHEMA = predictions_schema("mask")
_KEYS = {"sample_id", "exists", "polygons"}
_OVERRULED = "records with exists true and an empty mask, taken as no target"
_ROWS = 1024  # samples that go through the rasteriser together
_FIX = 'Write one object a line: {"sample_id": "...", "exists": true, "polygons": [[[x, y], ...], ...]}.'


class _Answer(NamedTuple):
    """One line of the file: the polygons that count, or why there are none."""

    line: int
    sample_id: str
    exists: bool | None
    polygons: Any
    fault: str | None


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Predictions in the manifest's order. A sample is invalid, with its line and a reason, where `exists` is neither
    true nor false, polygons are absent, or one of them is none (metrics.polygons.rasterise says when)."""
    where = source.where(source.only(".jsonl"))
    lines = _lines.read(source, _FIX, bool(options.get("drop_padding")), notes)
    ids.check([line.sample_id for line in lines], manifest.column("sample_id").to_pylist(), where)
    answers = {line.sample_id: _answer(line.number, line.record, notes) for line in lines}
    largest = 0.0
    for start in range(0, manifest.num_rows, _ROWS):
        part = manifest.slice(start, _ROWS)
        chosen = [answers.get(i) for i in part.column("sample_id").to_pylist()]
        rasters = _rasterise(chosen, part, options["unit"])
        notes.update(rasters.notes)
        largest = max(largest, rasters.largest)
        yield _batch(part, chosen, rasters, f"{where}, line", notes)
    if options["unit"] == "px" and 0 < largest <= 1:
        notes["file of polygons in px without any value above 1: are they normalised?"] += 1


def _answer(line: int, record: Mapping[str, Any], notes: Counter[str]) -> _Answer:
    notes.update(f"records with a key {quoted(key)}, which is not read" for key in record.keys() - _KEYS)
    exists, polygons = record.get("exists"), record.get("polygons")
    said = _Answer(line, str(record["sample_id"]), exists, polygons, None)
    if "exists" in record and not isinstance(exists, bool):
        return said._replace(polygons=[], fault=f"exists is {quoted(exists)}, neither true nor false")
    if exists is False:
        notes.update(["records with exists false and polygons, which are discarded"] if polygons else [])
        return said._replace(polygons=[])
    if "polygons" not in record:
        return said._replace(polygons=[], fault="there are no polygons; an empty list says that there is no target")
    return said


def _rasterise(answers: Sequence[_Answer | None], part: pa.Table, unit: Unit) -> Rasters:
    polygons = [a.polygons if a else [] for a in answers]
    heights, widths = part.column("height").to_pylist(), part.column("width").to_pylist()
    return rasterise(polygons, heights, widths, [unit] * len(polygons))


def _batch(
    part: pa.Table, answers: Sequence[_Answer | None], rasters: Rasters, where: str, notes: Counter[str]
) -> pa.RecordBatch:
    reasons = [_reason(answer, rasters.faults.get(i), where) for i, answer in enumerate(answers)]
    status = [_status(a, r, empty) for a, r, empty in zip(answers, reasons, rasters.empty, strict=True)]
    notes.update(_OVERRULED for s, a in zip(status, answers, strict=True) if s == "none" and a and a.exists)
    masks = [counts if s == "answered" else None for s, counts in zip(status, rasters.counts, strict=True)]
    ids_ = part.column("sample_id").to_pylist()
    return pa.RecordBatch.from_pydict({"sample_id": ids_, "status": status, "reason": reasons, "mask": masks}, _SCHEMA)


def _reason(answer: _Answer | None, fault: str | None, where: str) -> str | None:
    said = answer and (answer.fault or fault)
    return f"{where} {answer.line}: sample {quoted(answer.sample_id)}, {said}" if answer and said else None


def _status(answer: _Answer | None, reason: str | None, empty: bool) -> str:
    if answer is None:
        return "missing"
    return "invalid" if reason else "none" if empty else "answered"
