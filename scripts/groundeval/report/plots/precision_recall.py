"""Precision-recall curves of all models, the chosen operating point of each marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from groundeval import benchmarks
from groundeval.metrics import intervals
from groundeval.report.board import Board
from groundeval.report.plots import figure
from groundeval.report.plots.figure import Plot
from groundeval.report.plots.models import Model, whom

MOST = 200  # points a line: more cannot be told apart
BANDS = 2  # models with a band; more would cover each other

Points = Sequence[tuple[float, float]]  # recall, precision


def plots(board: Board, models: Sequence[Model]) -> Iterator[Plot]:
    """One plot a curve, in the order of the first model's; nothing where no run has curves."""
    seen: Counter[str] = Counter()
    for curve in dict.fromkeys(name for model in models for name in model.evidence.curves):
        slug = f"curve-{figure.slug(curve)}"
        seen[slug] += 1
        yield _plot(board, models, curve, slug if seen[slug] == 1 else f"{slug}-{seen[slug]}")


def _plot(board: Board, models: Sequence[Model], curve: str, name: str) -> Plot:
    shown = {i: model for i, model in enumerate(models) if model.evidence.curves.get(curve)}
    drawn, (axes,) = figure.figure(3.9, width=4.4)
    rows: list[tuple[object, ...]] = []
    bands = 0
    for i, model in shown.items():
        points = thinned([pair for pair in model.evidence.curves[curve] if any(pair)])  # (0, 0): nothing is called
        colour, dash = figure.look(i)
        if bands < BANDS and (band := _band(model, curve)) is not None:
            bands += 1
            recall, low, high = band
            axes.fill_between(recall, low, high, color=colour, alpha=0.15, linewidth=0)
            ends = zip(*(values.tolist() for values in band), strict=True)
            rows += [(model.label, "95 % band", r, None, a, b) for r, a, b in ends if not np.isnan(a)]
        axes.plot([r for r, _ in points], [p for _, p in points], color=colour, linestyle=dash)
        rows += [(model.label, "curve", r, p, None, None) for r, p in points]
        if (chosen := _chosen(model, curve)) is not None:
            axes.plot(*chosen, marker=figure.MARKERS[i], color=colour, markersize=6, markeredgecolor=figure.INK)
            rows.append((model.label, "chosen", *chosen, None, None))
    figure.share(axes)
    axes.set(xlabel="recall", ylabel="precision", aspect="equal")
    figure.legend(drawn, {i: model.label for i, model in shown.items()})
    band_said = f" Bands: pointwise 95 % at each recall, images drawn, of the first {bands}." if bands else ""
    lacking = " Runs without scores have no curve." if len(shown) < len(models) else ""
    caption = f"{curve}. Marks: where each run's decision lies.{band_said}{lacking}{whom(board, models)}"
    told = figure.table(["model", "what", "recall", "precision", "low", "high"], rows)
    title = f"Precision and recall, {curve}"
    return Plot(name, title, caption, figure.svg(drawn, name, title), told)


def thinned(points: Points) -> Points:
    """At most MOST + 1 points, the first and the last among them."""
    step = -(-len(points) // MOST)
    return [*points[:-1:step], points[-1]] if points else points


def _chosen(model: Model, curve: str) -> tuple[float, float] | None:
    """Recall and precision of the decision itself: at the best threshold, or of the predicted class."""
    for recall, precision in ((f"{curve}/REC", f"{curve}/PRE"), _of_class(curve)):
        found = [model.run.metrics.get(name) for name in (recall, precision)]
        values = [m.value / intervals.scale(m.unit) for m in found if m is not None and m.value is not None]
        if len(values) == 2:
            return values[0], values[1]
    return None


def _of_class(curve: str) -> tuple[str, str]:
    """The names of a class's recall and precision: `native/AP/sky` is `native/recall/sky` and `native/precision/sky`."""
    size, _, name = curve.rpartition("AP/")
    return f"{size}recall/{name}", f"{size}precision/{name}"


def _band(model: Model, curve: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Recalls, and the ends of the band there; None where a benchmark has no counts of a curve by sample."""
    band = getattr(benchmarks.part(model.run.benchmark, "protocol"), "band", None)
    if band is None:
        return None
    found: tuple[np.ndarray, np.ndarray, np.ndarray] | None = band(
        model.evidence.arrays, model.evidence.histograms, curve
    )
    return found
