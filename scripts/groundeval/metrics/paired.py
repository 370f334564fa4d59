"""All pairs of several runs over the same samples: differences with intervals and corrected p-values, groups of ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics import significance
from groundeval.metrics.bootstrap import Floats, Integers
from groundeval.metrics.intervals import drawn
from groundeval.metrics.significance import Difference
from groundeval.metrics.terms import Terms

_BLOCK = 512  # samples compared at a time, until it is clear that enough are unlike


@dataclass(frozen=True)
class Pair:
    """The runs `first` and `second`, by number, in one metric. Shares, as everything here.

    only: how many samples the first alone, and the second alone, gets right; None where samples are not right or wrong.
    p: of the bootstrap, or of McNemar's test where that is larger: the first knows of images, the second of small numbers.
    corrected: p by Holm's method, over all pairs of runs in this metric.
    """

    first: int
    second: int
    difference: Difference
    only: tuple[int, int] | None
    p: float
    corrected: float

    @property
    def tie(self) -> bool:
        """They cannot be told apart."""
        return self.corrected >= significance.LEVEL


@dataclass(frozen=True)
class _Run:
    """One run in one metric: replicates [B], moved to its value; what it counts [n, k] of each sample."""

    clusters: int  # that it is over
    share: float
    replicates: Floats
    counts: NDArray[np.generic]
    right: NDArray[np.bool_] | None  # of each sample, where it counts 1 and is 0 or 1


def pairs(metric: str, terms: Sequence[Terms], clusters: Integers, shares: Sequence[float]) -> list[Pair]:
    """Every pair in the order of the runs. terms: of each run, of this metric alone; clusters: [n] of all samples."""
    runs = [_run(metric, clusters, *said) for said in zip(terms, drawn(terms, clusters), shares, strict=True)]
    inside = terms[0].inside(clusters)
    found = [(a, b, *_compared(runs[a], runs[b], inside)) for a, b in combinations(range(len(runs)), 2)]
    corrected = significance.holm([p for *_, p in found])
    return [Pair(*one, p) for one, p in zip(found, corrected, strict=True)]


def _run(metric: str, clusters: Integers, terms: Terms, found: dict[str, Floats], share: float) -> _Run:
    moved = share - terms.whole[metric] if terms.coarse else 0.0
    counts = np.stack(terms.pairs[metric], axis=1) if metric in terms.pairs else terms.columns
    return _Run(terms.clusters(metric, clusters), share, found[metric] + moved, counts, _right(terms, metric))


def _right(terms: Terms, metric: str) -> NDArray[np.bool_] | None:
    if metric not in terms.pairs:
        return None
    numerator, denominator = (np.asarray(column, np.float64) for column in terms.pairs[metric])
    return numerator == 1 if all(((c == 0) | (c == 1)).all() for c in (numerator, denominator)) else None


def _compared(a: _Run, b: _Run, inside: Integers) -> tuple[Difference, tuple[int, int] | None, float]:
    fewer = min(a.clusters, b.clusters)
    unlike = _unlike(a.counts, b.counts, inside) if a.counts.shape == b.counts.shape else fewer
    found = significance.difference(a.share, b.share, a.replicates - b.replicates, fewer, unlike)
    alone = _alone(a, b)
    return found, alone, max(found.p, 0.0 if alone is None else significance.mcnemar(*alone))


def _unlike(a: NDArray[np.generic], b: NDArray[np.generic], clusters: Integers) -> int:
    """How many clusters have a sample of which two runs do not count the same; counted no further than matters."""
    seen: set[int] = set()
    for start in range(0, len(clusters), _BLOCK):
        part = slice(start, start + _BLOCK)
        seen |= set(clusters[part][(a[part] != b[part]).any(axis=1)].tolist())
        if len(seen) >= significance.ENOUGH:
            break
    return len(seen)


def _alone(a: _Run, b: _Run) -> tuple[int, int] | None:
    """How many samples one alone gets right; None unless each sample counts 1 in both and is 0 or 1."""
    if a.right is None or b.right is None or not (a.counts[:, 1] == b.counts[:, 1]).all():
        return None
    return int((a.right & ~b.right).sum()), int((b.right & ~a.right).sum())


def groups(order: Sequence[int], tied: Sequence[Pair]) -> list[list[int]]:
    """Groups of ties of runs, from their numbers in order, best first, and the pairs that are ties.

    A group begins with the best run that is in none yet and reaches down to the last run that cannot be told from it. So
    a run in a later group is worse than the best of each earlier one, beyond doubt. Two runs of one group may well
    differ, and the last of a group be tied with the first of the next: being tied is not transitive.
    """
    ties = {frozenset((pair.first, pair.second)) for pair in tied}
    left, out = list(order), []
    while left:
        last = max(i for i, run in enumerate(left) if i == 0 or frozenset((left[0], run)) in ties)
        out.append(left[: last + 1])
        left = left[last + 1 :]
    return out
