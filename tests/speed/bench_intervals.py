"""Intervals of all metrics of a run: 2,000 replicates of 60,000 samples in 20,000 images.

Peer: scipy.stats.bootstrap, percentile method, given the sums of each image, for the first metric alone; ours are all
metrics, those of each kind, object and part too, from the counts of the samples on. Limit: 5 CPU seconds, whatever the
peer needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from groundeval import benchmarks
from groundeval.metrics import bootstrap, intervals
from groundeval.metrics.ratios import Samples
from tests.speed import Result, compare, cpu

SAMPLES, IMAGES, SECONDS = 60_000, 20_000, 5
RNG = np.random.default_rng(0)
CLUSTERS = np.sort(RNG.integers(0, IMAGES, SAMPLES))


def run() -> list[Result]:
    """Counts of boxes, of which many images are equal; counts of pixels, of which none are; many labels."""
    return [_of("grefcoco", _boxes()), _of("grin_drive", _masks()), _of("instructpart", _masks() | _labels())]


def _of(name: str, samples: Samples) -> Result:
    protocol = benchmarks.part(name, "protocol")
    metrics = protocol.metrics(samples, {}, {})
    shares = {n: m.value / intervals.scale(m.unit) for n, m in metrics.items() if m.value is not None}
    first = benchmarks.record(name).headline

    def ours() -> dict[str, intervals.Interval]:
        return intervals.of(protocol.terms(samples, {}, {}), samples["image_id"], shares)

    pair = next(terms.pairs[first] for terms in protocol.terms(samples, {}, {}) if first in terms.pairs)
    numerator, denominator = (np.bincount(CLUSTERS, c, IMAGES) for c in pair)

    def theirs() -> Any:
        return stats.bootstrap(
            (numerator, denominator),
            lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
            n_resamples=bootstrap.REPLICATES,
            batch=100,
            paired=True,
            method="percentile",
            rng=1,
        ).confidence_interval

    found, expected = ours()[first], theirs()
    width = expected.high - expected.low
    np.testing.assert_allclose((found.low, found.high), expected, atol=0.1 * width)
    assert set(ours()) == set(shares)
    seconds = cpu(ours)
    assert seconds < SECONDS, f"{seconds:.1f} CPU seconds"
    # SciPy would need as long for each metric: ours shall need a twentieth of that.
    return compare(f"{len(shares)} metrics of {name}", "SciPy, one metric", ours, theirs, len(shares) / 20, 3)


def _boxes() -> dict[str, NDArray[Any]]:
    true = RNG.choice(4, SAMPLES, p=(0.3, 0.3, 0.3, 0.1))
    predicted = np.maximum(true + RNG.choice((-1, 0, 0, 0, 1), SAMPLES), 0)
    matched = RNG.binomial(np.minimum(true, predicted), 0.8)
    right = (true == predicted) & (matched == true)
    variants = {
        "correct_official_code": right & (RNG.random(SAMPLES) < 0.95),
        "correct_greedy_iou": right & (RNG.random(SAMPLES) < 0.99),
        "correct_circulated_recipe": right & (RNG.random(SAMPLES) < 0.99),
    }
    counts = {"true": true, "predicted": predicted, "matched": matched, "correct": right, **variants}
    return {**{name: c.astype(np.int64) for name, c in counts.items()}, **_about(predicted > 0)}


def _masks() -> dict[str, NDArray[Any]]:
    union = RNG.integers(100, 300_000, SAMPLES)
    target, claimed = RNG.random(SAMPLES) < 0.7, RNG.random(SAMPLES) < 0.7
    intersection = (union * RNG.beta(3, 2, SAMPLES) * (target & claimed)).astype(np.int64)
    union *= target | claimed
    return {"intersection": intersection, "union": union, "truth_exists": target.astype(np.int64), **_about(claimed)}


def _labels() -> dict[str, NDArray[Any]]:
    """As many objects, parts and affordances as InstructPart has, some frequent and some not."""
    sizes = {"object": 48, "part": 44, "affordance": 30}
    drawn = {name: RNG.geometric(0.08, SAMPLES) % size for name, size in sizes.items()}
    return {f"tag/{name}": np.array([f"{name} {n}" for n in of], object) for name, of in drawn.items()}


def _about(answered: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    names = np.array([f"{c:06d}.jpg" for c in CLUSTERS], object)
    kind = RNG.choice(np.array(["none", "single", "multi"], object), SAMPLES)
    return {"status": np.where(answered, "answered", "none").astype(object), "image_id": names, "kind": kind}
