"""Metrics as functions of sums over samples: what intervals and comparisons are drawn from, without scoring again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.bootstrap import Floats, Integers
from groundeval.metrics.ratios import Samples, groups

Pair = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Terms:
    """Metrics, as shares from 0 to 1, that are functions of sums over some samples.

    columns: [n, k] integers or floats, not negative. values: sums [B, k] to {metric: [B]}, NaN where one does not exist.
    counted: {metric: bool [n]}, the samples that it is over; a metric that is absent here is over all of these.
    pairs: numerator and denominator [n] of each metric that is a ratio of two sums.
    rows: which samples of the run these n are; None where they are all.
    coarse: the columns are coarser than what the metrics were computed from, so that replicates are to be moved by what
    the metric differs from the same function of these columns.
    """

    columns: NDArray[Any]
    values: Callable[[Floats], dict[str, Floats]]
    counted: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    pairs: Mapping[str, Pair] = field(default_factory=dict)
    rows: Integers | None = None
    coarse: bool = False

    @property
    def names(self) -> list[str]:
        """The metrics."""
        return list(self.pairs) or list(self.values(np.zeros((1, self.columns.shape[1]))))

    @property
    def whole(self) -> dict[str, float]:
        """The metrics of all these samples."""
        sums = self.columns.sum(axis=0, dtype=np.float64)
        return {name: float(found[0]) for name, found in self.values(sums[None]).items()}

    def inside(self, labels: Integers) -> Integers:
        """The labels of these samples, from those of all samples of the run."""
        return labels if self.rows is None else labels[self.rows]

    def clusters(self, metric: str, labels: Integers) -> int:
        """How many clusters the metric is over. labels: of all samples of the run."""
        inside = self.inside(labels)
        inside = inside[self.counted[metric]] if metric in self.counted else inside
        return int(np.count_nonzero(np.bincount(inside)))

    def only(self, metric: str) -> Terms:
        """The terms of one metric alone, as far as its columns are its own."""
        if metric not in self.pairs:
            return self
        return replace(ratios({metric: self.pairs[metric]}), rows=self.rows)


def ratios(pairs: Mapping[str, Pair]) -> Terms:
    """Metrics that are the sum of one column [n] over the sum of another. The same array twice is one column."""
    distinct = {id(column): column for pair in pairs.values() for column in pair}
    place = {key: i for i, key in enumerate(distinct)}
    places = {name: (place[id(above)], place[id(below)]) for name, (above, below) in pairs.items()}

    def values(sums: Floats) -> dict[str, Floats]:
        return {name: divided(sums[:, above], sums[:, below]) for name, (above, below) in places.items()}

    columns = np.stack([np.asarray(column, np.float64) for column in distinct.values()], axis=1)
    return Terms(columns, values, {name: denominator != 0 for name, (_, denominator) in pairs.items()}, pairs)


def by(samples: Samples, prefix: str, labels: NDArray[Any], terms: Callable[[Samples], Iterable[Terms]]) -> list[Terms]:
    """The terms of each group of samples with the same label, with the names that ratios.by gives to its metrics."""
    return [
        within(found, name, rows) for name, rows, group in groups(samples, prefix, labels) for found in terms(group)
    ]


def within(terms: Terms, name: str, rows: Integers) -> Terms:
    """Terms of a group of samples, which are `rows` of all; each metric is named `{name}/{metric}`."""

    def values(sums: Floats) -> dict[str, Floats]:
        return {f"{name}/{metric}": found for metric, found in terms.values(sums).items()}

    return replace(
        terms,
        values=values,
        counted={f"{name}/{metric}": counted for metric, counted in terms.counted.items()},
        pairs={f"{name}/{metric}": pair for metric, pair in terms.pairs.items()},
        rows=rows if terms.rows is None else rows[terms.rows],
    )


def of(terms: Sequence[Terms], metric: str) -> Terms | None:
    """The terms that know a metric, reduced to it."""
    return next((found.only(metric) for found in terms if metric in found.names), None)


def divided(numerator: NDArray[Any], denominator: NDArray[Any], empty: float = np.nan) -> Floats:
    """The quotient of two arrays; `empty` where the denominator is 0."""
    out = np.full(denominator.shape, empty, np.float64)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out
