"""Intervals and tests of differences: do they keep their promise where the truth is known?"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from groundeval.metrics import bootstrap, intervals, maxf, maxf_replicates, paired, significance
from groundeval.metrics.terms import divided, ratios

SIMULATIONS = 1000
Drawn = tuple[NDArray[np.float64], NDArray[np.float64]]  # numerator and denominator [n] of each cluster
Rng = np.random.Generator


# The replicates.


def test_replicates_are_the_same_in_any_order_of_samples_and_with_any_names_of_clusters() -> None:
    rng = np.random.default_rng(0)
    columns, clusters, order = rng.random((300, 4)), rng.integers(0, 80, 300), rng.permutation(300)
    renamed = bootstrap.labels(np.array([f"image {c}" for c in clusters[order]], object))
    there, here = (
        bootstrap.replicates(columns, bootstrap.labels(clusters)),
        bootstrap.replicates(columns[order], renamed),
    )
    assert there.tobytes() == here.tobytes()


def test_replicates_are_the_same_with_one_thread_and_with_two() -> None:
    code = """
import hashlib, numpy as np
from groundeval.metrics import bootstrap
columns = np.random.default_rng(0).random((3000, 40)) * 1e6
print(hashlib.sha256(bootstrap.replicates(columns, np.arange(3000), count=500)).hexdigest())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(found) == 1


def test_sums_are_exact() -> None:
    """Weights are integers, so with columns of integers every replicate is one; a column and its double agree exactly."""
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 10_000_000, (500, 1))
    drawn = bootstrap.replicates(np.hstack([pixels, 2 * pixels, np.ones_like(pixels)]), np.arange(500))
    assert (drawn == np.rint(drawn)).all()
    assert (drawn[:, 1] == 2 * drawn[:, 0]).all()
    halves = bootstrap.replicates(np.hstack([pixels, 2 * pixels, np.ones_like(pixels)]) / 4, np.arange(500))
    assert (halves == drawn / 4).all()


@pytest.mark.parametrize("equal", [1, 3, 64, 1000])
def test_weights_are_poisson(equal: int) -> None:
    """That many equal clusters are drawn at once; their sum has the mean and the variance of as many single draws."""
    columns = np.ones((equal, 1), np.int64)
    sums = bootstrap.replicates(columns, np.arange(equal), count=20_000)[:, 0]
    assert sums.mean() == pytest.approx(equal, rel=5 / math.sqrt(20_000 * equal))
    assert sums.var() == pytest.approx(equal, rel=0.05)
    frequencies = np.bincount(sums.astype(int), minlength=9)[:9] / len(sums)
    np.testing.assert_allclose(frequencies, stats.poisson(equal).pmf(np.arange(9)), atol=0.012)


def test_a_negative_column_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        bootstrap.replicates(np.array([[-1.0]]), np.array([0]))


# Closed forms.


def test_wilson_against_scipy() -> None:
    for right, trials in ((0, 5), (1, 10), (37, 40), (40, 40)):
        expected = stats.binomtest(right, trials).proportion_ci(0.95, method="wilson")
        assert intervals.wilson(right / trials, trials) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize("clusters", [6, 10, 30, 1000])
def test_widening_is_students_t(clusters: int) -> None:
    assert intervals.widening(clusters) * intervals.Z == pytest.approx(stats.t(clusters - 1).ppf(0.975), rel=2e-3)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60)
def test_mcnemar_against_scipy(a: int, b: int) -> None:
    expected = stats.binomtest(a, a + b, 0.5).pvalue if a + b else 1.0
    assert significance.mcnemar(a, b) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_of_many_samples_is_exact() -> None:
    assert significance.mcnemar(9800, 10200) == pytest.approx(stats.binomtest(9800, 20000, 0.5).pvalue, rel=1e-9)


def test_holm_by_hand() -> None:
    assert significance.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert significance.holm([0.9, 0.6]) == [1.0, 1.0]
    assert significance.holm([]) == []


