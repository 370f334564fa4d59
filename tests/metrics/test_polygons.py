"""Polygons: closed forms, the rasteriser alone on whole frames, and exact slow tests of what an outline is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco

from groundeval.metrics import masks, outlines, polygons

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")

H, W = 20, 30
Polygon = list[list[float]]

corners = st.tuples(st.integers(-4, W + 4), st.integers(-4, H + 4)).map(list)
outline = st.lists(corners, min_size=3, max_size=7)
boxes = st.tuples(st.integers(0, W - 1), st.integers(0, H - 1), st.integers(1, W), st.integers(1, H))


def _one(group: Any, unit: polygons.Unit = "px") -> polygons.Rasters:
    return polygons.rasterise([group], [H], [W], [unit])


def _mask(counts: bytes) -> np.ndarray:
    return np.asarray(coco.decode({"size": [H, W], "counts": counts}), bool)


def _area(group: Any) -> int:
    return int(_mask(_one(group).counts[0]).sum())


def _square(side: float, x: float = 2, y: float = 3) -> Polygon:
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side]]


@pytest.mark.parametrize("side", [1, 2, 5, 10, 16])
def test_a_square_of_side_s_has_s_squared_pixels(side: int) -> None:
    found = _mask(_one([_square(side)]).counts[0])
    assert found[3 : 3 + side, 2 : 2 + side].all()
    assert found.sum() == side * side


@given(st.lists(boxes, max_size=4))
def test_several_polygons_are_a_union_without_holes(drawn: list[tuple[int, int, int, int]]) -> None:
    expected, group = np.zeros((H, W), bool), []
    for x, y, w, h in drawn:
        right, bottom = min(x + w, W), min(y + h, H)
        expected[y:bottom, x:right] = True
        group.append([x, y, right, y, right, bottom, x, bottom])
    found = _one(group)
    assert (_mask(found.counts[0]) == expected).all()
    assert found.empty == [not expected.any()]


@settings(max_examples=60)
@given(st.lists(st.lists(outline, max_size=3), min_size=1, max_size=5))
def test_together_or_alone_they_are_the_rasterisers_masks(groups: list[list[Polygon]]) -> None:
    together = polygons.rasterise(groups, [H] * len(groups), [W] * len(groups), ["px"] * len(groups))
    assert together.faults == {}
    for group, counts in zip(groups, together.counts, strict=True):
        expected = np.zeros((H, W), bool)
        for polygon in group:
            if not _on_one_line(polygon):
                flat = [float(v) for point in polygon for v in point]
                expected |= coco.decode(coco.frPyObjects([flat], H, W)[0]).astype(bool)
        assert counts == masks.encode(expected)  # canonical, too
        assert _one(group).counts == [counts]


def test_both_forms_and_both_units_are_the_same() -> None:
    flat = [v for point in _square(10) for v in point]
    scaled = [[x / W, y / H] for x, y in _square(10)]
    assert _one([_square(10)]).counts == _one([flat]).counts == _one([scaled], "norm1").counts


def test_images_of_several_sizes_go_together() -> None:
    groups = [[_square(4)], [_square(4), _square(4, 9)], [], [_square(4)]]
    found = polygons.rasterise(groups, [H, 40, 7, H], [W, 50, 8, W], ["px"] * 4)
    sizes = [(H, W), (40, 50), (7, 8), (H, W)]
    areas = [coco.area({"size": [h, w], "counts": c}) for (h, w), c in zip(sizes, found.counts, strict=True)]
    assert areas == [16, 32, 0, 16]
    assert found.counts[2] == masks.empty(7, 8)


@pytest.mark.parametrize(
    ("polygon", "why"),
    [
        ([], "no point"),
        ([2, 3, 12, 13], "four numbers, which pycocotools would fill as a box"),
        ([[2, 3], [12, 13]], "two points"),
        ([[2, 3], [12, 13], [2, 3]], "two distinct points"),
        ([5, 5, 5, 5, 5, 5], "one distinct point"),
        ([[1, 1], [5, 5], [9, 9]], "a line, of which the rasteriser may fill pixels"),
        ([[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]], "a line but for rounding"),
    ],
)
def test_a_polygon_without_area_is_dropped_and_noted(polygon: Any, why: str) -> None:
    found = _one([polygon, _square(3)])
    assert found.notes == {outlines.DROPPED: 1}, why
    assert _mask(found.counts[0]).sum() == 9
    assert _one([polygon]).empty == [True]


def test_a_line_would_have_pixels_if_it_were_not_dropped() -> None:
    line = [22.3, 15.1, 24.4, 15.8, 20.5, 14.5]
    assert coco.area(coco.frPyObjects([line], H, W)[0]) > 0
    assert _one([line]).empty == [True]


def test_within_one_polygon_the_even_odd_rule_holds() -> None:
    bow_tie = [[0, 0], [10, 10], [10, 0], [0, 10]]  # its signed area is 0
    star = [[10 + 9 * math.sin(a), 10 - 9 * math.cos(a)] for a in np.arange(5) * 4 * math.pi / 5]
    twice = _square(10) * 2
    assert _area([bow_tie]) == 50
    assert not _mask(_one([star]).counts[0])[10, 10]
    assert _area([twice]) == 0
    assert _one([bow_tie, star]).notes == {outlines.CROSSING: 2}
    assert _one([twice]).notes == {polygons.EMPTY: 1}


def test_what_leaves_the_image_is_clipped_and_noted() -> None:
    found = _one([[[-5, -5], [5, -5], [5, 5], [-5, 5]], [[W, H], [0, H], [0, H - 2], [W, H - 2]]])
    assert _mask(found.counts[0]).sum() == 25 + 2 * W
    assert found.notes == {outlines.CLIPPED: 1}


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (None, "polygons is null, not a list of polygons"),
        ({}, "polygons is an object, not a list of polygons"),
        ([2, 3, 12, 3, 12, 13], "polygon 1 is a number, not a list of points"),
        (["0,0"], "polygon 1 is a text, not a list of points"),
        ([[[1, 2], [3]]], "polygon 1 has a point that is not a pair [x, y]"),
        ([[[1, 2, 3], [3, 4, 5], [6, 7, 8]]], "polygon 1 has a point that is not a pair [x, y]"),
        ([[1, 2, "3", 4, 5, 6]], "polygon 1 holds something that is not a number"),
        ([[1, 2, True, 4, 5, 6]], "polygon 1 holds something that is not a number"),
        ([[1, 2, None, 4, 5, 6]], "polygon 1 holds something that is not a number"),
        ([[1, 2, [3, 4], 5, 6, 7]], "polygon 1 holds something that is not a number"),
        ([[1, 2, 3, 4, 5, 6, 7]], "polygon 1 has an odd number of values, 7"),
        ([_square(2), [1, 2, math.nan, 4, 5, 6]], "polygon 2 has a value that is not finite"),
        ([[1, 2, math.inf, 4, 5, 6]], "polygon 1 has a value that is not finite"),
        ([[1, 2, 1e300, 4, 5, 6]], "polygon 1 has a point more than 1 image size outside the image"),
        ([_square(2 * W)], "polygon 1 has a point more than 1 image size outside the image"),
        ([_square(5, x=-W - 1)], "polygon 1 has a point more than 1 image size outside the image"),
    ],
)
def test_a_fault_is_the_groups_own(group: Any, said: str) -> None:
    found = polygons.rasterise([[_square(3)], group, [_square(4)]], [H] * 3, [W] * 3, ["px"] * 3)
    assert found.faults == {1: said}
    assert found.empty == [False, True, False]
    assert [int(_mask(c).sum()) for c in found.counts] == [9, 0, 16]


def test_exactly_one_image_size_outside_is_no_fault() -> None:
    found = _one([[[-W, -H], [2 * W, -H], [2 * W, 2 * H], [-W, 2 * H]]])
    assert found.faults == {}
    assert _mask(found.counts[0]).all()


def test_pixels_declared_as_normalised_are_far_outside() -> None:
    assert list(_one([_square(5)], "norm1").faults) == [0]


def test_a_long_outline_is_filled_though_not_tested() -> None:
    angles = np.linspace(0, 2 * math.pi, outlines.MOST_TESTED + 1, endpoint=False)
    circle = np.stack([15 + 8 * np.cos(angles), 10 + 8 * np.sin(angles)], axis=1).tolist()
    found = _one([circle])
    assert found.notes == {outlines.UNTESTED: 1}
    assert abs(_mask(found.counts[0]).sum() - 64 * math.pi) < 12


def test_no_groups_are_no_masks() -> None:
    assert polygons.rasterise([], [], [], []).counts == []


def _orientation(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> Fraction:
    ax, ay, bx, by, cx, cy = (Fraction(v) for v in (*a, *b, *c))
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def _on_one_line(points: Polygon) -> bool:
    return all(_orientation(a, b, c) == 0 for a in points for b in points for c in points)


def _crosses(points: Polygon) -> bool:
    edges = list(zip(points, [*points[1:], points[0]], strict=True))
    return any(
        _orientation(a, b, c) * _orientation(a, b, d) < 0 and _orientation(c, d, a) * _orientation(c, d, b) < 0
        for a, b in edges
        for c, d in edges
    )


@given(outline)
def test_lines_and_crossings_are_found_as_in_exact_arithmetic(points: Polygon) -> None:
    array = np.array([points], dtype=np.float64)
    assert outlines.collinear(array)[0] == _on_one_line(points)
    assert outlines.cross_themselves(array)[0] == _crosses(points)


@given(st.lists(outline, min_size=1, max_size=12))
def test_outlines_of_all_lengths_keep_their_own_remarks(drawn: list[Polygon]) -> None:
    arrays = [np.array(points, dtype=np.float64) for points in drawn]
    found = outlines.inspect(arrays, np.tile([W, H], (len(drawn), 1)))
    assert found[outlines.DROPPED].tolist() == [_on_one_line(p) for p in drawn]
    assert found[outlines.CROSSING].tolist() == [_crosses(p) for p in drawn]
    assert found[outlines.CLIPPED].tolist() == [any(not (0 <= x <= W and 0 <= y <= H) for x, y in p) for p in drawn]
