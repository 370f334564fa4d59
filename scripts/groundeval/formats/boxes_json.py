"""boxes_json: one JSON file, either COCO results, one row a box, or one record a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval.errors import InputError, quoted
from groundeval.formats import Format, _boxes
from groundeval.formats._boxes import Answers
from groundeval.sources import ids, jsonfile
from groundeval.sources.folder import Source

FORMAT = Format(
    name="boxes_json",
    shape="boxes",
    reads="a JSON list of {sample_id, bbox, score?}, or an object {sample_id: [box, ...]}",
    options=_boxes.OPTIONS,
    example="""\
[{"image_id": "27:81", "bbox": [12.5, 30, 80, 41], "score": 0.93}, ...]   COCO results: any number of rows a sample
{"27:81": [[12.5, 30, 92.5, 71]], "27:82": []}                            [] says that there is nothing
{"27:81": {"boxes": [[12.5, 30, 92.5, 71]], "scores": [0.93]}, ...}       with width and height for px_resized""",
    traps="""\
sample_id goes before image_id; either holds the sample's id, not the image's.
A sample without a row is missing. Only --set absent=none says that the model found nothing there.
A failed parse of a model's answer is no empty list: leave the sample out, or write null, which is invalid.
Scores stand beside all boxes or beside none. All boxes are kept; score_threshold is applied when they are scored.""",
)

_ABSENT = object()
_FIX = f"Write {FORMAT.reads}."
_SIZE_FIX = "Give each record the width and height of the input that its boxes refer to, or declare another unit."


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of boxes in the manifest's order; see `formats` for what is an error and what a status."""
    name = source.only(".json")
    where = source.where(name)
    content, samples = jsonfile.load(source.read(name), where), manifest["sample_id"].to_pylist()
    if isinstance(content, list):
        answers = _of_rows(content, samples, options, where)
    elif isinstance(content, dict):
        answers = _of_records(content, samples, options, where)
    else:
        raise InputError(where, f"is a JSON {type(content).__name__}, neither a list nor an object", _FIX)
    _boxes.check_threshold(answers.scores is not None, options, where)
    yield from _boxes.batches(answers, manifest, options, where, notes)


def _of_rows(rows: list[Any], samples: list[str], options: Mapping[str, Any], where: str) -> Answers:
    """COCO results: every row is a box."""
    _check_rows(rows, where)
    names = [_name(row["sample_id"] if "sample_id" in row else row["image_id"]) for row in rows]
    ids.check(list(dict.fromkeys(names)), samples, where)
    row = _boxes.rows_of(names, samples)
    scores = _all_or_none([r.get("score", _ABSENT) for r in rows], names, where)
    return Answers(row, [r["bbox"] for r in rows], scores, row, _resized(rows, names, options, where))


def _of_records(content: dict[str, Any], samples: list[str], options: Mapping[str, Any], where: str) -> Answers:
    """One record a sample: its boxes alone, or an object with them."""
    names = list(content)
    ids.check(names, samples, where)
    row = _boxes.rows_of(names, samples)
    records = [r if isinstance(r, dict) else {"boxes": r} for r in content.values()]
    wrong = {i: why for i, r in enumerate(records) if (why := _fault(r))}
    for i in wrong:
        records[i] = {"boxes": []}
    boxes = [r["boxes"] for r in records]
    lengths = list(map(len, boxes))
    owners = list(chain.from_iterable([n] * k for n, k in zip(names, lengths, strict=True)))
    given = [r.get("scores") or [_ABSENT] * k for r, k in zip(records, lengths, strict=True)]
    scores = _all_or_none(list(chain.from_iterable(given)), owners, where)
    with_boxes = [i for i, k in enumerate(lengths) if k]
    sizes = _resized([records[i] for i in with_boxes], [names[i] for i in with_boxes], options, where)
    resized = None if sizes is None else np.repeat(sizes, [lengths[i] for i in with_boxes], axis=0)
    faults = {int(row[i]): why for i, why in wrong.items()}
    return Answers(np.repeat(row, lengths), list(chain.from_iterable(boxes)), scores, row, resized, faults)


def _fault(record: dict[str, Any]) -> str | None:
    boxes, scores = record.get("boxes"), record.get("scores")
    if not isinstance(boxes, list):
        return "neither a list of boxes nor an object with boxes"
    if scores is not None and (not isinstance(scores, list) or len(scores) != len(boxes)):
        return "not one score for each box"
    return None


def _check_rows(rows: list[Any], where: str) -> None:
    for number, row in enumerate(rows):
        fault = _row_fault(row)
        if fault:
            raise InputError(f"{where}, row {number}", fault, _FIX)


def _row_fault(row: Any) -> str | None:
    if not isinstance(row, dict):
        return "is not an object with sample_id and bbox"
    if type(found := row.get("sample_id", row.get("image_id"))) not in (str, int):
        return f"its sample_id is {quoted(found)}, not a text"
    return None if "bbox" in row else "has no bbox"


def _name(found: str | int) -> str:
    return found if isinstance(found, str) else str(found)


def _all_or_none(scores: list[Any], names: list[str], where: str) -> list[Any] | None:
    """The scores, or None where no box has any. Boxes of which some have a score and some have none are an error."""
    absent = scores.count(_ABSENT)
    if absent == len(scores):
        return None
    if absent:
        first = names[scores.index(_ABSENT)]
        what = f"{absent} of {len(scores)} boxes have no score, first of {quoted(first)}"
        raise InputError(where, what, "Give every box its score, or none.")
    return scores


def _resized(
    records: list[dict[str, Any]], names: list[str], options: Mapping[str, Any], where: str
) -> _boxes.Floats | None:
    """[n, 2] width and height of each record, where the unit needs them."""
    if options["unit"] != "px_resized":
        return None
    sizes = [(record.get("width"), record.get("height")) for record in records]
    wrong = [n for n, size in zip(names, sizes, strict=True) if not all(map(_is_length, size))]
    if wrong:
        what = f"{len(wrong)} of {len(sizes)} records lack the width and height of the resized input"
        raise InputError(where, f"{what}, first {quoted(wrong[0])}", _SIZE_FIX)
    return np.array(sizes, np.float64).reshape(-1, 2)


def _is_length(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
