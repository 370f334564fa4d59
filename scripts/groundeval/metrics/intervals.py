"""95 % intervals of metrics that are functions of sums over samples, and paired differences of two runs.

Percentiles of bootstrap replicates, widened for few clusters as Student's t is (Hesterberg 2015, What teachers should
know about the bootstrap, section 5.2). Near 0 and 1 these are too short: with fewer than ten successes or failures the
interval is Wilson's (1927), with as many trials as would give the variance that the replicates have (Franco et al. 2019,
Comparative study of confidence intervals for proportions in complex sample surveys); with the clusters as trials where
they have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.bootstrap import REPLICATES, Floats, labels, replicates
from groundeval.metrics.ratios import Metric, Unit

Pair = tuple[NDArray[Any], NDArray[Any]]

Z = 1.959963984540054  # of the normal distribution at 97.5 %
FEW = 10
PERCENTILE = f"percentiles of {REPLICATES} bootstrap replicates, images drawn"
WILSON = "Wilson, with as many trials as the images are worth"
NONE = "none: it is counted over the whole run, not by sample"


@dataclass(frozen=True)
class Terms:
    """Metrics, as shares from 0 to 1, that are functions of sums over samples.

    columns: [n, k] integers or floats, not negative. values: sums [B, k] to {metric: [B]}, NaN where one does not exist.
    counted: {metric: bool [n]}, the samples that it is over; a metric that is absent here is over all.
    pairs: numerator and denominator [n] of each metric that is a ratio of two sums.
    """

    columns: NDArray[Any]
    values: Callable[[Floats], dict[str, Floats]]
    counted: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    pairs: Mapping[str, Pair] = field(default_factory=dict)

    def clusters(self, metric: str, labels: NDArray[np.int64]) -> int:
        """How many clusters the metric is over."""
        inside = labels[self.counted[metric]] if metric in self.counted else labels
        return int(np.count_nonzero(np.bincount(inside)))


@dataclass(frozen=True)
class Interval:
    """Its two ends, as shares, and how they were found."""

    low: float
    high: float
    method: str


def ratios(pairs: Mapping[str, Pair]) -> Terms:
    """Metrics that are the sum of one column [n] over the sum of another."""

    def values(sums: Floats) -> dict[str, Floats]:
        return {name: divided(sums[:, 2 * i], sums[:, 2 * i + 1]) for i, name in enumerate(pairs)}

    columns = np.stack([np.asarray(column, np.float64) for pair in pairs.values() for column in pair], axis=1)
    return Terms(columns, values, {name: denominator != 0 for name, (_, denominator) in pairs.items()}, pairs)


def divided(numerator: NDArray[Any], denominator: NDArray[Any], empty: float = np.nan) -> Floats:
    """The quotient of two arrays; `empty` where the denominator is 0."""
    out = np.full(denominator.shape, empty, np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def of(terms: Terms, images: NDArray[Any], shares: Mapping[str, float]) -> dict[str, Interval]:
    """The intervals of the metrics that `terms` knows, from their values; images: [n], the cluster of each sample."""
    clusters = labels(images)
    found = terms.values(replicates(terms.columns, clusters))
    return {n: interval(shares[n], found[n], terms.clusters(n, clusters)) for n in shares if n in found}


def beside(metric: Metric, found: Interval | None) -> Metric:
    """The metric with its interval, in its unit."""
    if found is None:
        return replace(metric, interval_method=NONE)
    whole = scale(metric.unit)
    return replace(metric, interval=(whole * found.low, whole * found.high), interval_method=found.method)


def scale(unit: Unit) -> int:
    """What the whole is in a unit."""
    return 100 if unit == "percent" else 1


def interval(share: float, drawn: Floats, clusters: int) -> Interval:
    """The interval of one metric from its replicates [B]; NaN ones are left out."""
    found = drawn[~np.isnan(drawn)]
    variance = _variance(found)
    trials = share * (1 - share) / variance if variance > 0 else 0.0
    if trials * min(share, 1 - share) >= FEW:
        return Interval(*percentiles(found, clusters), PERCENTILE)
    low, high = wilson(share, trials or clusters, Z * widening(clusters) if trials else Z)
    return Interval(low, high, WILSON)


def percentiles(drawn: Floats, clusters: int) -> tuple[float, float]:
    """The replicates [B], one at least and no NaN, at the two ranks of the widened interval."""
    found = np.sort(drawn)
    rank = max(int((len(found) + 1) * NormalDist().cdf(-Z * widening(clusters))), 1)
    return float(found[rank - 1]), float(found[-rank])


def widening(clusters: int) -> float:
    """Student's t with (clusters - 1) degrees of freedom over the normal quantile, by its series (Fisher 1926)."""
    s, v = Z * Z, max(clusters - 1, 1)
    terms = (s + 1) / 4, ((5 * s + 16) * s + 3) / 96, (((3 * s + 19) * s + 17) * s - 15) / 384
    return 1 + terms[0] / v + terms[1] / (v * v) + terms[2] / (v * v * v)


def wilson(share: float, trials: float, z: float = Z) -> tuple[float, float]:
    """Wilson's score interval of a proportion, without continuity correction."""
    extra = z * z / trials
    centre, spread = share + extra / 2, math.sqrt(extra * (share * (1 - share) + extra / 4))
    low, high = (centre - spread) / (1 + extra), (centre + spread) / (1 + extra)
    return 0.0 if share == 0 else low, 1.0 if share == 1 else high


def _variance(values: Floats) -> float:
    """Of an array without NaN; sums are correctly rounded, so it is the same on any machine."""
    if not len(values) or values.min() == values.max():
        return 0.0
    mean = math.fsum(values.tolist()) / len(values)
    return math.fsum(((values - mean) ** 2).tolist()) / len(values)
