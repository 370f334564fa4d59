"""Bootstrap replicates of sums over samples, whole clusters drawn together: the same bytes on any machine.

The weight of each cluster in a replicate is Poisson(1), and that of m equal clusters together Poisson(m): the Poisson
bootstrap (Hanley and MacGibbon 2006, Creating non-parametric bootstrap samples using Poisson frequencies). Its clusters
are independent, so that a metric over some of the samples is drawn as if the others were not there.

Columns become integers of which every sum is exact in float64, in whatever order BLAS adds and however many threads it
has; the random numbers are raw bits of a generator whose stream is fixed. The order of samples changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

REPLICATES = 2000
SEED = 0
_TOP = 6  # equal clusters get their weight in pieces of 1, 2, 4 .. 2^6 clusters
_STEPS = 1 << 16  # a weight is a quantile at one of so many steps
_BITS = 49  # of a column's sum; no weight exceeds 13 a cluster, so a replicate's sum stays below 2^53
_CELLS = 1 << 16  # weights in memory together: they stay in the cache


def labels(names: NDArray[Any]) -> Integers:
    """Names of clusters [n] as numbers from 0, in the order in which they first appear."""
    seen: dict[Any, int] = {}
    return np.fromiter((seen.setdefault(name, len(seen)) for name in names.tolist()), np.int64, len(names))


def replicates(columns: NDArray[Any], clusters: Integers, seed: int = SEED, count: int = REPLICATES) -> Floats:
    """Weighted sums [count, k] over the samples of columns [n, k], integers or floats, finite and not negative.

    clusters: [n], numbers from 0. A float is rounded to about 2^-49 of its column's largest possible sum.
    """
    return np.concatenate(list(blocks(columns, clusters, seed, count)))


def blocks(columns: NDArray[Any], clusters: Integers, seed: int = SEED, count: int = REPLICATES) -> Iterator[Floats]:
    """The same, some replicates [b, k] at a time."""
    whole, worth = _whole(columns)
    present, clusters = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(present), whole.shape[1]), np.int64)
    np.add.at(sums, clusters, whole)
    distinct, equal = np.unique(sums, axis=0, return_counts=True)
    row, power = _pieces(equal)
    values, bits = distinct[row].astype(np.float64), np.random.PCG64(seed)
    block = max(1, _CELLS // max(1, len(row)))
    for done in range(0, count, block):
        yield (_weights(bits, min(block, count - done), power) @ values) * worth


def _whole(columns: NDArray[Any]) -> tuple[Integers, Floats]:
    """Columns as integers of as many bits as leave their sums exact, and what 1 of them is worth: powers of 2, [k]."""
    if columns.min(initial=0) < 0:
        raise ValueError("a column of a bootstrap is negative")
    largest = len(columns) * columns.max(axis=0, initial=0).astype(np.float64)
    if np.issubdtype(columns.dtype, np.integer) and largest.max(initial=0) < 2**_BITS:
        return columns.astype(np.int64, copy=False), np.ones(columns.shape[1])
    power = _BITS - np.frexp(largest)[1].astype(np.int64)
    return np.rint(np.ldexp(columns.astype(np.float64), power)).astype(np.int64), np.ldexp(1.0, -power)


def _pieces(equal: Integers) -> tuple[Integers, Integers]:
    """Numbers as sums of powers of 2 up to _TOP: the row of each addend and its power, in the order of the powers."""
    rows = [np.flatnonzero(equal >> power & 1) for power in range(_TOP)]
    rows.append(np.repeat(np.arange(len(equal)), equal >> _TOP))
    return np.concatenate(rows), np.repeat(np.arange(_TOP + 1), [len(found) for found in rows])


def _weights(bits: np.random.PCG64, count: int, power: Integers) -> Floats:
    """Weights [count, pieces], Poisson with the means 2^power, which ascend."""
    cells = count * len(power)
    steps = bits.random_raw(-(-cells // 4)).astype("<u8", copy=False).view("<u2")[:cells].reshape(count, -1)
    out, ends = np.empty(steps.shape), np.searchsorted(power, np.arange(_TOP + 2))
    for p, (start, end) in enumerate(pairwise(ends)):
        out[:, start:end] = _quantiles(p).take(steps[:, start:end])
    return out


@cache
def _quantiles(power: int) -> NDArray[np.uint8]:
    """The quantiles of Poisson(2^power) in the middle of each step."""
    mean = float(1 << power)
    mass = np.cumprod(np.concatenate([[np.exp(-mean)], mean / np.arange(1, 255)]))
    return np.searchsorted(np.cumsum(mass), (np.arange(_STEPS) + 0.5) / _STEPS).astype(np.uint8)
