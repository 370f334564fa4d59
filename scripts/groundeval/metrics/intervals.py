"""95 % intervals of metrics that are functions of sums over samples, and paired differences of two runs.

Percentiles of bootstrap replicates, widened for few clusters as Student's t is (Hesterberg 2015, What teachers should
know about the bootstrap, section 5.2). Near 0 and 1 these are too short: with fewer than ten successes or failures the
interval is Wilson's (1927), with as many trials as would give the variance that the replicates have (Franco et al. 2019,
Comparative study of confidence intervals for proportions in complex sample surveys); with the clusters as trials where
they have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.bootstrap import REPLICATES, Floats, Integers, blocks, labels
from groundeval.metrics.ratios import Metric, Unit
from groundeval.metrics.terms import Terms

Z = 1.959963984540054  # of the normal distribution at 97.5 %
FEW = 10
PERCENTILE = f"percentiles of {REPLICATES} bootstrap replicates, images drawn"
WILSON = "Wilson, with as many trials as the images are worth"
COARSE = ", of the curve of every third pixel each way at 256 levels, moved to the value"
NONE = "none: not a share that samples estimate, but a chosen threshold or a count of the whole run"


@dataclass(frozen=True)
class Interval:
    """Its two ends, as shares, and how they were found."""

    low: float
    high: float
    method: str


def of(terms: Iterable[Terms], images: NDArray[Any], shares: Mapping[str, float]) -> dict[str, Interval]:
    """The intervals of the metrics that `terms` know, from their values; images: [n], the cluster of each sample."""
    clusters = labels(images)
    out: dict[str, Interval] = {}
    for one in terms:
        if wanted := [name for name in one.names if name in shares]:
            found = drawn([one], clusters)[0]
            out |= {n: _interval_of(one, n, shares[n], found[n], clusters) for n in wanted}
    return out


def drawn(terms: Sequence[Terms], clusters: Integers) -> list[dict[str, Floats]]:
    """The replicates of the metrics of one run, or of several over the same samples, all with the same weights."""
    columns, places = _shared(terms)
    parts: list[list[dict[str, Floats]]] = [[] for _ in terms]
    for sums in blocks(columns, terms[0].inside(clusters)):
        for part, one, own in zip(parts, terms, places, strict=True):
            part.append(one.values(sums[:, own]))
    return [{name: np.concatenate([block[name] for block in part]) for name in part[0]} for part in parts]


def _shared(terms: Sequence[Terms]) -> tuple[NDArray[Any], list[list[int]]]:
    """The columns of all terms, equal ones once (denominators mostly are), and where those of each stand among them."""
    whole = np.hstack([one.columns for one in terms]).T
    seen: dict[bytes, int] = {}
    index = [seen.setdefault(column.tobytes(), len(seen)) for column in whole]
    _, first = np.unique(index, return_index=True)
    ends = np.cumsum([0, *(one.columns.shape[1] for one in terms)]).tolist()
    return whole[first].T, [index[start:end] for start, end in pairwise(ends)]


def _interval_of(terms: Terms, metric: str, share: float, found: Floats, clusters: Integers) -> Interval:
    moved = share - terms.whole[metric] if terms.coarse else 0.0
    one = interval(share, found + moved, terms.clusters(metric, clusters))
    if not terms.coarse:
        return one
    return Interval(max(one.low, 0.0), min(one.high, 1.0), one.method + COARSE)


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
