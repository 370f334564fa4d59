"""Overlaps of boxes, for many samples at once.

Boxes are (x1, y1, x2, y2) with x1 <= x2 and y1 <= y2, in any unit; a box is the area between its corners, without a
"+1", so one of equal corners is empty. Coordinates go first and samples last, [4, p, n] against [4, t, n], so that
inner loops run along the samples; the result is [p, t, n] in the dtype of the input.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Index = NDArray[np.intp]
AT_ONCE = 1 << 16  # pairs of boxes compared in one go: a few temporaries of this length stay in the cache


def iou(predictions: Floats, truths: Floats) -> Floats:
    """Intersection over union of every prediction with every truth. Where both are empty, 0: they match nothing."""
    return _iou_and_union(predictions, truths)[0]


def giou(predictions: Floats, truths: Floats) -> Floats:
    """Generalised IoU (Rezatofighi et al. 2019, equation in algorithm 1): IoU - (C - U) / C, C the enclosing box.

    In float32 these are the operations, in their order, of `generalized_box_iou` in MDETR's util/box_ops.py, which the
    official GREC evaluator calls. It divides by zero where two empty boxes meet, and then counts the NaN as a match;
    here such a pair has IoU 0, and an enclosing box of no area takes nothing away.
    """
    overlap, union = _iou_and_union(predictions, truths)
    (x1, y1, x2, y2), (u1, v1, u2, v2) = predictions[:, :, None], truths[:, None]
    width = np.maximum(x2, u2) - np.minimum(x1, u1)
    height = np.maximum(y2, v2) - np.minimum(y1, v1)
    enclosing = width * height
    return overlap - _divided(enclosing - union, enclosing)


def _iou_and_union(predictions: Floats, truths: Floats) -> tuple[Floats, Floats]:
    (x1, y1, x2, y2), (u1, v1, u2, v2) = predictions[:, :, None], truths[:, None]
    width = np.minimum(x2, u2) - np.maximum(x1, u1)
    height = np.minimum(y2, v2) - np.maximum(y1, v1)
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - shared
    return _divided(shared, union), union


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; 0 where both are 0."""
    return numerator / np.where(denominator == 0, 1, denominator)


def buckets(predicted: NDArray[np.int64], true: NDArray[np.int64]) -> Iterator[tuple[int, int, Index]]:
    """(p, t, samples): samples with p predictions and t truths, at most AT_ONCE pairs of boxes together.

    predicted, true: number of boxes of each sample [n]. Samples without a box on one side are in no bucket.
    """
    both = np.flatnonzero((predicted > 0) & (true > 0))
    shape = predicted[both] * (true.max(initial=0) + 1) + true[both]
    order = np.argsort(shape.astype(np.min_scalar_type(shape.max(initial=0))), kind="stable")  # short integers: radix
    ends = np.flatnonzero(np.diff(shape[order])) + 1
    for bucket in np.split(both[order], ends) if len(both) else ():
        p, t = int(predicted[bucket[0]]), int(true[bucket[0]])
        step = max(1, AT_ONCE // (p * t))
        yield from ((p, t, bucket[i : i + step]) for i in range(0, len(bucket), step))


def gather(columns: Floats, starts: NDArray[np.int64], count: int) -> Floats:
    """Columns [c, boxes] of all samples -> [c, count, n]: `count` consecutive boxes from each of the n starts."""
    return np.take(columns, starts + np.arange(count)[:, None], axis=1)
