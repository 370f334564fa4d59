"""The index table, against golden arrays, exact fractions, and what it promises."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import map_coordinates

from groundeval.metrics import resize

SIDES = st.integers(1, 60)
# (source, target): the first eight entries, the last four, and the start of the sha256 of all, as little-endian int64.
GOLDEN = {
    (1280, 480): ([1, 4, 6, 9, 12, 14, 17, 20], [1270, 1273, 1276, 1278], "43f47c043db6b89b"),
    (1242, 480): ([1, 3, 6, 9, 11, 14, 16, 19], [1232, 1235, 1238, 1240], "77a50b22878e5bdc"),
    (1241, 480): ([1, 3, 6, 9, 11, 14, 16, 19], [1231, 1234, 1237, 1239], "03ec20ec3d9d39cd"),
    (1226, 480): ([1, 3, 6, 8, 11, 14, 16, 19], [1217, 1219, 1222, 1224], "f756f707b1b3a83a"),
    (1224, 480): ([1, 3, 6, 8, 11, 14, 16, 19], [1215, 1217, 1220, 1222], "1d7135777cda3495"),
    (720, 320): ([1, 3, 5, 7, 10, 12, 14, 16], [712, 714, 716, 718], "0cf8a4228b48be07"),
    (376, 320): ([0, 1, 2, 4, 5, 6, 7, 8], [371, 373, 374, 375], "34813fe1459247ab"),
    (375, 320): ([0, 1, 2, 4, 5, 6, 7, 8], [370, 372, 373, 374], "23e63e758a7ece9f"),
    (370, 320): ([0, 1, 2, 4, 5, 6, 7, 8], [365, 367, 368, 369], "e3e4f067a5a7dcd1"),
}


@pytest.mark.parametrize("sides", GOLDEN)
def test_golden_tables(sides: tuple[int, int]) -> None:
    table = resize.index_table(*sides)
    digest = hashlib.sha256(table.astype("<i8").tobytes()).hexdigest()[:16]
    assert (table[:8].tolist(), table[-4:].tolist(), digest) == GOLDEN[sides]


@settings(deadline=None)
@given(SIDES, SIDES)
def test_table_is_the_pixel_that_holds_the_centre(source: int, target: int) -> None:
    expected = [int((Fraction(2 * d + 1, 2) * source) / target) for d in range(target)]
    assert resize.index_table(source, target).tolist() == expected


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.integers(0, 2**32 - 1))
def test_values_out_are_values_in(h: int, w: int, height: int, width: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 256, (2, h, w)).astype(np.uint8)
    out = resize.nearest(labels, (height, width))
    assert out.shape == (2, height, width)
    assert out.dtype == labels.dtype
    assert set(out.ravel().tolist()) <= set(labels.ravel().tolist())
    rows, columns = resize.index_table(h, height), resize.index_table(w, width)
    assert all(out[0, y, x] == labels[0, rows[y], columns[x]] for y in range(height) for x in (0, width - 1))


def test_same_size_is_untouched_and_repeating_is_undone() -> None:
    labels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert resize.nearest(labels, (3, 4)) is labels
    doubled = labels.repeat(3, axis=0).repeat(5, axis=1)
    np.testing.assert_array_equal(resize.nearest(labels, (9, 20)), doubled)
    np.testing.assert_array_equal(resize.nearest(doubled, (3, 4)), labels)


@settings(deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.integers(0, 2**32 - 1))
def test_bilinear_is_scipys(h: int, w: int, height: int, width: int, seed: int) -> None:
    scores = np.random.default_rng(seed).random((h, w))
    y = (np.arange(height) + 0.5) * h / height - 0.5
    x = (np.arange(width) + 0.5) * w / width - 0.5
    grid = np.meshgrid(y, x, indexing="ij")
    expected = map_coordinates(scores, grid, order=1, mode="nearest")
    np.testing.assert_allclose(resize.bilinear(scores, (height, width)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
def test_bilinear_keeps_dtype_and_constants(dtype: str) -> None:
    out = resize.bilinear(np.full((3, 4, 5), 7, dtype), (9, 2))
    assert out.dtype == dtype
    assert (out == 7).all()
    assert resize.bilinear(np.array([[0, 1]], np.uint8), (1, 4)).tolist() == [[0, 0, 1, 1]]  # 0, 1/4, 3/4, 1


def test_a_side_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 pixels"):
        resize.index_table(0, 4)
