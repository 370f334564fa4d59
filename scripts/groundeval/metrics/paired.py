"""All pairs of several runs over the same samples: differences with intervals and corrected p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics import significance
from groundeval.metrics.bootstrap import Floats, replicates
from groundeval.metrics.intervals import Terms
from groundeval.metrics.significance import Difference


@dataclass(frozen=True)
class Pair:
    """The runs `first` and `second`, by number, in one metric. Shares, as everything here.

    only: how many samples the first alone, and the second alone, gets right; None where samples are not right or wrong.
    p: of the bootstrap, or of McNemar's test where that is larger: the first knows of images, the second of small numbers.
    """

    first: int
    second: int
    difference: Difference
    only: tuple[int, int] | None
    p: float


def drawn(terms: Sequence[Terms], clusters: NDArray[np.int64]) -> list[dict[str, Floats]]:
    """The replicates of each run's metrics. All columns are drawn at once, so that the weights are the same."""
    ends = np.cumsum([one.columns.shape[1] for one in terms])[:-1]
    sums = replicates(np.hstack([one.columns for one in terms]), clusters)
    return [one.values(part) for one, part in zip(terms, np.split(sums, ends, axis=1), strict=True)]


def pairs(
    metric: str,
    terms: Sequence[Terms],
    found: Sequence[Mapping[str, Floats]],
    clusters: NDArray[np.int64],
    shares: Sequence[float],
) -> list[Pair]:
    """Every pair in the order of the runs. found: what `drawn` gave; shares: the value of each run."""
    return [
        _pair(
            a,
            b,
            significance.difference(
                shares[a],
                shares[b],
                found[a][metric] - found[b][metric],
                min(terms[a].clusters(metric, clusters), terms[b].clusters(metric, clusters)),
                _unlike(terms[a], terms[b], metric, clusters),
            ),
            only(terms[a], terms[b], metric),
        )
        for a, b in combinations(range(len(terms)), 2)
    ]


def _unlike(first: Terms, second: Terms, metric: str, clusters: NDArray[np.int64]) -> int:
    """How many clusters have a sample of which the two runs do not count the same; all, where that cannot be told."""
    a, b = (np.stack(t.pairs[metric], axis=1) if metric in t.pairs else t.columns for t in (first, second))
    if a.shape != b.shape:
        return first.clusters(metric, clusters)
    return len(np.unique(clusters[(a != b).any(axis=1)]))


def _pair(first: int, second: int, difference: Difference, alone: tuple[int, int] | None) -> Pair:
    exact = 0.0 if alone is None else significance.mcnemar(*alone)
    return Pair(first, second, difference, alone, max(difference.p, exact))


def only(first: Terms, second: Terms, metric: str) -> tuple[int, int] | None:
    """How many samples one alone gets right; None unless each sample of both counts 1 and is 0 or 1."""
    if metric not in first.pairs or metric not in second.pairs:
        return None
    (a, counted), (b, others) = (np.asarray(one.pairs[metric], np.float64) for one in (first, second))
    binary = np.isin([a, b, counted], (0, 1)).all() and (counted == others).all()
    return (int((a > b).sum()), int((b > a).sum())) if binary else None
