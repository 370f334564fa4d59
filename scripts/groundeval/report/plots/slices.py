"""The mean of the figure that ranks samples, by what the truth says of them: size, number, kind, part, category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray

from groundeval.metrics import intervals, terms
from groundeval.report.board import Board
from groundeval.report.plots import figure
from groundeval.report.plots.figure import Plot
from groundeval.report.plots.models import Model, labels, whom

TAGS = ("object", "part", "affordance", "category")
TOP = 12  # labels in one plot, by number of samples
SIZES = 8  # bins of the mask's size, of as many samples each

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Slice:
    """Samples [m] of one label, and the mean of each model with its interval."""

    label: str
    rows: Rows
    means: Sequence[tuple[float, float, float]]  # value, low, high; NaN where no sample has a value


def plots(board: Board, models: Sequence[Model]) -> Iterator[Plot]:
    """By size of the true mask, number of true boxes, kind, and each of TAGS that the samples have."""
    samples = models[0].evidence.arrays
    if "truth_area" in samples:
        yield from _by_size(board, models, samples["truth_area"])
    known = {f"tag/{tag}": samples.get(f"tag/{tag}") for tag in TAGS} | {"kind": samples["kind"]}
    if "true" in samples:
        known = {"number of targets": np.array(["3 or more" if n > 2 else str(n) for n in samples["true"].tolist()])}
    for name, of in known.items():
        counts = Counter() if of is None else Counter(x for x in of.tolist() if x is not None)
        if of is not None and len(counts) > 1:
            yield _by_label(board, models, name.removeprefix("tag/"), of, counts)


def _by_label(board: Board, models: Sequence[Model], what: str, of: NDArray[np.object_], counts: Counter[str]) -> Plot:
    kept = sorted(sorted(counts), key=lambda label: -counts[label])[:TOP]
    if what == "number of targets":
        kept = sorted(kept)
    elif what == "kind":
        kept = [kind for kind in board.record.kinds if kind in counts]
    found = [_slice(models, label, np.flatnonzero(of == label)) for label in kept]
    height = 1.1 + 0.2 * len(models) + len(found) * max(0.22, 0.1 * len(models))
    drawn, (axes,) = figure.figure(height)
    middle = np.arange(len(found))[::-1]
    for i in range(len(models)):
        y = middle + (len(models) - 1 - 2 * i) * 0.4 / len(models)
        _bars(axes, [one.means[i] for one in found], y, i)
    names = [f"{figure.shown(one.label)} ({len(one.rows)})" for one in found]
    axes.set_yticks(middle, names)
    figure.share(axes, y=False)
    axes.set(xlabel=f"mean {models[0].figure[0]}", ylim=(-0.6, len(found) - 0.4))
    figure.legend(drawn, labels(models), markers=True)
    left = len(counts) - len(kept)
    rest = f" The {TOP} most frequent of {len(counts)} are shown." if left else ""
    return _made(board, models, found, drawn, what, f"In brackets: samples.{rest}")


def _by_size(board: Board, models: Sequence[Model], area: Rows) -> Iterator[Plot]:
    """Samples with a target, in bins of as many samples each; equal sizes stay together."""
    inside = np.flatnonzero(area > 0)
    if len(inside) < SIZES:
        return
    edges = np.unique(np.quantile(area[inside], np.linspace(0, 1, SIZES + 1), method="nearest"))
    if len(edges) < 3:
        return
    bins = np.digitize(area, edges[1:-1])
    found, middles = [], []
    for i in range(len(edges) - 1):
        rows = inside[bins[inside] == i]
        low, high = int(area[rows].min()), int(area[rows].max())
        found.append(_slice(models, f"{low} to {high}", rows))
        middles.append(float(np.median(area[rows])))
    drawn, (axes,) = figure.figure()
    for i in range(len(models)):
        colour, dash = figure.look(i)
        means = np.array([one.means[i] for one in found])
        axes.plot(middles, means[:, 0], color=colour, linestyle=dash, marker=figure.MARKERS[i], markersize=3.5)
        if len(models) <= 3:
            axes.fill_between(middles, means[:, 1], means[:, 2], color=colour, alpha=0.15, linewidth=0)
    figure.share(axes, x=False)
    axes.set(xscale="log", xlabel="pixels of the true mask", ylabel=f"mean {models[0].figure[0]}")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(drawn, labels(models))
    yield _made(
        board, models, found, drawn, "mask size", f"Samples with a target, in {len(found)} bins of equal number."
    )


def _slice(models: Sequence[Model], label: str, rows: Rows) -> Slice:
    """Means with intervals, of all models from the same draws of images."""
    values = [model.figure[1][rows] for model in models]
    known = [~np.isnan(of) for of in values]
    pairs = {str(i): (np.where(k, of, 0), k) for i, (of, k) in enumerate(zip(values, known, strict=True)) if k.any()}
    if not pairs:
        return Slice(label, rows, [(np.nan,) * 3] * len(models))
    shares = {name: float(numerator.sum() / counted.sum()) for name, (numerator, counted) in pairs.items()}
    ends = intervals.of([terms.ratios(pairs)], models[0].evidence.arrays["image_id"][rows], shares)
    means = [
        (shares[n], ends[n].low, ends[n].high) if n in ends else (np.nan,) * 3 for n in map(str, range(len(models)))
    ]
    return Slice(label, rows, means)


def _bars(axes: Axes, means: Sequence[tuple[float, float, float]], y: NDArray[np.floating[Any]], i: int) -> None:
    value, low, high = np.array(means).T
    colour = figure.look(i)[0]
    axes.hlines(y, low, high, color=colour, linewidth=1, alpha=0.6)
    axes.plot(value, y, linestyle="none", marker=figure.MARKERS[i], color=colour, markersize=4)


def _made(board: Board, models: Sequence[Model], found: Sequence[Slice], drawn: Figure, what: str, more: str) -> Plot:
    figured, name = models[0].figure[0], f"by-{figure.slug(what)}"
    rows = [
        (one.label, len(one.rows), model.label, *(None if np.isnan(x) else float(x) for x in one.means[i]))
        for one in found
        for i, model in enumerate(models)
    ]
    told = figure.table([what, "samples", "model", f"mean {figured}", "low", "high"], rows)
    title = f"{figured} by {what}"
    caption = f"Mean over samples, with 95 % intervals (images drawn). {more}{whom(board, models)}"
    return Plot(name, title, caption, figure.svg(drawn, name, title), told)
