"""Whom the plots of a board show: its best runs, under names that are distinct."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundeval.report.board import Board
from groundeval.report.collect import Run
from groundeval.report.evidence import Evidence

MOST = 10  # in one plot: more lines cannot be told apart


@dataclass(frozen=True)
class Model:
    """A run with its counts. label: distinct on the board."""

    label: str
    run: Run
    evidence: Evidence

    @property
    def figure(self) -> tuple[str, NDArray[np.float64]]:
        """The figure by which samples are ranked: its name, and its value [n] from 0 to 1, or NaN."""
        return next(iter(self.evidence.by_sample.items()))


def chosen(board: Board, evidences: Sequence[Evidence]) -> list[Model]:
    """The best runs of the board that have evidence, best first; none without a headline, so of a split without truth."""
    known = {one.run.identity: one for one in evidences}
    runs = [row.run for row in board.runs if row.rank and row.run is not None and row.run.identity in known]
    seen: Counter[str] = Counter()
    out = []
    for run in runs[:MOST]:
        seen[run.label] += 1
        label = run.label if seen[run.label] == 1 else f"{run.label} #{seen[run.label]}"
        out.append(Model(label, run, known[run.identity]))
    return out


def labels(models: Sequence[Model]) -> dict[int, str]:
    """The labels by number, which decides how a model looks in each plot."""
    return {i: model.label for i, model in enumerate(models)}


def whom(board: Board, models: Sequence[Model]) -> str:
    """Of a caption: how many of the runs a plot shows."""
    total = len(board.runs)
    return "" if len(models) == total else f" The best {len(models)} of {total} runs are shown."