@given(arrays(np.int64, (2, 256), elements=st.integers(0, 50)), st.integers(0, 9), st.integers(0, 9))
@settings(max_examples=50)
def test_maxf_of_many_curves_is_that_of_one(histograms: NDArray[np.int64], lost: int, others: int) -> None:
    one = maxf.metrics(maxf.curve(*histograms, (lost, others)))
    road, other = histograms.astype(np.float64)[:, None]
    many = maxf_replicates.shares(road, other, np.array([[lost, others]], np.float64))
    for name, values in many.items():
        value = one[name].value
        np.testing.assert_allclose(values * 100, [np.nan if value is None else value], rtol=1e-12)


# Single metrics.


def interval(numerator: NDArray[np.float64], denominator: NDArray[np.float64], clusters: int) -> intervals.Interval:
    terms = [ratios({"x": (numerator, denominator)})]
    share = float(numerator.sum() / denominator.sum())
    return intervals.of(terms, np.arange(len(numerator)) % clusters, {"x": share})["x"]


def test_where_every_sample_is_right_the_interval_is_wilsons_with_images_as_trials() -> None:
    found = interval(np.ones(40), np.ones(40), 10)
    assert (found.low, found.high) == (intervals.wilson(1, 10)[0], 1)
    assert found.method == intervals.WILSON
    nothing = interval(np.zeros(40), np.ones(40), 10)
    assert (nothing.low, nothing.high) == pytest.approx((0, 1 - found.low))


def test_one_image_is_one_trial() -> None:
    found = interval(np.array([1.0, 0.0]), np.ones(2), 1)
    assert (found.low, found.high) == intervals.wilson(0.5, 1)


def test_few_failures_are_wilsons_too_and_never_leave_0_to_1() -> None:
    found = interval(np.r_[np.ones(97), np.zeros(3)], np.ones(100), 100)
    assert found.method == intervals.WILSON
    assert 0.9 < found.low < 0.97 < found.high < 1


def test_samples_outside_the_denominator_change_nothing_but_the_draws() -> None:
    inside, outside = np.r_[np.ones(50), np.zeros(50)], np.zeros(100)
    alone = interval(inside, np.ones(100), 100)
    beside = interval(np.r_[inside, outside], np.r_[np.ones(100), outside], 200)
    assert (alone.low, alone.high) == pytest.approx((beside.low, beside.high), abs=0.02)


# Simulations: all of one kind share their weights, as all runs of one benchmark do.


def drawn(make: Callable[[Rng], Drawn], seed: int) -> list[Drawn]:
    rng = np.random.default_rng(seed)
    return [make(rng) for _ in range(SIMULATIONS)]


def sums_of(simulated: list[Drawn]) -> NDArray[np.float64]:
    columns = np.stack([column for pair in simulated for column in pair], axis=1)
    return bootstrap.replicates(columns, np.arange(len(columns)))


def coverage(simulated: list[Drawn], truth: float) -> float:
    sums, hits = sums_of(simulated), 0
    for i, (numerator, denominator) in enumerate(simulated):
        share, values = numerator.sum() / denominator.sum(), divided(sums[:, 2 * i], sums[:, 2 * i + 1])
        found = intervals.interval(float(share), values, len(numerator))
        hits += found.low <= truth <= found.high
    return hits / len(simulated)


def proportion(rng: Rng) -> Drawn:
    return (rng.random(160) < 0.7).astype(float), np.ones(160)


def near_the_end(rng: Rng) -> Drawn:
    return (rng.random(80) < 0.95).astype(float), np.ones(80)


def clustered_proportion(rng: Rng) -> Drawn:
    """One to six sentences an image; how hard they are is mostly the image's."""
    sentences = rng.integers(1, 7, 80)
    return rng.binomial(sentences, rng.beta(0.7, 0.3, 80)).astype(float), sentences.astype(float)


def clustered_iou(rng: Rng) -> Drawn:
    """IoUs of one to five parts an image, a third of them 0."""
    parts = rng.integers(1, 6, 80)
    ious = np.repeat(rng.beta(2, 2, 80), parts) * rng.beta(8, 2, parts.sum()) * (rng.random(parts.sum()) < 0.7)
    return np.add.reduceat(ious, np.r_[0, np.cumsum(parts)[:-1]]), parts.astype(float)


def ratio_of_sums(rng: Rng) -> Drawn:
    """Unions of very different sizes."""
    union = np.exp(rng.normal(8, 1, 80))
    return union * rng.beta(3, 2, 80), union


