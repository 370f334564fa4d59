"""Boxes as they stand in a file -> xyxy pixels, and what is wrong with those that are no boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

LARGEST = 1e6  # no image is wider; also what keeps float32 overlaps exact enough to mean something
_NUMBERS = {int, float}  # JSON's true is no number
_DIVISORS = {"norm1": 1, "norm999": 999, "norm1000": 1000}


def numbers(boxes: Sequence[Any]) -> tuple[Floats, dict[int, str]]:
    """[n, 4], and what is wrong with the boxes that are something else than four numbers; they become zeros."""
    broken = {}
    if not _all_boxes(boxes):
        broken = {i: "not a list of four numbers" for i, box in enumerate(boxes) if not _all_boxes([box])}
        boxes = [[0, 0, 0, 0] if i in broken else box for i, box in enumerate(boxes)]
    return np.fromiter(chain.from_iterable(boxes), np.float64, 4 * len(boxes)).reshape(-1, 4), broken


def _all_boxes(boxes: Sequence[Any]) -> bool:
    if not set(map(type, boxes)) <= {list} or not set(map(len, boxes)) <= {4}:
        return False
    return set(map(type, chain.from_iterable(boxes))) <= _NUMBERS


def scores(scores: Sequence[Any] | None) -> tuple[Floats | None, dict[int, str]]:
    """[n], and what is wrong with those that are no numbers; they become zeros."""
    if scores is None or set(map(type, scores)) <= _NUMBERS:
        return None if scores is None else np.array(scores, np.float64), {}
    broken = {i: "its score is not a number" for i, score in enumerate(scores) if type(score) not in _NUMBERS}
    return np.array([0 if i in broken else score for i, score in enumerate(scores)], np.float64), broken


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is a complaint
def pixels(raw: Floats, options: Mapping[str, Any], sizes: Rows, resized: Floats | None) -> Floats:
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


def complaints(raw: Floats, boxes: Floats) -> dict[int, str]:
    inverted = (boxes[:, :2] > boxes[:, 2:]).any(axis=1)
    # Written so that a NaN is caught too.
    beyond = ~((np.abs(raw) <= LARGEST).all(axis=1) & (np.abs(boxes) <= LARGEST).all(axis=1))
    found = dict.fromkeys(np.flatnonzero(inverted).tolist(), "inverted, it ends before it begins")
    return found | dict.fromkeys(np.flatnonzero(beyond).tolist(), f"a coordinate is not within +-{LARGEST:.0f}")


def note(raw: Floats, boxes: Floats, sizes: Rows, unit: str, notes: Counter[str]) -> None:
    """Say what the numbers look like. Nothing follows from it: the declaration counts."""
    if not len(raw):
        return
    largest = float(np.abs(raw).max())
    if unit != "norm1" and 0 < largest <= 1:
        notes[f"boxes with all values at most 1, declared {unit}: are they norm1?"] += len(raw)
    if unit == "norm1" and largest > 10:
        notes["boxes declared norm1, with values far above 1: are they pixels?"] += len(raw)
    divisor = _DIVISORS.get(unit, 0)
    if divisor > 1 and largest > divisor:
        notes[f"boxes declared {unit}, with values beyond {divisor}: are they pixels?"] += int(
            np.sum(np.abs(raw).max(axis=1) > divisor)
        )
    outside = int(np.sum((boxes[:, :2] < -1).any(axis=1) | (boxes[:, 2:] > sizes + 1).any(axis=1)))
    if outside:
        notes["boxes that reach more than 1 pixel out of their image, kept"] += outside
