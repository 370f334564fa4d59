"""One record of boxes a sample, as an object of all samples or any reader makes it, to the answers that `_boxes` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval.errors import InputError, quoted
from groundeval.formats import _boxes
from groundeval.formats._boxes import Answers
from groundeval.formats._coordinates import Floats

ABSENT = object()
_SIZE_FIX = "Give each record the width and height of the input that its boxes refer to, or declare another unit."


def answers(content: Mapping[str, Any], manifest: pa.Table, options: Mapping[str, Any], where: str) -> Answers:
    """content: sample -> its boxes alone, or {boxes, scores?, width?, height?}."""
    names = list(content)
    row = _boxes.rows_of(names, manifest, where)
    records = [r if isinstance(r, dict) else {"boxes": r} for r in content.values()]
    wrong = {i: why for i, r in enumerate(records) if (why := _fault(r))}
    for i in wrong:
        records[i] = {"boxes": []}
    boxes = [r["boxes"] for r in records]
    lengths = list(map(len, boxes))
    owners = list(chain.from_iterable([n] * k for n, k in zip(names, lengths, strict=True)))
    given = [r.get("scores") or [ABSENT] * k for r, k in zip(records, lengths, strict=True)]
    scores = all_or_none(list(chain.from_iterable(given)), owners, where)
    with_boxes = [i for i, k in enumerate(lengths) if k]
    sizes = resized([records[i] for i in with_boxes], [names[i] for i in with_boxes], options, where)
    repeated = None if sizes is None else np.repeat(sizes, [lengths[i] for i in with_boxes], axis=0)
    faults = {int(row[i]): why for i, why in wrong.items()}
    return Answers(np.repeat(row, lengths), list(chain.from_iterable(boxes)), scores, row, repeated, faults)


def _fault(record: dict[str, Any]) -> str | None:
    boxes, scores = record.get("boxes"), record.get("scores")
    if not isinstance(boxes, list):
        return "neither a list of boxes nor an object with boxes"
    if scores is not None and (not isinstance(scores, list) or len(scores) != len(boxes)):
        return "not one score for each box"
    return None


def all_or_none(scores: Sequence[Any], names: Sequence[str], where: str) -> Sequence[Any] | None:
    """The scores, or None where no box has any. Boxes of which some have a score and some have none are an error."""
    absent = scores.count(ABSENT)
    if absent == len(scores):
        return None
    if absent:
        first = names[scores.index(ABSENT)]
        what = f"{absent} of {len(scores)} boxes have no score, first of {quoted(first)}"
        raise InputError(where, what, "Give every box its score, or none.")
    return scores


def resized(
    records: list[dict[str, Any]], names: Sequence[str], options: Mapping[str, Any], where: str
) -> Floats | None:
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
