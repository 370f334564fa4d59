"""Pairs are counted right, whether by runs or one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval.metrics.histogram import LONG_RUN, add_pairs


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["uint8", "uint16"]), st.integers(1, 3 * LONG_RUN), st.integers(1, 9))
def test_counts_are_a_dictionarys(seed: int, dtype: str, run: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    n, levels = int(rng.integers(1, 60)), int(rng.choice([5, 256, np.iinfo(dtype).max + 1]))
    rows = rng.integers(0, rng.choice([2, 256]), n).astype(np.uint8).repeat(run)
    values = rng.integers(0, rng.choice([3, levels]), n).astype(dtype).repeat(run)
    table = np.ones((count, levels), np.int64)
    add_pairs(table[None], rows.reshape(n, run), values.reshape(1, n, run))
    expected = Counter(p for p in zip(rows.tolist(), values.tolist(), strict=True) if p[0] < count)
    assert {(int(r), int(v)): int(table[r, v]) - 1 for r, v in np.argwhere(table - 1)} == expected


def test_planes_are_counted_each_for_itself() -> None:
    tables = np.zeros((2, 2, 256), np.int64)
    add_pairs(tables, np.array([0, 1, 1], np.uint8), np.array([[7, 7, 7], [9, 8, 9]], np.uint8))
    assert {tuple(i): int(tables[tuple(i)]) for i in np.argwhere(tables).tolist()} == {
        (0, 0, 7): 1,
        (0, 1, 7): 2,
        (1, 0, 9): 1,
        (1, 1, 8): 1,
        (1, 1, 9): 1,
    }


def test_nothing_adds_nothing() -> None:
    tables = np.zeros((1, 3, 256), np.int64)
    add_pairs(tables, np.zeros((0, 4), np.uint8), np.zeros((1, 0, 4), np.uint8))
    add_pairs(tables, np.full(9, 200, np.uint8), np.ones((1, 9), np.uint8))
    assert not tables.any()


def test_counts_beyond_float64_stay_exact() -> None:
    tables = np.full((1, 1, 256), 2**53 + 1, np.int64)
    add_pairs(tables, np.zeros(40, np.uint8), np.zeros((1, 40), np.uint8))
    assert tables[0, 0, 0] == 2**53 + 41


def test_what_cannot_be_counted_is_refused() -> None:
    tables, rows = np.zeros((1, 4, 4), np.int64), np.zeros(4, np.uint8)
    with pytest.raises(TypeError, match="int32"):
        add_pairs(tables, rows, rows.astype(np.int32)[None])
    with pytest.raises(TypeError, match="uint16 and uint8"):
        add_pairs(tables, rows.astype(np.uint16), rows[None])
    for planes in (rows[None, :2], rows, np.stack([rows, rows])):
        with pytest.raises(ValueError, match="shapes"):
            add_pairs(tables, rows, planes)
    with pytest.raises(ValueError, match="a value of 4 in tables of 4 levels"):
        add_pairs(tables, rows, rows[None] + np.uint8(4))
