"""What is foreground: two values with 0, or a declared threshold; everything else is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.sources.binary import binarise

MASK = np.array([[True, False, True], [False, False, True]])
TYPES = [np.uint8, np.uint16, np.int32, np.int8]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", [1, 7, 100, 127])
def test_the_other_value_is_foreground(dtype: Any, value: int) -> None:
    np.testing.assert_array_equal(binarise(MASK.astype(dtype) * dtype(value), "a"), MASK)
    np.testing.assert_array_equal(binarise(np.full((2, 3), value, dtype), "a"), np.ones((2, 3), bool))
    np.testing.assert_array_equal(binarise(np.zeros((2, 3), dtype), "a"), np.zeros((2, 3), bool))


def test_zero_and_one_and_zero_and_255_are_one_mask() -> None:
    one, many = binarise(MASK.astype(np.uint8), "a"), binarise(MASK.astype(np.uint8) * np.uint8(255), "a")
    assert one.dtype == many.dtype == np.bool_
    np.testing.assert_array_equal(one, many)


@given(
    hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.sampled_from([0, 1, 2, 255]))
)
@settings(max_examples=100, deadline=None)
def test_against_the_set_of_values(samples: NDArray[np.uint8]) -> None:
    foreground = set(samples.ravel().tolist()) - {0}
    if len(foreground) > 1:
        with pytest.raises(InputError):
            binarise(samples, "a")
    else:
        np.testing.assert_array_equal(binarise(samples, "a"), samples != 0)


@given(hnp.arrays(np.int8, (2, 2), elements=st.sampled_from([-2, -1, 0])))
@settings(max_examples=50, deadline=None)
def test_values_below_zero_are_refused(samples: NDArray[np.int8]) -> None:
    if samples.any():
        with pytest.raises(InputError, match="below 0"):
            binarise(samples, "a")


@pytest.mark.parametrize(
    ("samples", "what"),
    [
        (np.array([[0, 255], [37, 0]], np.uint8), "more than two values, 0, 255 and 37 at row 1, column 0"),
        (np.array([[1, 2]], np.uint8), "two values, 1 and 2, and neither is 0"),
        (np.array([[0.0, 1.0]]), "may be probabilities or logits"),
        (np.zeros((2, 2, 5), np.uint8), r"shape \(2, 2, 5\)"),
        (np.zeros(4, np.uint8), r"shape \(4,\)"),
        (np.array([[[255, 0, 0], [0, 0, 0]]], np.uint8), "channels differ"),
        (np.array([[[255, 255, 255, 9], [0, 0, 0, 255]]], np.uint8), "transparent"),
        (np.array([[[1, 0], [0, 255]]], np.uint8), "transparent"),
    ],
)
def test_what_is_not_two_valued_is_refused(samples: NDArray[Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        binarise(samples, "a.png")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_equal_channels_and_opaque_alpha_are_read(dtype: Any) -> None:
    plane, opaque = MASK.astype(dtype) * dtype(200), np.full(MASK.shape, np.iinfo(dtype).max, dtype)
    for planes in ([plane], [plane, opaque], [plane] * 3, [plane] * 3 + [opaque]):
        np.testing.assert_array_equal(binarise(np.stack(planes, axis=2), "a"), MASK)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_a_threshold_is_strict(dtype: Any) -> None:
    samples = np.array([[0, 49, 50], [51, 100, 50]], dtype)
    np.testing.assert_array_equal(binarise(samples, "a", 50.0), [[False, False, False], [True, True, False]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(InputError, match="NaN or infinite"):
        binarise(np.array([[0.2, value]]), "a", 0.5)
