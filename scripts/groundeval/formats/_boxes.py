"""What the box formats share: the declared conventions, the way to pixels, the faults of a single sample, the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from groundeval import tables
from groundeval.errors import InputError, quoted
from groundeval.formats import _coordinates, _padding
from groundeval.formats._coordinates import Floats, Rows
from groundeval.options import REQUIRED, Option
from groundeval.sources import ids

_BATCH = 1 << 16

OPTIONS: Mapping[str, Option] = {
    "boxes": Option("choice", "what the four numbers of a box are", REQUIRED, ("xyxy", "xywh", "cxcywh")),
    "unit": Option(
        "choice",
        "pixels of the original image (px) or of the resized input (px_resized: each record then has its width and "
        "height), or fractions of the original image from 0 to 1, 999 or 1000",
        REQUIRED,
        ("px", "px_resized", "norm1", "norm999", "norm1000"),
    ),
    "score_threshold": Option("number", "boxes with a lower score are dropped; must be said where there are scores"),
    "absent": Option(
        "choice", "what a sample without a record is: an answer that was lost, or an explicit none", "missing",
        ("missing", "none"),
    ),
    "drop_padding": _padding.OPTION,
}  # fmt: skip


@dataclass
class Answers:
    """What a file says, box by box and in its order; rows are the manifest's."""

    row: Rows  # [n] whose box it is
    boxes: Sequence[Any]  # [n] as they stand in the file
    scores: Sequence[Any] | None  # [n], or None where the file has none
    stated: Rows  # rows of which the file says anything
    resized: Floats | None = None  # [n, 2] width and height of the input, for px_resized
    faults: dict[int, str] = field(default_factory=dict)  # row -> why its record cannot be used
    may_repeat: bool = False  # whether a sample's answer may stand in the file more than once


def rows_of(names: Sequence[str], manifest: pa.Table, where: str) -> Rows:
    """The manifest's rows of ids, which may stand more than once; an unknown one is an InputError."""
    rows = pc.index_in(pa.array(names, pa.string()), manifest["sample_id"].combine_chunks())
    if rows.null_count:
        ids.check(list(dict.fromkeys(names)), manifest["sample_id"].to_pylist(), where)
    return np.asarray(rows.to_numpy(), np.int64)


def check_threshold(has_scores: bool, options: Mapping[str, Any], where: str) -> None:
    """Scores without a declared threshold are an error: whether to use one changes the numbers."""
    if has_scores and options["score_threshold"] is None:
        fix = "--set score_threshold=0.7 is the official code's, 0 keeps all."
        raise InputError(where, "the boxes have scores, but no score_threshold is declared", fix)


def batches(
    answers: Answers, manifest: pa.Table, options: Mapping[str, Any], where: str, notes: Counter[str]
) -> list[pa.RecordBatch]:
    """Prediction batches in the manifest's order: all boxes as xyxy pixels, and their scores.

    A sample with a box that is no box (not four numbers, beyond LARGEST, inverted) is "invalid": the reason names the
    file, the sample and the box's index.
    """
    names, row = manifest["sample_id"], answers.row
    raw, broken = _coordinates.numbers(answers.boxes)
    scores, unscored = _coordinates.scores(answers.scores)
    resized = answers.resized
    if answers.may_repeat and not (broken or unscored):
        row, raw, scores, resized = _padding.left(row, raw, scores, resized, options["drop_padding"], notes)
    sizes = np.stack([manifest[n].to_numpy() for n in ("width", "height")], axis=1)[row]
    boxes = _coordinates.pixels(raw, options, sizes, resized)
    faults = {r: f"{where}: {quoted(names[r])} {why}" for r, why in answers.faults.items()}
    complaints = sorted({**_coordinates.complaints(raw, boxes), **unscored, **broken}.items())
    index = _index_in_sample(row) if complaints else row
    for i, why in complaints:
        r = int(row[i])
        faults.setdefault(r, f"{where}: {quoted(names[r])} box {index[i]}: {why}")
    _coordinates.note(raw, boxes, sizes, options["unit"], notes)
    _note_threshold(scores, options.get("score_threshold"), notes)
    status = _statuses(answers, len(names), faults, options["absent"])
    return _table(names, row, boxes, scores, status, faults)


def _note_threshold(scores: Floats | None, threshold: float | None, notes: Counter[str]) -> None:
    if threshold is None:
        return
    if scores is None:
        notes[f"boxes without scores: score_threshold={threshold:g} has no effect"] += 1
    elif len(scores) and scores.max() < threshold:
        what = f"file of scores that are all below score_threshold={threshold:g} (the largest is {scores.max():g})"
        notes[f"{what}: nothing counts as answered"] += 1


def _index_in_sample(row: Rows) -> Rows:
    """Of each box its number, from 0, among those of its sample."""
    order = np.argsort(row, kind="stable")
    index = np.empty_like(row)
    index[order] = np.arange(len(row)) - np.searchsorted(row[order], row[order])
    return index


def _statuses(answers: Answers, count: int, faults: Mapping[int, str], absent: str) -> NDArray[Any]:
    status = np.full(count, absent, dtype=object)
    status[answers.stated] = "none"
    status[answers.row] = "answered"
    status[list(faults)] = "invalid"
    return status


def _table(
    names: pa.ChunkedArray,
    row: Rows,
    boxes: Floats,
    scores: Floats | None,
    status: NDArray[Any],
    faults: Mapping[int, str],
) -> list[pa.RecordBatch]:
    answered = status == "answered"
    order = np.argsort(row, kind="stable")
    order = order[answered[row[order]]]
    ends = np.searchsorted(row[order], np.arange(len(status) + 1))
    reasons = np.full(len(status), None, dtype=object)
    reasons[list(faults)] = list(faults.values())
    none = pa.nulls(len(status), pa.list_(pa.float64()))
    columns = [
        names.combine_chunks(),
        pa.array(status, pa.string()),
        pa.array(reasons, pa.string()),
        tables.pack_boxes(boxes[order], ends, answered),
        none if scores is None else tables.pack_boxes(scores[order], ends, answered),
    ]
    table = pa.table(columns, schema=tables.predictions_schema("boxes"))
    return cast(list[pa.RecordBatch], table.to_batches(_BATCH))
