"""Run-lengths against pycocotools, against plain NumPy, and against the form written out in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pycocotools.mask as coco
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from groundeval.metrics import masks

Mask = NDArray[np.bool_]

anything = hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=2, max_side=19))
several = st.integers(1, 9).flatmap(
    lambda h: st.integers(1, 9).flatmap(lambda w: st.lists(hnp.arrays(np.bool_, (h, w)), min_size=2, max_size=4))
)


def counts_string(runs: Sequence[int]) -> str:
    """COCO's form: groups of five bits, low first; from the fourth on, the difference to the run before the last."""
    out = []
    for index, run in enumerate(runs):
        number, more = run - (runs[index - 2] if index > 2 else 0), True
        while more:
            group, number = number & 31, number >> 5
            more = number != (-1 if group & 16 else 0)
            out.append(chr(48 + group + 32 * more))
    return "".join(out)


def runs_of(mask: Mask) -> list[int]:
    """Lengths of the runs in column order, background first."""
    grouped = [(value, len(list(same))) for value, same in itertools.groupby(mask.T.ravel().tolist())]
    return [0] * grouped[0][0] + [length for _, length in grouped]


@given(anything)
@settings(max_examples=100, deadline=None)
def test_encode_is_byte_equal_to_pycocotools_and_to_the_definition(mask: Mask) -> None:
    expected = coco.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"]
    assert masks.encode(mask) == masks.encode(mask.astype(np.uint8)) == expected
    assert expected.decode() == counts_string(runs_of(mask))


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (8, 8), (300, 7), (1500, 1301)])
def test_encode_on_shapes_and_layouts(size: tuple[int, int]) -> None:
    rows, columns = np.mgrid[: size[0], : size[1]]
    mask = (rows - size[0] / 3) ** 2 + (columns - size[1] / 2) ** 2 < size[1] ** 2 / 5
    wide = np.repeat(mask, 2, axis=1)
    for form in (mask, ~mask, np.asfortranarray(mask), wide[:, ::2], np.zeros(size, bool), np.ones(size, bool)):
        assert masks.encode(form) == coco.encode(np.asfortranarray(form.astype(np.uint8)))["counts"]
    assert masks.encode(np.zeros(size, bool)) == masks.empty(*size)
    assert masks.encode(np.ones(size, bool)) == masks.full(*size)


@pytest.mark.parametrize(
    "bad", [np.zeros((0, 3), bool), np.zeros(3, bool), np.zeros((2, 2)), np.full((2, 2), 2, np.uint8)]
)
def test_encode_refuses_what_is_no_mask(bad: NDArray[np.bool_]) -> None:
    with pytest.raises(ValueError, match="mask"):
        masks.encode(bad)


@given(anything)
@settings(max_examples=100, deadline=None)
def test_unpack_is_the_inverse_of_pack(mask: Mask) -> None:
    runs = masks.unpack(masks.encode(mask))
    assert runs.tolist() == runs_of(mask)
    assert masks.pack(runs, *mask.shape) == masks.encode(mask)
    masks.validate(masks.encode(mask), *mask.shape)


@given(st.lists(st.integers(0, masks.MAX_PIXELS // 40), min_size=1, max_size=40).filter(any))
@settings(max_examples=100, deadline=None)
def test_large_runs_survive(runs: list[int]) -> None:
    assert masks.pack(np.array(runs), 1, sum(runs)).decode() == counts_string(runs)
    assert masks.unpack(counts_string(runs).encode()).tolist() == runs


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12).filter(any))
@settings(max_examples=100, deadline=None)
def test_canonical_joins_runs_of_length_zero(runs: list[int]) -> None:
    pixels = [bool(i % 2) for i, n in enumerate(runs) for _ in range(n)]
    expected = masks.encode(np.array([pixels]))
    assert masks.canonical(np.array(runs), 1, len(pixels)) == expected
    assert masks.canonical(masks.unpack(expected), 1, len(pixels)) == expected


@given(several)
@settings(max_examples=100, deadline=None)
def test_set_operations_against_numpy_and_pycocotools(given_masks: list[Mask]) -> None:
    height, width = given_masks[0].shape
    counts = [masks.encode(m) for m in given_masks]
    assert masks.union(counts, height, width) == masks.encode(np.logical_or.reduce(given_masks))
    n = len(counts) - 1
    intersection, union = masks.intersection_union(counts[:-1], counts[1:], [height] * n, [width] * n)
    pairs = list(itertools.pairwise(given_masks))
    assert intersection.dtype == union.dtype == np.int64
    assert intersection.tolist() == [int((a & b).sum()) for a, b in pairs]
    assert union.tolist() == [int((a | b).sum()) for a, b in pairs]
    rles = [{"size": [height, width], "counts": c} for c in counts]
    for i, u, a, b in zip(intersection, union, rles, rles[1:], strict=False):
        assert coco.iou([a], [b], [False])[0, 0] == (i / u if u else coco.iou([a], [b], [False])[0, 0])


def test_more_masks_than_a_byte_can_count() -> None:
    sizes = [(1 + n % 7, 1 + n % 11) for n in range(600)]
    counts = [masks.full(*size) for size in sizes]
    heights, widths = zip(*sizes, strict=True)
    assert masks.areas(counts, heights, widths).tolist() == [h * w for h, w in sizes]
    assert masks.areas([], [], []).tolist() == []


def test_of_nothing_and_of_empty_masks() -> None:
    assert masks.union([], 3, 4) == masks.empty(3, 4)
    intersection, union = masks.intersection_union([masks.empty(3, 4)], [masks.empty(3, 4)], [3], [4])
    assert (intersection.tolist(), union.tolist()) == ([0], [0])


@pytest.mark.parametrize(
    ("counts", "size", "what"),
    [
        (b"", (2, 3), "is empty"),
        (b"5", (2, 3), "covers 5 pixels, the image has 2 x 3 = 6"),
        (b"07", (2, 3), "a run of 7 of 6"),
        (b"051", (2, 3), None),
        (b"33", (2, 3), None),
        (b"61", (2, 3), "covers 7 pixels"),
        (b"O7", (2, 3), "a run of -1"),
        (b"3c", (2, 3), "cut off within a number"),
        (b"3'3", (2, 3), "characters"),
        (b"3\xff3", (2, 3), "characters"),
        (b"0" + b"P" * 9 + b"1", (2, 3), "more than six characters"),
        (b"0", (100000, 100000), "out of range"),
        (b"0", (0, 5), "out of range"),
        (b"0", (-1, -5), "out of range"),
    ],
)
def test_validate(counts: bytes, size: tuple[int, int], what: str | None) -> None:
    if what is None:
        masks.validate(counts, *size)
        return
    with pytest.raises(ValueError, match=what):
        masks.validate(counts, *size)


@given(st.binary(max_size=12))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_valid_or_a_value_error(counts: bytes) -> None:
    try:
        runs = masks.unpack(counts)
        masks.validate(counts, 3, 4)
    except ValueError:
        return
    pixels = np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(4, 3).T
    assert masks.canonical(runs, 3, 4) == masks.encode(pixels)
