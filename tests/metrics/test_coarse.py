"""Score maps at few levels: how near they come to the exact curve, and the intervals drawn from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from groundeval.metrics import bands, bootstrap, coarse, curves, intervals
from groundeval.metrics.terms import Terms

SEEN = slice(None, None, coarse.STEP), slice(None, None, coarse.STEP)
DTYPES = ("uint8", "uint16", "float16", "float32")
Maps = tuple[NDArray[np.uint8], NDArray[np.float32]]


def images(count: int, noise: float = 0.6, seed: int = 0) -> list[Maps]:
    """Labels [24, 36] of two classes, of which the second is rarer in some images, and softmax scores for them."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(count):
        truth = (rng.random((24, 36)) < rng.beta(1, 3)).astype(np.uint8)
        odds = (2 * truth - 1) + rng.normal(0, 1 + noise, truth.shape) + rng.normal(0, noise)
        score = 1 / (1 + np.exp(-2 * odds))
        out.append((truth, np.stack([1 - score, score]).astype(np.float32)))
    return out


def stored(scores: NDArray[np.float32], dtype: str) -> NDArray[np.generic]:
    top = {"uint8": 255, "uint16": 65535}.get(dtype)
    return scores.astype(dtype) if top is None else np.rint(scores * top).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@given(st.data())
@settings(max_examples=50, deadline=None)  # the first call makes a table
def test_a_level_never_falls_where_a_score_rises(dtype: str, data: st.DataObject) -> None:
    width = 16 if dtype == "float16" else 32
    values = data.draw(arrays(dtype, 40, elements=st.floats(allow_nan=False, width=width)))
    assert (np.diff(coarse.levels(np.sort(values)).astype(int)) >= 0).all()


def test_integers_have_levels_in_order_too() -> None:
    levels = coarse.levels(np.arange(1 << 16, dtype=np.uint16)).astype(int)
    assert (np.diff(levels) >= 0).all()
    assert len(set(levels.tolist())) > 150
    assert (coarse.levels(np.arange(256, dtype=np.uint8)) == np.arange(256)).all()


def test_scores_near_the_ends_and_beyond_are_told_apart() -> None:
    values = np.array([-50, -3, -0.1, 0, 1e-4, 0.01, 0.5, 0.99, 0.999, 1, 1.1, 4, 50], np.float32)
    assert (np.diff(coarse.levels(values).astype(int)) > 0).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_average_precision_is_nearly_that_of_all_scores(dtype: str) -> None:
    made = images(6)
    sums = sum(coarse.counts(truth, stored(scores, dtype), 2) for truth, scores in made).astype(np.float64)
    steps, _ = coarse.average_precision(sums[1:2])
    truth = np.concatenate([t[SEEN].ravel() for t, _ in made])
    exact = average_precision_score(truth, np.concatenate([stored(s, dtype)[1][SEEN].ravel() for _, s in made]))
    assert steps[0] == pytest.approx(exact, abs=1e-12 if dtype == "uint8" else 5e-3)


@given(arrays(np.int64, (2, 256), elements=st.integers(0, 5)), st.integers(0, 40))
@settings(max_examples=50)
def test_both_averages_are_those_of_a_curve_of_256_levels(counts: NDArray[np.int64], lost: int) -> None:
    positive, negative = counts
    total = int(positive.sum()) + lost
    found = curves.summarise(curves.from_histograms(positive, negative), total)
    steps, eleven = coarse.average_precision(np.r_[positive, negative, lost].astype(np.float64)[None])
    if total == 0:
        assert np.isnan(steps[0])
        assert np.isnan(eleven[0])
    else:
        assert (steps[0], eleven[0]) == pytest.approx((found.ap().value, found.ap_11point().value), abs=1e-12)


def test_a_sample_without_an_answer_is_never_retrieved() -> None:
    (truth, scores), (other, _) = images(2)
    whole = coarse.counts(truth, scores, 2) + coarse.lost(other, 2)
    one, both = (
        coarse.average_precision(c[1:2].astype(np.float64))[0][0] for c in (coarse.counts(truth, scores, 2), whole)
    )
    positives, others = (int((of[SEEN] == 1).sum()) for of in (truth, other))
    assert both == pytest.approx(one * positives / (positives + others), abs=1e-12)


def test_its_interval_is_that_of_the_exact_curve() -> None:
    """Replicates of the exact curve, sorted by score for the same weights, against those of 256 levels."""
    made = images(40)
    counted = np.stack([coarse.counts(truth, scores, 2)[1] for truth, scores in made])
    terms = Terms(counted, lambda sums: {"AP": coarse.average_precision(sums)[0]}, coarse=True)
    truth = np.concatenate([t.ravel() for t, _ in made])
    scores, image = np.concatenate([s[1].ravel() for _, s in made]), np.repeat(np.arange(40), 864)
    exact = float(average_precision_score(truth, scores))
    found = intervals.of([terms], np.arange(40).astype(str).astype(object), {"AP": exact})["AP"]
    weights = bootstrap.replicates(np.eye(40, dtype=np.int64), np.arange(40), seed=1, count=150)
    drawn = np.array([average_precision_score(truth, scores, sample_weight=w[image]) for w in weights])
    low, high = intervals.percentiles(drawn, 40)
    width = high - low
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.25 * width)
    assert found.method == intervals.PERCENTILE + intervals.COARSE


def test_95_percent_intervals_of_average_precision_cover_it_in_95_percent() -> None:
    pool = np.stack([coarse.counts(truth, scores, 2)[1] for truth, scores in images(1000, seed=3)]).astype(np.float64)
    true = coarse.average_precision(pool.sum(axis=0)[None])[0][0]
    rng, hits = np.random.default_rng(4), 0
    weights = bootstrap.replicates(np.eye(60, dtype=np.int64), np.arange(60), count=400)
    for _ in range(250):
        sample = pool[rng.integers(0, len(pool), 60)]
        value = coarse.average_precision(sample.sum(axis=0)[None])[0][0]
        found = intervals.interval(float(value), coarse.average_precision(weights @ sample)[0], 60)
        hits += found.low <= true <= found.high
    assert 0.92 <= hits / 250 <= 0.98


def test_precisions_of_a_band_by_hand() -> None:
    """Two levels: above, 3 positive and 1 negative pixels; below, 1 and 4; one positive pixel is lost."""
    positive, negative = np.array([[1.0, 3.0]]), np.array([[4.0, 1.0]])
    found = bands.precisions(positive, negative, np.array([[1.0, 0.0]]))[0]
    at = dict(zip(np.round(bands.RECALLS, 2).tolist(), found.tolist(), strict=True))
    assert (at[0.02], at[0.6], at[0.62], at[0.8]) == (3 / 4, 3 / 4, 4 / 9, 4 / 9)
    assert np.isnan(at[0.82])


def test_a_band_holds_the_curve() -> None:
    counted = np.stack([coarse.counts(truth, scores, 2)[1] for truth, scores in images(40)])
    positive, negative = counted[:, :256], counted[:, 256:-1]
    lost = np.zeros((40, 2), np.int64)
    recalls, low, high = bands.band(positive, negative, lost, np.arange(40))
    curve = bands.precisions(*(c.sum(axis=0, dtype=np.float64)[None] for c in (positive, negative, lost)))[0]
    inside = (low <= curve) & (curve <= high)
    assert inside.mean() > 0.9
    assert (high - low > 0).all()
    assert recalls.tolist() == bands.RECALLS.tolist()
