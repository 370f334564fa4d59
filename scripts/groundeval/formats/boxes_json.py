"""boxes_json: one JSON file, either COCO results, one row a box, or one record a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError, quoted
from groundeval.formats import Format, _box_records, _boxes
from groundeval.formats._boxes import Answers
from groundeval.sources import jsonfile
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
COCO rows that repeat all boxes of a sample look like sampler padding: noted, dropped by --set drop_padding=true.
Scores stand beside all boxes or beside none. All boxes are kept; score_threshold is applied when they are scored.""",
)

_FIX = f"Write {FORMAT.reads}."


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of boxes in the manifest's order; see `formats` for what is an error and what a status."""
    name = source.only(".json")
    where = source.where(name)
    with jsonfile.collector_paused():
        answers = _answers(jsonfile.load(source.read(name), where), manifest, options, where)
        _boxes.check_threshold(answers.scores is not None, options, where)
        found = _boxes.batches(answers, manifest, options, where, notes)
        del answers
    yield from found


def _answers(content: Any, manifest: pa.Table, options: Mapping[str, Any], where: str) -> Answers:
    if isinstance(content, list):
        return _of_rows(content, manifest, options, where)
    if isinstance(content, dict):
        return _box_records.answers(content, manifest, options, where)
    raise InputError(where, f"is a JSON {type(content).__name__}, neither a list nor an object", _FIX)


def _of_rows(rows: list[Any], manifest: pa.Table, options: Mapping[str, Any], where: str) -> Answers:
    """COCO results: every row is a box."""
    names, boxes, given = _columns(rows, where)
    row = _boxes.rows_of(names, manifest, where)
    scores = _box_records.all_or_none(given, names, where)
    sizes = _box_records.resized(rows, names, options, where)
    return Answers(row, boxes, scores, row, sizes, may_repeat=True)


def _columns(rows: list[Any], where: str) -> tuple[Sequence[str], Sequence[Any], Sequence[Any]]:
    """The ids, boxes and scores of all rows. A row without an id or a box is an error: nobody knows whose it is."""
    try:  # the usual file, in one pass
        names, boxes, scores = zip(*map(itemgetter("image_id", "bbox", "score"), rows), strict=True)
        if set(map(type, names)) == {str} and not any(map(dict.__contains__, rows, repeat("sample_id"))):
            return names, boxes, scores
    except (KeyError, TypeError, ValueError):
        pass
    for number, row in enumerate(rows):
        if fault := _row_fault(row):
            raise InputError(f"{where}, row {number}", fault, _FIX)
    ids = [str(row.get("sample_id", row.get("image_id"))) for row in rows]
    return ids, [row["bbox"] for row in rows], [row.get("score", _box_records.ABSENT) for row in rows]


def _row_fault(row: Any) -> str | None:
    if not isinstance(row, dict):
        return "is not an object with sample_id and bbox"
    if type(found := row.get("sample_id", row.get("image_id"))) not in (str, int):
        return f"its sample_id is {quoted(found)}, not a text"
    return None if "bbox" in row else "has no bbox"
