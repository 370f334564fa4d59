"""Is one of two runs over the same samples better? Paired differences, p-values, and their correction for many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from groundeval.metrics import intervals
from groundeval.metrics.bootstrap import Floats

LEVEL = 0.05
ENOUGH = 64  # clusters that are unlike, from which on their number no longer matters to p


@dataclass(frozen=True)
class Difference:
    """First minus second. interval is None where the replicates do not vary, though there is a difference."""

    value: float
    interval: tuple[float, float] | None
    p: float


def difference(first: float, second: float, replicates: Floats, clusters: int, unlike: int) -> Difference:
    """From replicates [B] of the difference, drawn with the same weights for both; NaN ones are left out.

    p is twice the share of replicates on the other side of 0, put on the normal scale and taken back as much as the
    interval is widened, so that p < 0.05 where the 95 % interval excludes 0. With few clusters that are unlike, it is at
    least what a sign test gives where all of those speak for one side: no bootstrap can know more.
    """
    found, value, least = replicates[~np.isnan(replicates)], first - second, min(1.0, 2.0 ** (1 - unlike))
    if not len(found) or found.min() == found.max():
        return Difference(value, None if value else (0.0, 0.0), least)
    tail = (min(np.sum(found <= 0), np.sum(found >= 0)) + 1) / (len(found) + 1)
    normal = NormalDist()
    p = 2 * normal.cdf(normal.inv_cdf(min(float(tail), 0.5)) / intervals.widening(clusters))
    return Difference(value, intervals.percentiles(found, clusters), max(p, least))


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p-value of McNemar's test (1947) from the numbers of samples that one alone gets right."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    log = math.lgamma(n + 1) - math.lgamma(fewer + 1) - math.lgamma(n - fewer + 1) - n * math.log(2)
    last = max(fewer - 10 * math.isqrt(n) - 10, 0)  # 20 standard deviations on, they are nothing
    k = np.arange(fewer, last, -1, dtype=np.float64)
    below = math.fsum(np.cumprod(k / (n - k + 1)).tolist())  # the other terms of the tail, as shares of the largest
    return min(1.0, 2 * math.exp(log) * (1 + below))


def holm(ps: Sequence[float]) -> list[float]:
    """p-values corrected for their number, step by step from the smallest (Holm 1979)."""
    out, largest = [0.0] * len(ps), 0.0
    for done, i in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        largest = max(largest, min(1.0, (len(ps) - done) * ps[i]))
        out[i] = largest
    return out
