"""Overlaps of boxes against pycocotools, a slow separate implementation, and closed forms."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocotools import mask as coco

from groundeval.metrics import boxes

Box = tuple[float, float, float, float]
NUMBERS = st.integers(0, 12).map(float) | st.floats(0, 600, width=32)
BOXES = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))


def last(found: list[Box]) -> NDArray[np.float64]:
    """Boxes of one sample, coordinate first."""
    return np.array(found, np.float64).reshape(-1, 4).T[:, :, None]


def slow(a: Box, b: Box, generalised: bool) -> float:
    """Areas of the pieces, in plain Python."""
    shared = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    around = (max(a[2], b[2]) - min(a[0], b[0])) * (max(a[3], b[3]) - min(a[1], b[1]))
    overlap = shared / union if union else 0.0
    return overlap - (around - union) / around if generalised and around else overlap


@settings(max_examples=100)
@given(st.lists(BOXES, min_size=1, max_size=4), st.lists(BOXES, min_size=1, max_size=4))
def test_as_the_slow_way(predictions: list[Box], truths: list[Box]) -> None:
    for of, generalised in ((boxes.iou, False), (boxes.giou, True)):
        found = of(last(predictions), last(truths))[:, :, 0]
        assert found.tolist() == [[slow(p, t, generalised) for t in truths] for p in predictions]
        assert not np.isnan(found).any()


@settings(max_examples=50)
@given(st.lists(BOXES, min_size=1, max_size=4), st.lists(BOXES, min_size=1, max_size=4))
def test_iou_as_pycocotools(predictions: list[Box], truths: list[Box]) -> None:
    wide = [[b for b in of if b[2] - b[0] >= 1 and b[3] - b[1] >= 1] for of in (predictions, truths)]
    if not all(wide):
        return
    xywh = [np.array([(x, y, r - x, b - y) for x, y, r, b in of]) for of in wide]
    theirs = coco.iou(*xywh, [0] * len(wide[1]))
    np.testing.assert_allclose(boxes.iou(last(wide[0]), last(wide[1]))[:, :, 0], theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "iou", "giou"),
    [
        ((0, 0, 100, 200), (0, 0, 100, 100), 0.5, 0.5),
        ((0, 0, 1, 1), (1, 0, 2, 1), 0.0, 0.0),
        ((0, 0, 1, 1), (3, 0, 4, 1), 0.0, -0.5),
        ((5, 5, 5, 5), (5, 5, 5, 5), 0.0, 0.0),  # two points
        ((0, 5, 9, 5), (0, 5, 9, 5), 0.0, 0.0),  # two lines
        ((0, 0, 2, 2), (1, 1, 1, 1), 0.0, 0.0),  # a point in a box
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_closed_forms(a: Box, b: Box, iou: float, giou: float, dtype: Any) -> None:
    first, second = last([a]).astype(dtype), last([b]).astype(dtype)
    for found, expected in ((boxes.iou(first, second), iou), (boxes.giou(first, second), giou)):
        assert found.dtype == dtype
        assert found.tolist() == [[[expected]]]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30), st.integers(1, 20))
def test_buckets_hold_every_sample_with_boxes_on_both_sides_once(sizes: list[tuple[int, int]], at_once: int) -> None:
    predicted, true = np.array(sizes, np.int64).reshape(-1, 2).T
    before, boxes.AT_ONCE = boxes.AT_ONCE, at_once
    try:
        found = list(boxes.buckets(predicted, true))
    finally:
        boxes.AT_ONCE = before
    seen = Counter(int(i) for _, _, samples in found for i in samples)
    assert seen == Counter(i for i, (p, t) in enumerate(sizes) if p and t)
    for p, t, samples in found:
        assert {sizes[i] for i in samples} == {(p, t)}
        assert p * t * len(samples) <= max(at_once, p * t)


def test_gather_takes_each_samples_own_boxes() -> None:
    columns = np.arange(8).reshape(2, 4).astype(np.float64)
    assert boxes.gather(columns, np.array([0, 2]), 2).tolist() == [[[0, 2], [1, 3]], [[4, 6], [5, 7]]]
