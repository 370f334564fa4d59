"""Confusion matrices of class maps: what the pixels of each class were taken for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from groundeval import benchmarks
from groundeval.report.board import Board
from groundeval.report.plots import figure
from groundeval.report.plots.figure import Plot
from groundeval.report.plots.models import Model, whom

MOST = 4  # panels
_SHADES = LinearSegmentedColormap.from_list("share", [(0.23, 0.49, 0.85, 0.0), (0.23, 0.49, 0.85, 0.75)])


def plots(board: Board, models: Sequence[Model]) -> Iterator[Plot]:
    """One panel a model, the share of each row; nothing where a benchmark has no classes."""
    matrix = getattr(benchmarks.part(board.record.name, "protocol"), "confusion", None)
    if matrix is None:
        return
    shown = models[:MOST]
    of = [matrix(model.evidence.arrays, model.run.options) for model in shown]
    columns = min(len(shown), 2)
    rows = -(-len(shown) // columns)
    drawn, panels = figure.figure(2.6 * rows, columns, rows, width=2.9 * columns)
    for axes, model, (classes, counted) in zip(panels, shown, of, strict=False):
        _panel(axes, model.label, classes, counted)
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    lines = (
        (model.label, true, said, int(counted[t, s]))
        for model, (classes, counted) in zip(shown, of, strict=True)
        for t, true in enumerate(classes)
        for s, said in enumerate([*classes, "no class"])
    )
    told = figure.table(["model", "true class", "predicted class", "pixels"], lines)
    caption = (
        "Of the pixels of each true class (rows), the share predicted as each class (columns), pixels of all images "
        f"pooled at the headline's size. `no class`: other values, and samples without an answer.{whom(board, shown)}"
    )
    title = "Confusion of classes"
    yield Plot("confusion", title, caption, figure.svg(drawn, "confusion", title), told)


def _panel(axes: Axes, label: str, classes: Sequence[str], counted: np.ndarray) -> None:
    sums = counted.sum(axis=1, keepdims=True)
    shares = np.divide(counted, sums, out=np.zeros(counted.shape), where=sums > 0)
    axes.pcolormesh(shares, cmap=_SHADES, vmin=0, vmax=1, edgecolor=figure.INK, linewidth=0.3)
    for (t, s), share in np.ndenumerate(shares):
        axes.text(s + 0.5, t + 0.5, f"{share:.2f}" if sums[t, 0] else "-", ha="center", va="center", fontsize=8)
    said = [*classes, "no class"]
    axes.set_xticks(np.arange(len(said)) + 0.5, said, rotation=30, ha="right", fontsize=7)
    axes.set_yticks(np.arange(len(classes)) + 0.5, list(classes), fontsize=7)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set_title(figure.shown(label), fontsize=9)
