"""The rows of an adapter that hold boxes, as a table in the manifest's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval.errors import InputError
from groundeval.formats import _boxes

_OPTIONS = {"boxes": "xyxy", "unit": "px", "absent": "missing"}


def batches(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    manifest: pa.Table,
    options: Mapping[str, Any],
    where: str,
    notes: Counter[str],
) -> Iterator[pa.RecordBatch]:
    """Batches in the manifest's order. rows: place in the manifest, row of a known sample."""
    answers = _boxes.Answers(np.zeros(0, np.int64), [], None, np.zeros(0, np.int64))
    stated, owners, boxes, scores = [], list[int](), list[Any](), list[Any]()
    for at, row in rows:
        stated.append(at)
        own, own_scores = _listed(row.get("boxes", [])), row.get("scores")
        fault = _box_fault(row, own, own_scores)
        if fault:
            answers.faults[at] = fault
            continue
        owners += [at] * len(own)
        boxes += own
        scores += _listed(own_scores) if own_scores is not None else []
    if scores and len(scores) != len(boxes):
        raise InputError(where, f"{len(boxes) - len(scores)} of {len(boxes)} boxes have no score", "Give all or none.")
    _boxes.check_threshold(bool(scores), options, where)
    answers.row, answers.stated = np.array(owners, np.int64), np.array(stated, np.int64)
    answers.boxes, answers.scores = boxes, scores or None
    yield from _boxes.batches(answers, manifest, {**options, **_OPTIONS}, where, notes)


def _box_fault(row: Mapping[str, Any], boxes: Any, scores: Any) -> str | None:
    if row.get("status") == "invalid":
        return str(row.get("reason") or "is marked invalid")
    if not isinstance(boxes, list):
        return f"has boxes that are a {type(boxes).__name__}, not a list"
    if scores is not None and (not isinstance(_listed(scores), list) or len(_listed(scores)) != len(boxes)):
        return "has not one score for each box"
    return None


def _listed(values: Any) -> Any:
    """Arrays and tuples as lists of Python numbers, which the checks of boxes take; all else as it is."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    if isinstance(values, list | tuple):
        return [v.tolist() if isinstance(v, np.ndarray | np.generic) else _listed(v) for v in values]
    return values
