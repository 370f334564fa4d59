"""The set matchings: the named cases, and slow separate implementations of each definition."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array  # type: ignore[import-untyped]
from scipy.sparse.csgraph import maximum_bipartite_matching  # type: ignore[import-untyped]

from groundeval.metrics import matching

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 4))


@st.composite
def matrices(draw: st.DrawFn) -> NDArray[np.float64]:
    """Overlaps of one sample with many ties, on both sides of one half."""
    p, t = draw(SHAPES)
    values = st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.6, 0.7, 0.9])
    return np.array(draw(st.lists(st.lists(values, min_size=t, max_size=t), min_size=p, max_size=p)))


def greedy(matrix: NDArray[np.float64], ranks: list[int]) -> int:
    """Largest entry first; of equal ones the higher rank, then the earlier truth."""
    cells = sorted(
        (-v, -ranks[p], t, p) for p, row in enumerate(matrix.tolist()) for t, v in enumerate(row) if v >= 0.5
    )
    rows: set[int] = set()
    columns: set[int] = set()
    for _, _, t, p in cells:
        if p not in rows and t not in columns:
            rows.add(p)
            columns.add(t)
    return len(rows)


def recipe(matrix: NDArray[np.float64]) -> int:
    free = set(range(matrix.shape[1]))
    for row in matrix.tolist():
        best = max(free, key=lambda t: (row[t], -t), default=None)
        if best is not None and row[best] >= 0.5:
            free.remove(best)
    return int(matrix.shape[1]) - len(free)


def most(matrix: NDArray[np.float64]) -> int:
    """Every way to give each prediction a truth, or one that does not exist."""
    p, t = matrix.shape
    wide = np.hstack([matrix >= 0.5, np.zeros((p, p), bool)])
    return max(int(sum(wide[i, c] for i, c in enumerate(way))) for way in permutations(range(p + t), p))


@settings(max_examples=100)
@given(matrices(), st.randoms(use_true_random=False))
def test_as_the_slow_ways(matrix: NDArray[np.float64], random: object) -> None:
    ranks = list(range(len(matrix)))
    random.shuffle(ranks)  # type: ignore[attr-defined]
    keys = np.array([ranks], np.float64)[:, :, None]
    stacked = matrix[:, :, None]
    assert matching.largest_first(stacked, 0.5, keys).tolist() == [greedy(matrix, ranks)]
    assert matching.in_order(stacked, 0.5).tolist() == [recipe(matrix)]
    assert matching.maximum(stacked >= 0.5).tolist() == [most(matrix)]


@settings(max_examples=100)
@given(matrices())
def test_what_is_settled_without_choice_is_what_every_method_finds(matrix: NDArray[np.float64]) -> None:
    settled, unsure = matching.without_choice(matrix[:, :, None] >= 0.5)
    if not len(unsure):
        ranks = list(range(len(matrix)))
        assert {most(matrix), greedy(matrix, ranks), recipe(matrix)} == set(settled.tolist())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.floats(0.05, 0.9), st.integers(0, 2**32 - 1))
def test_maximum_as_scipy(p: int, t: int, density: float, seed: int) -> None:
    permitted = np.random.default_rng(seed).random((p, t, 5)) < density
    theirs = [int(np.sum(maximum_bipartite_matching(csr_array(permitted[:, :, i])) >= 0)) for i in range(5)]
    assert matching.maximum(permitted).tolist() == theirs


@pytest.mark.parametrize(("p", "t", "density"), [(100, 100, 0.03), (100, 100, 0.9), (70, 7, 0.2), (6, 64, 0.1)])
def test_maximum_of_many_boxes_as_scipy(p: int, t: int, density: float) -> None:
    permitted = np.random.default_rng(0).random((p, t, 2)) < density
    theirs = [int(np.sum(maximum_bipartite_matching(csr_array(permitted[:, :, i])) >= 0)) for i in range(2)]
    assert matching.maximum(permitted).tolist() == theirs


def test_a_long_path_needs_no_recursion() -> None:
    """Each prediction may take its own or the next truth, and the last only the first: everything has to move on."""
    n = 1500
    permitted = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    permitted[-1] = False
    permitted[-1, 0] = True
    assert matching.maximum(permitted[:, :, None]).tolist() == [n]


@given(matrices(), st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_samples_do_not_see_each_other(matrix: NDArray[np.float64], random: object) -> None:
    order = list(range(len(matrix)))
    random.shuffle(order)  # type: ignore[attr-defined]
    stacked = np.stack([matrix, matrix[order], np.zeros_like(matrix)], axis=2)
    keys = np.zeros((1, *stacked[:, 0].shape))
    alone = [matrix, matrix[order], np.zeros_like(matrix)]
    assert matching.in_order(stacked, 0.5).tolist() == [recipe(m) for m in alone]
    assert matching.maximum(stacked >= 0.5).tolist() == [most(m) for m in alone]
    assert matching.largest_first(stacked, 0.5, keys).tolist() == [greedy(m, list(range(len(m)))[::-1]) for m in alone]
