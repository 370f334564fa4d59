"""The best two models against each other, sample by sample: where one is right and the other is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes

from groundeval.report.board import Board
from groundeval.report.plots import figure
from groundeval.report.plots.figure import Plot
from groundeval.report.plots.models import Model

BINS = 20
SIZES = (4, 9, 16, 25, 36, 49, 64)  # areas of a marker, from few samples to many


def plots(board: Board, models: Sequence[Model]) -> Iterator[Plot]:  # noqa: ARG001
    """Samples in BINS x BINS squares; nothing of one model alone."""
    if len(models) < 2:
        return
    first, second = models[:2]
    (name, a), (_, b) = first.figure, second.figure
    known = ~np.isnan(a) & ~np.isnan(b)
    cells = [np.minimum((values[known] * BINS).astype(int), BINS - 1) for values in (a, b)]
    counts = np.zeros((BINS, BINS), np.int64)
    np.add.at(counts, (cells[0], cells[1]), 1)
    drawn, (axes,) = figure.figure(4.4, width=4.6)
    _markers(axes, counts)
    axes.plot([0, 1], [0, 1], color=figure.INK, linewidth=0.8, alpha=0.5)
    figure.share(axes)
    axes.set_aspect("equal")
    axes.set_xlabel(f"{name}, {figure.shown(first.label)}")
    axes.set_ylabel(f"{name}, {figure.shown(second.label)}")
    caption = (
        f"Each sample's {name} under the best two runs, in squares of 1/{BINS}; a larger mark is more samples "
        f"(up to {counts.max()}). Above the line the second is better: {int((b > a).sum())} samples, "
        f"below it the first: {int((a > b).sum())}, equal: {int((a == b).sum())}."
    )
    rows = [(x / BINS, y / BINS, int(counts[x, y])) for x, y in np.argwhere(counts).tolist()]
    told = figure.table([f"{name} of {first.label}, from", f"{name} of {second.label}, from", "samples"], rows)
    title = f"{name} of the best two runs, sample by sample"
    yield Plot("best-two", title, caption, figure.svg(drawn, "best-two", title), told)


def _markers(axes: Axes, counts: np.ndarray) -> None:
    """One marker a square, of few sizes: then each is a short reference to one shape."""
    size = np.ceil(len(SIZES) * np.sqrt(counts / counts.max(initial=1))).astype(int)
    for level, area in enumerate(SIZES, start=1):
        x, y = np.nonzero(size == level)
        middles = (x + 0.5) / BINS, (y + 0.5) / BINS
        axes.plot(*middles, "o", color=figure.COLOURS[0], markersize=np.sqrt(area), markeredgewidth=0, alpha=0.75)