@pytest.mark.parametrize(
    ("make", "truth"),
    [
        (proportion, 0.7),
        (near_the_end, 0.95),
        (clustered_proportion, 0.7),
        (clustered_iou, 0.7 * 0.5 * 0.8),
        (ratio_of_sums, 0.6),
    ],
)
def test_95_percent_intervals_cover_the_truth_in_95_percent(make: Callable[[Rng], Drawn], truth: float) -> None:
    assert 0.93 <= coverage(drawn(make, 0), truth) <= 0.97


def test_without_clusters_they_would_not() -> None:
    """The same clustered sentences, each taken for an image of its own."""
    rng, hits = np.random.default_rng(0), 0
    for _ in range(300):
        right, sentences = (column.astype(int) for column in clustered_proportion(rng))
        share = right.sum() / sentences.sum()
        each = np.r_[np.ones(right.sum()), np.zeros((sentences - right).sum())]
        found = interval(each, np.ones(len(each)), len(each))
        hits += found.low <= 0.7 <= found.high
        assert found.low <= share <= found.high
    assert hits / 300 < 0.85


def test_two_equal_models_are_a_tie() -> None:
    """Two models that are right equally often, on hard and easy images alike, with luck of their own."""
    rng, ties, sides = np.random.default_rng(1), 0, 0
    sentences = rng.integers(1, 6, 80)
    image = rng.beta(1.4, 0.6, (SIMULATIONS, 1, 80))
    right = rng.binomial(sentences, (image + rng.beta(1.4, 0.6, (SIMULATIONS, 2, 80))) / 2).reshape(-1, 80)
    sums = bootstrap.replicates(np.vstack([right, sentences]).T, np.arange(80))
    shares = right.sum(axis=1) / sentences.sum()
    for i in range(0, 2 * SIMULATIONS, 2):
        values = (sums[:, i] - sums[:, i + 1]) / sums[:, -1]
        found = significance.difference(shares[i], shares[i + 1], values, 80, 80)
        ties += found.p >= significance.LEVEL
        assert found.interval is not None
        sides += found.interval[0] <= 0 <= found.interval[1]
    assert 0.93 <= ties / SIMULATIONS <= 0.97
    assert abs(ties - sides) <= 3  # p and interval speak as one


def test_a_better_model_is_found() -> None:
    rng = np.random.default_rng(2)
    a, b, each = (rng.random(400) < 0.8).astype(float), (rng.random(400) < 0.6).astype(float), np.ones(400)
    (pair,) = both(a, b, each)
    assert pair.p < 0.01
    assert pair.difference.interval is not None
    assert pair.difference.interval[0] > 0
    assert pair.only == (int((a > b).sum()), int((b > a).sum()))


# Pairs.


def both(a: NDArray[np.float64], b: NDArray[np.float64], each: NDArray[np.float64]) -> list[paired.Pair]:
    terms, clusters = [ratios({"x": (c, each)}) for c in (a, b)], np.arange(len(each))
    shares = [float(c.sum() / each.sum()) for c in (a, b)]
    return paired.pairs("x", terms, clusters, shares)


def test_a_run_is_tied_with_itself() -> None:
    right = np.r_[np.ones(30), np.zeros(30)]
    (pair,) = both(right, right, np.ones(60))
    assert (pair.difference.value, pair.difference.interval, pair.p) == (0, (0, 0), 1)


def test_always_right_against_always_wrong_has_no_interval_but_differs() -> None:
    (pair,) = both(np.ones(30), np.zeros(30), np.ones(30))
    assert pair.difference.interval is None
    assert pair.p == pytest.approx(2.0**-29, rel=1e-12)


def test_few_samples_that_differ_decide_nothing() -> None:
    """Four of a hundred, all for one side: as McNemar, 2 / 2^4, also where values are no longer right or wrong."""
    a = np.full(100, 0.5)
    (pair,) = both(np.r_[np.ones(4), np.zeros(96)], np.zeros(100), np.ones(100))
    (graded,) = both(a + np.r_[np.full(4, 0.3), np.zeros(96)], a, np.ones(100))
    assert pair.p == pytest.approx(0.125)
    assert graded.p == 0.125
    assert graded.only is None
