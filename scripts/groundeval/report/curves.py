"""Precision-recall curves for the page: the points of each run as lines of plain SVG that a strict policy lets through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundeval.report.board import Board
from groundeval.report.collect import Run

SIZE = 300  # of the square from 0 to 1, in SVG units
MOST = 200  # points a line: more cannot be told apart at this size

Points = Sequence[tuple[float, float]]  # recall, precision


@dataclass(frozen=True)
class Plot:
    """One curve of all models of a board: (model, points of an SVG polyline)."""

    name: str
    lines: list[tuple[str, str]]


def plots(board: Board) -> list[Plot]:
    """The plots of a board, in the order of its first model's curves."""
    runs = [row.run for row in board.runs if row.run is not None]
    names = dict.fromkeys(name for run in runs for name in run.curves)
    return [Plot(name, list(_lines(runs, name))) for name in names]


def _lines(runs: Iterable[Run], name: str) -> Iterable[tuple[str, str]]:
    for run in runs:
        if points := run.curves.get(name):
            yield run.label, " ".join(f"{SIZE * r:.1f},{SIZE * (1 - p):.1f}" for r, p in _thinned(points))


def _thinned(points: Points) -> Points:
    step = -(-len(points) // MOST)
    return [*points[:-1:step], points[-1]]
