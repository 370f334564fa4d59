"""Where scores beside boxes stand in predictions.parquet: what each threshold on them would do, as far as counts tell.

Whether boxes match the truth at another threshold cannot be told from results, which do not hold the truth. How many boxes
are left of each sample can: so whether a no-target sample is right (N_acc), whether a target is answered at all (T_acc),
and on how many samples the number of boxes is right, above which no set accuracy can be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.report.board import Board
from groundeval.report.plots import figure
from groundeval.report.plots.figure import Plot
from groundeval.report.plots.models import Model, whom

STEPS = 100
LINES = {"no target, no box (N_acc)": "-", "target, any box (T_acc)": "--", "right number of boxes": ":"}


def plots(board: Board, models: Sequence[Model]) -> Iterator[Plot]:
    """One plot of the runs with scores from 0 to 1; nothing where there are none, or no boxes."""
    found = [(i, model, swept) for i, model in enumerate(models) if (swept := _swept(model)) is not None]
    if not found:
        return
    at = np.arange(STEPS + 1) / STEPS
    drawn, panels = figure.figure(5.6 + 0.1 * len(found), rows=len(LINES), width=4.6)
    for axes, (title, dash) in zip(panels, LINES.items(), strict=True):
        axes.set_title(title, fontsize=9)
        figure.share(axes)
        for i, model, swept in found:
            axes.plot(at, swept[title], color=figure.look(i)[0], linestyle=dash)
            chosen = model.run.options.get("score_threshold")
            if isinstance(chosen, int | float):
                value = np.interp(chosen, at, swept[title])
                axes.plot(chosen, value, marker=figure.MARKERS[i], color=figure.look(i)[0], markersize=5)
    panels[-1].set_xlabel("score threshold")
    figure.legend(drawn, {i: model.label for i, model, _ in found}, markers=True)
    rows = [
        (model.label, t, *(None if np.isnan(swept[name][step]) else float(swept[name][step]) for name in LINES))
        for _, model, swept in found
        for step, t in enumerate(at.tolist())
    ]
    told = figure.table(["model", "score threshold", *LINES], rows)
    lacking = " Runs whose boxes have no scores are not drawn." if len(found) < len(models) else ""
    caption = (
        "Shares of samples if boxes were kept from another score on; marks: the thresholds of the runs. Set accuracy "
        "is not drawn: it needs the truth's boxes, which results do not hold; it is nowhere above the third panel."
        f"{lacking}{whom(board, models)}"
    )
    title = "Score thresholds"
    yield Plot("thresholds", title, caption, figure.svg(drawn, "thresholds", title), told)


def _swept(model: Model) -> dict[str, NDArray[np.float64]] | None:
    """The share of each of LINES at each threshold; None without scores, or with others than 0 to 1."""
    path, samples = model.evidence.folder / "predictions.parquet", model.evidence.arrays
    if "true" not in samples or not path.is_file():
        return None
    table = tables.read(path).sort_by("sample_id")
    if table.column("sample_id").to_pylist() != samples["sample_id"].tolist():
        return None
    lists = table.column("scores").combine_chunks()
    scores = lists.flatten().to_numpy(zero_copy_only=False)
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return None
    return _shares(_kept(lists, scores), samples["true"], np.isin(samples["status"], ("answered", "none")))


def _kept(lists: pa.Array, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many boxes of each sample are at or above each threshold: [thresholds, n]."""
    sizes = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    of = np.repeat(np.arange(len(sizes)), sizes)
    return np.stack([np.bincount(of[scores >= t / STEPS], minlength=len(sizes)) for t in range(STEPS + 1)])


def _shares(
    kept: NDArray[np.int64], true: NDArray[np.int64], usable: NDArray[np.bool_]
) -> dict[str, NDArray[np.float64]]:
    """A missing or invalid answer is wrong in each."""
    target = true > 0
    right = {
        "no target, no box (N_acc)": ((kept == 0) & usable)[:, ~target],
        "target, any box (T_acc)": (kept > 0)[:, target],
        "right number of boxes": (kept == true) & usable,
    }
    return {n: r.mean(axis=1) if r.shape[1] else np.full(len(r), np.nan) for n, r in right.items()}
