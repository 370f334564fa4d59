"""The plots of a leaderboard: inline SVG, and the numbers that each shows as csv.

models.py chooses whom they show; figure.py makes SVG of what the other modules draw, one kind of plot each.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundeval.report.board import Board
from groundeval.report.evidence import Evidence
from groundeval.report.plots import confusion, distribution, precision_recall, scatter, slices, thresholds
from groundeval.report.plots.figure import Plot, styled
from groundeval.report.plots.models import chosen

__all__ = ["Plot", "plots"]

_KINDS = (distribution, scatter, slices, confusion, precision_recall, thresholds)


def plots(board: Board, evidences: Sequence[Evidence]) -> list[Plot]:
    """The plots of a board. evidences: those of its runs that have any, in whatever order."""
    models = chosen(board, evidences)
    if not models:
        return []
    with styled():
        return [plot for kind in _KINDS for plot in kind.plots(board, models)]
