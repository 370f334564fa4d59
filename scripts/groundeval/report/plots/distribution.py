"""How many samples reach which value: all of a distribution, from which each P@k can be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundeval.report.board import Board
from groundeval.report.plots import figure
from groundeval.report.plots.figure import Plot
from groundeval.report.plots.models import Model, labels, whom

STEPS = 100


def plots(board: Board, models: Sequence[Model]) -> Iterator[Plot]:
    """The share of samples above each value of the figure that ranks them; nothing where it is but 0 or 1."""
    name, values = models[0].figure
    above = np.arange(STEPS + 1) / STEPS
    lines = [_shares(model.figure[1], above) for model in models]
    drawn, (axes,) = figure.figure()
    for i, line in enumerate(lines):
        colour, dash = figure.look(i)
        axes.plot(above, line, color=colour, linestyle=dash, drawstyle="steps-post")
    figure.share(axes)
    axes.set(xlabel=name, ylabel=f"share of samples above this {name}")
    figure.legend(drawn, labels(models))
    count = int(np.count_nonzero(~np.isnan(values)))
    caption = f"{name} of each of {count} samples, a diagnostic.{whom(board, models)}"
    rows = zip(above.tolist(), *(line.tolist() for line in lines), strict=True)
    told = figure.table([f"{name} above", *(model.label for model in models)], rows)
    title = f"Distribution of {name} over samples"
    yield Plot("distribution", title, caption, figure.svg(drawn, "distribution", title), told)


def _shares(values: np.ndarray, above: np.ndarray) -> np.ndarray:
    known = np.sort(values[~np.isnan(values)])
    shares: np.ndarray = 1 - np.searchsorted(known, above, side="right") / max(len(known), 1)
    return shares
