"""All samples of a leaderboard as one compact JSON, which the page's script filters and sorts."""

from __future__ import annotations

import json
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval.benchmarks import Record
from groundeval.report import choose, commands
from groundeval.report.commands import Made
from groundeval.report.dataset import Dataset
from groundeval.report.evidence import Evidence
from groundeval.report.gallery import ranking
from groundeval.report.text import visible

LIMIT = 4_000_000  # bytes of one table
DIGITS = 4
LONGEST_TAG = 60  # characters of a tag's value; longer ones are matrices


@dataclass(frozen=True)
class SampleTable:
    """json: what the script reads; shown of total samples, those with the lowest mean figure where not all fit."""

    json: str
    shown: int
    total: int
    figure: str
    left_out: Sequence[str]  # counts that are too long to show
    lacking: Sequence[str] = ()


def make(
    record: Record, evidences: Sequence[Evidence], dataset: Dataset, made: Mapping[Any, Made], limit: int = LIMIT
) -> SampleTable | None:
    """The table of a board; None where no run has its counts. Arguments as gallery.make."""
    if not evidences:
        return None
    figure, figures = ranking(evidences)
    average = choose.mean(figures)
    worst = np.lexsort((np.arange(len(average)), np.where(np.isnan(average), np.inf, average)))
    shown, total = len(worst), len(worst)
    while True:
        rows = np.sort(worst[:shown])
        text = _json(record, evidences, dataset, made, figure, rows)
        if len(text) <= limit or shown == 0:
            break
        shown = min(shown - 1, int(0.98 * shown * limit / len(text)))
    return SampleTable(
        text, shown, total, figure, _long(evidences[0]), () if dataset.manifest is not None else dataset.lacking
    )


def _json(
    record: Record,
    evidences: Sequence[Evidence],
    dataset: Dataset,
    made: Mapping[Any, Made],
    figure: str,
    rows: Any,
) -> str:
    table = evidences[0].samples.take(rows)
    ids = table.column("sample_id").to_pylist()
    known = [dataset.known.get(name, {}) for name in ids]
    content: dict[str, Any] = {
        "ids": [visible(name) for name in ids],
        "columns": [
            _column("Image", table.column("image_id").to_pylist()),
            _column("Kind", table.column("kind").to_pylist()),
            _column("Tags", [_tags(tags) for tags in table.column("tags").to_pylist()]),
            _column("Instruction", [_text(row) for row in known]),
        ],
        "figure": figure,
        "metric": shlex.quote(record.headline),
        "models": [_model(evidence, made[evidence.run.identity], rows) for evidence in evidences],
    }
    content["columns"] = [column for column in content["columns"] if any(column["values"])]
    return in_script(content)


def in_script(content: Any) -> str:
    """JSON that cannot end the element that it stands in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _model(evidence: Evidence, how: Made, rows: Any) -> dict[str, Any]:
    samples = evidence.arrays
    names = _counts(evidence)
    columns = [samples[name][rows].tolist() for name in names]
    return {
        "name": visible(evidence.run.label),
        "folder": visible(shlex.quote(commands.folder(evidence.run, how))),
        "status": _coded(samples["status"][rows].tolist()),
        "figures": {name: _coded(_rounded(values[rows])) for name, values in evidence.by_sample.items()},
        "counts": names,
        "counted": _coded([tuple(column[row] for column in columns) for row in range(len(rows))]),
    }


def _counts(evidence: Evidence) -> list[str]:
    """The names of what was counted, one number a sample."""
    return [field.name for field in evidence.samples.schema if pa.types.is_integer(field.type)]


def _long(evidence: Evidence) -> list[str]:
    return [field.name for field in evidence.samples.schema if pa.types.is_fixed_size_list(field.type)]


def _rounded(values: Any) -> list[float | None]:
    return [None if value != value else round(value, DIGITS) for value in values.tolist()]


def _column(name: str, values: Sequence[str | None]) -> dict[str, Any]:
    return {"name": name, **_coded([None if value is None else visible(value) for value in values])}


def _coded(values: Sequence[Hashable]) -> dict[str, Any]:
    """Each value once and where it stands, or, where most differ, the values themselves."""
    distinct = list(dict.fromkeys(values))
    if 2 * len(distinct) > len(values):
        return {"values": values}
    places = {value: place for place, value in enumerate(distinct)}
    return {"values": distinct, "at": [places[value] for value in values]}


def _text(row: Mapping[str, object]) -> str | None:
    text = row.get("text")
    return None if text is None else str(text)


def _tags(tags: Sequence[tuple[str, str]] | None) -> str:
    pairs = (f"{name}={value}" for name, value in tags or () if len(value) <= LONGEST_TAG)
    return ", ".join(pairs)
