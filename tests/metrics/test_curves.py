"""Average precision against scikit-learn on the same scores, in every dtype, and the histograms behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve

from groundeval.metrics import curves
from groundeval.metrics.curves import Summary

SEEDS = st.integers(0, 2**32 - 1)
DTYPES = st.sampled_from(curves.DTYPES)


def draw(seed: int, dtype: str) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """At least one positive; ties, both zeros, negative values and infinities where the dtype has them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    truth = rng.random(n) < rng.random()
    truth[0] = True
    spread = rng.choice([2, 5, 40])
    if dtype.startswith("uint"):
        return truth, rng.integers(0, spread * 6, n).astype(dtype)
    scores = (rng.integers(-spread, spread, n) / 4).astype(dtype)
    scores[rng.random(n) < 0.1] = -0.0
    return truth, scores


def counted(truth: NDArray[np.bool_], scores: NDArray[Any]) -> NDArray[np.int64]:
    """Negatives and positives by ascending level."""
    table = np.zeros((2, curves.LEVELS[scores.dtype.name]), np.int64)
    curves.add_levels(table[None], truth.astype(np.uint8), scores[None])
    return curves.ascending(table, scores.dtype.name)


def points(truth: NDArray[np.bool_], scores: NDArray[Any]) -> list[curves.Points]:
    if scores.dtype == np.float32:
        return list(curves.from_scores(scores[truth], scores[~truth]))
    hn, hp = counted(truth, scores)
    return list(curves.from_histograms(hp, hn, curves.level_values(scores.dtype.name)))


def summary(truth: NDArray[np.bool_], scores: NDArray[Any]) -> Summary:
    return curves.summarise(points(truth, scores), int(truth.sum()))


@settings(deadline=None)
@given(SEEDS, DTYPES)
def test_ap_is_scikit_learns(seed: int, dtype: str) -> None:
    truth, scores = draw(seed, dtype)
    found = summary(truth, scores).ap().value
    assert found == pytest.approx(average_precision_score(truth, scores.astype(np.float64)), abs=1e-12)


@settings(deadline=None)
@given(SEEDS, DTYPES)
def test_ap_11point_is_a_loops(seed: int, dtype: str) -> None:
    truth, scores = draw(seed, dtype)
    precision, recall, _ = precision_recall_curve(truth, scores.astype(np.float64))
    reached = [precision[:-1][recall[:-1] >= r / 10 - 1e-12].max() for r in range(11)]
    assert summary(truth, scores).ap_11point().value == pytest.approx(np.mean(reached), abs=1e-12)


@settings(deadline=None)
@given(SEEDS, DTYPES)
def test_curve_is_scikit_learns(seed: int, dtype: str) -> None:
    truth, scores = draw(seed, dtype)
    found = list(curves.thinned(points(truth, scores), int(truth.sum()), most=10**6))
    precision, recall, threshold = precision_recall_curve(truth, scores.astype(np.float64))
    moves = np.flatnonzero(np.diff(recall) < 0)[::-1]  # where a positive has just that score
    expected = np.c_[recall[moves], precision[moves], threshold[moves]]
    np.testing.assert_allclose(np.array(found), expected, atol=1e-12)


@settings(deadline=None)
@given(SEEDS)
def test_blocks_change_nothing(seed: int) -> None:
    truth, scores = draw(seed, "float32")
    whole = summary(truth, scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "BLOCK", 3)
        cut = summary(truth, scores)
    assert cut.ap().value == pytest.approx(whole.ap().value, abs=1e-14)
    assert cut.ap_11point() == whole.ap_11point()


@settings(deadline=None)
@given(SEEDS)
def test_float16_order_is_the_values_order(seed: int) -> None:
    values = curves.level_values("float16")
    finite = values[~np.isnan(values)]
    assert (np.diff(finite.astype(np.float64)) >= 0).all()
    scores = draw(seed, "float16")[1]
    counts = counted(np.zeros(scores.shape, bool), scores)[0]
    assert {float(v): int(n) for v, n in zip(values[counts > 0], counts[counts > 0], strict=True)} == {
        float(v): int(n) for v, n in zip(*np.unique(scores + np.float16(0), return_counts=True), strict=True)
    }


def test_perfect_reversed_and_constant_scores() -> None:
    truth = np.array([True, True, False, False])
    scores = np.array([9, 8, 1, 0], np.uint8)
    assert summary(truth, scores).ap().value == summary(truth, scores).ap_11point().value == 1
    assert summary(truth, scores[::-1]).ap().value == pytest.approx((1 / 3 + 2 / 4) / 2)
    assert summary(truth, np.full(4, 7, np.uint16)).ap().value == 0.5  # the share of positives


def test_positives_without_a_score_are_never_retrieved() -> None:
    retrieved = curves.from_histograms(np.array([0, 2]), np.array([3, 0]))
    result = curves.summarise(retrieved, positives=4)
    assert result.ap().value == 0.5
    assert result.ap_11point().value == 6 / 11  # recall 0 .. 0.5


def test_no_positives_no_value() -> None:
    result = curves.summarise(curves.from_histograms(np.zeros(4, np.int64), np.ones(4, np.int64)), 0)
    assert (result.ap().value, result.ap().reason) == (None, curves.NO_POSITIVES)
    assert result.ap_11point().value is None


def test_thinned_keeps_the_ends() -> None:
    hp, hn = np.full(65536, 3), np.full(65536, 5)
    kept = list(curves.thinned(curves.from_histograms(hp, hn), 3 * 65536, most=100))
    assert len(kept) == 101
    assert (kept[0][2], kept[-1][0], kept[-1][2]) == (65535, 1, 0)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_nan_is_refused(dtype: str) -> None:
    with pytest.raises(ValueError, match="NaN"):
        points(np.array([True, False]), np.array([0, np.nan], dtype))
