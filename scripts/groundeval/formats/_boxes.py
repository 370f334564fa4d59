"""What the box formats share: the declared conventions, the way to pixels, the faults of a single sample, the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.errors import InputError, quoted
from groundeval.options import REQUIRED, Option

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_BATCH = 1 << 16
LARGEST = 1e6  # no image is wider; also what keeps float32 overlaps exact enough to mean something
_DIVISORS = {"norm1": 1, "norm999": 999, "norm1000": 1000}

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
}  # fmt: skip


@dataclass
class Answers:
    """What a file says, box by box and in its order; rows are the manifest's."""

    row: Rows  # [n] whose box it is
    boxes: list[Any]  # [n] as they stand in the file
    scores: list[Any] | None  # [n], or None where the file has none
    stated: Rows  # rows of which the file says anything
    resized: Floats | None = None  # [n, 2] width and height of the input, for px_resized
    faults: dict[int, str] = field(default_factory=dict)  # row -> why its record cannot be used


def rows_of(names: list[str], sample_ids: list[str]) -> Rows:
    """The manifest's rows of ids that are known to be in it."""
    index = {name: row for row, name in enumerate(sample_ids)}
    return np.fromiter(map(index.__getitem__, names), np.int64, len(names))


def check_threshold(has_scores: bool, options: Mapping[str, Any], where: str) -> None:
    """Scores without a declared threshold are an error: whether to use one changes the numbers."""
    if has_scores and options["score_threshold"] is None:
        fix = "--set score_threshold=0.7 is the official code's, 0 keeps all."
        raise InputError(where, "the boxes have scores, but no score_threshold is declared", fix)


def batches(
    answers: Answers, manifest: pa.Table, options: Mapping[str, Any], where: str, notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Prediction batches in the manifest's order: all boxes as xyxy pixels, and their scores.

    A sample with a box that is no box (not four numbers, beyond LARGEST, inverted) is "invalid": the reason names the
    file, the sample and the box's index.
    """
    order = np.argsort(answers.row, kind="stable")
    row, raw, broken = answers.row[order], *_numbers([answers.boxes[i] for i in order.tolist()], 4)
    scores, unscored = _scores(answers.scores, order)
    sizes = np.stack([manifest[n].to_numpy() for n in ("width", "height")], axis=1)[row]
    resized = None if answers.resized is None else answers.resized[order]
    boxes = _pixels(raw, options, sizes, resized)
    complaints = {**_complaints(raw, boxes), **dict.fromkeys(unscored, "its score is not a number"), **broken}
    ids = manifest["sample_id"].to_pylist()
    faults = {r: f"{where}: {quoted(ids[r])} {why}" for r, why in answers.faults.items()}
    first = np.searchsorted(row, np.arange(len(ids) + 1))
    for i in sorted(complaints):
        r = int(row[i])
        faults.setdefault(r, f"{where}: {quoted(ids[r])} box {i - first[r]}: {complaints[i]}")
    _note(raw, boxes, sizes, options["unit"], notes)
    yield from _table(manifest, row, boxes, scores, _statuses(answers, first, faults, options), faults)


def _numbers(values: list[Any], width: int) -> tuple[Floats, dict[int, str]]:
    """Lists of numbers as [n, width], and what is wrong with those that are something else; they become zeros."""
    broken = {}
    if not _all_numbers(values, width):
        broken = {i: f"not {width} numbers" for i, value in enumerate(values) if not _all_numbers([value], width)}
        values = [[0.0] * width if i in broken else value for i, value in enumerate(values)]
    flat = np.fromiter(chain.from_iterable(values), np.float64, width * len(values))
    return flat.reshape(-1, width), broken


def _all_numbers(values: list[Any], width: int) -> bool:
    if not set(map(type, values)) <= {list} or not set(map(len, values)) <= {width}:
        return False
    return set(map(type, chain.from_iterable(values))) <= {int, float}  # a truth value is no number


def _scores(scores: list[Any] | None, order: Rows) -> tuple[Floats | None, list[int]]:
    """Scores in the new order, and the positions of those that are no numbers."""
    if scores is None:
        return None, []
    values, broken = _numbers([[scores[i]] for i in order.tolist()], 1)
    return values[:, 0], list(broken)


def _pixels(raw: Floats, options: Mapping[str, Any], sizes: Rows, resized: Floats | None) -> Floats:
    """[n, 4] as declared -> xyxy in pixels of the original image. Nothing is clipped or rounded."""
    first, second = raw[:, :2], raw[:, 2:]
    if options["boxes"] == "cxcywh":
        first, second = first - second / 2, first + second / 2
    elif options["boxes"] == "xywh":
        second = first + second
    if options["unit"] == "px":
        return np.hstack([first, second])
    divisor = resized if resized is not None else _DIVISORS[options["unit"]]
    return np.hstack([first * sizes / divisor, second * sizes / divisor])


def _complaints(raw: Floats, boxes: Floats) -> dict[int, str]:
    inverted = (boxes[:, :2] > boxes[:, 2:]).any(axis=1)
    # Written so that a NaN is caught too.
    beyond = ~((np.abs(raw) <= LARGEST).all(axis=1) & (np.abs(boxes) <= LARGEST).all(axis=1))
    found = dict.fromkeys(np.flatnonzero(inverted).tolist(), "inverted, it ends before it begins")
    return found | dict.fromkeys(np.flatnonzero(beyond).tolist(), f"a coordinate is not within +-{LARGEST:.0f}")


def _statuses(answers: Answers, first: Rows, faults: Mapping[int, str], options: Mapping[str, Any]) -> NDArray[Any]:
    status = np.full(len(first) - 1, options["absent"], dtype=object)
    status[answers.stated] = "none"
    status[np.diff(first) > 0] = "answered"
    status[list(faults)] = "invalid"
    return status


def _table(
    manifest: pa.Table,
    row: Rows,
    boxes: Floats,
    scores: Floats | None,
    status: NDArray[Any],
    faults: Mapping[int, str],
) -> Iterator[pa.RecordBatch]:
    answered = status == "answered"
    kept = answered[row]
    ends = np.searchsorted(row[kept], np.arange(len(status) + 1))
    reasons = np.full(len(status), None, dtype=object)
    reasons[list(faults)] = list(faults.values())
    columns = [
        manifest["sample_id"].combine_chunks(),
        pa.array(status, pa.string()),
        pa.array(reasons, pa.string()),
        tables.pack_boxes(boxes[kept], ends, answered),
        pa.nulls(len(status), pa.list_(pa.float64()))
        if scores is None
        else tables.pack_boxes(scores[kept], ends, answered),
    ]
    yield from pa.table(columns, schema=tables.predictions_schema("boxes")).to_batches(_BATCH)


def _note(raw: Floats, boxes: Floats, sizes: Rows, unit: str, notes: Counter[str]) -> None:
    """Say what the numbers look like. Nothing follows from it: the declaration counts."""
    if not len(raw):
        return
    largest = float(np.abs(raw).max())
    if unit != "norm1" and 0 < largest <= 1:
        notes[f"boxes with all values at most 1, declared {unit}: are they norm1?"] += len(raw)
    if unit == "norm1" and largest > 10:
        notes["boxes declared norm1, with values far above 1: are they pixels?"] += len(raw)
    outside = int(np.sum((boxes[:, :2] < -1).any(axis=1) | (boxes[:, 2:] > sizes + 1).any(axis=1)))
    if outside:
        notes["boxes that reach more than 1 pixel out of their image, kept"] += outside
