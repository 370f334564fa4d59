"""Which samples a gallery shows: by their scores, and some by lot that is drawn from their ids alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EACH = 3  # samples a group

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Rows of the samples table that are shown together, and why they are."""

    name: str
    title: str
    why: str
    rows: list[int]


def mean(figures: Sequence[Floats]) -> Floats:
    """The mean over models of each sample's figure [n], of those models that have one; NaN where none has."""
    stacked = np.stack(figures)
    known = ~np.isnan(stacked)
    sums, counts = np.where(known, stacked, 0).sum(axis=0), known.sum(axis=0)
    means: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return means


def spread(figures: Sequence[Floats]) -> Floats:
    """The highest less the lowest figure of each sample [n]; NaN where fewer than two models have one."""
    stacked = np.stack(figures)
    known = ~np.isnan(stacked)
    high, low = (
        np.where(known, stacked, -np.inf).max(axis=0),
        np.where(known, stacked, np.inf).min(axis=0),
    )
    enough = known.sum(axis=0) > 1
    return np.where(enough, np.where(enough, high, 0) - np.where(enough, low, 0), np.nan)


def groups(ids: Sequence[str], figures: Sequence[Floats], figure: str) -> list[Group]:
    """The groups that are not empty, no sample in two of them. figures: one array [n] a model."""
    lots = [hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest() for name in ids]
    average, apart = mean(figures), spread(figures)
    known = [row for row in range(len(ids)) if not np.isnan(average[row])]
    middle = float(np.median(average[known])) if known else 0.0
    taken: set[int] = set()

    def first(rows: Sequence[int], key: Callable[[int], float]) -> list[int]:
        found = [row for row in sorted(rows, key=lambda row: (key(row), lots[row])) if row not in taken][:EACH]
        taken.update(found)
        return found

    over = "" if len(figures) == 1 else f", mean over the {len(figures)} models"
    differing = [row for row in known if apart[row] > 0]
    wanted: list[tuple[str, str, str, Sequence[int], Callable[[int], float]]] = [
        ("worst", "Worst", f"the lowest {figure}{over}", known, lambda row: float(average[row])),
        ("disagree", "Models disagree most", f"the highest {figure} of a model less the lowest of another", differing,
         lambda row: -float(apart[row])),
        ("median", "Median", f"nearest to the median of {figure}{over}", known,
         lambda row: abs(float(average[row]) - middle)),
        ("random", "Random", "drawn by a digest of the sample's id, whatever the models said", range(len(ids)),
         lambda row: 0.0),  # noqa: ARG005
    ]  # fmt: skip
    made = [Group(name, title, why, first(rows, key)) for name, title, why, rows, key in wanted]
    return [group for group in made if group.rows]
