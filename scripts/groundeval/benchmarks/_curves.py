"""Run-level counts for precision-recall curves, one class against the rest, kept under names in `totals`.

{scale}/{dtype}/positives, negatives    int64 [C, levels] for uint8, uint16 and float16 (by bit pattern): they add up
{scale}/float32/{c}/positives/{id}      the scores themselves, so that no two of them tie that did not tie before
{scale}/lost                            int64 [C], positive pixels of samples without a usable answer
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics import curves
from groundeval.metrics.ratios import Metric

Totals = Mapping[str, NDArray[Any]]
_NO_CLASS = 255


def add(
    totals: dict[str, NDArray[Any]],
    scale: str,
    sample_id: str,
    merge: Sequence[int],
    classes: int,
    labels: NDArray[np.uint8],
    scores: NDArray[Any] | None,
) -> None:
    """Count one image. labels [H, W]: truth values, of which v is class merge[v] and others are ignored;
    scores: [C, H, W], None for a sample without an answer. A class map [H, W] has no curve.
    """
    if scores is not None and scores.ndim == 2:
        return
    table = np.full(256, _NO_CLASS, np.uint8)
    table[: len(merge)] = merge
    truth = table[labels]
    if scores is None:
        _add_to(totals, f"{scale}/lost", np.bincount(truth.ravel(), minlength=256)[:classes])
    elif scores.dtype == np.float32:
        _keep(totals, f"{scale}/float32", sample_id, truth, scores)
    else:
        positives, negatives = _histograms(truth, scores)
        _add_to(totals, f"{scale}/{scores.dtype.name}/positives", positives)
        _add_to(totals, f"{scale}/{scores.dtype.name}/negatives", negatives)


def _histograms(truth: NDArray[np.uint8], scores: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    valid = truth != _NO_CLASS
    positives = np.stack([curves.levels(score[truth == c]) for c, score in enumerate(scores)])
    everything = np.stack([curves.levels(score if valid.all() else score[valid]) for score in scores])
    return positives, everything - positives


def _keep(
    totals: dict[str, NDArray[Any]], prefix: str, name: str, truth: NDArray[np.uint8], scores: NDArray[Any]
) -> None:
    for c, score in enumerate(scores):
        totals[f"{prefix}/{c}/positives/{name}"] = score[truth == c]
        totals[f"{prefix}/{c}/negatives/{name}"] = score[(truth != c) & (truth != _NO_CLASS)]


def _add_to(totals: dict[str, NDArray[Any]], name: str, counts: NDArray[np.int64]) -> None:
    if name in totals:
        totals[name] += counts
    else:
        totals[name] = counts.astype(np.int64)


def averages(totals: Totals, scale: str, classes: Sequence[str]) -> dict[str, Metric]:
    """`AP/<class>` and `AP_11point/<class>`; empty where there are no scores."""
    out: dict[str, Metric] = {}
    for c, name in enumerate(classes):
        if found := _points(totals, scale, c):
            summary = curves.summarise(*found)
            out |= {f"AP/{name}": summary.ap(), f"AP_11point/{name}": summary.ap_11point()}
    return out


def thinned(totals: Totals, scale: str, c: int) -> Iterator[tuple[float, float, float]]:
    """(recall, precision, threshold) of one class; nothing where it has no scores or no positives."""
    found = _points(totals, scale, c)
    if found and found[1]:
        yield from curves.thinned(*found)


def _points(totals: Totals, scale: str, c: int) -> tuple[Iterator[curves.Points], int] | None:
    """The points of a curve and how many positives there are in all; None without scores."""
    lost = int(totals[f"{scale}/lost"][c]) if f"{scale}/lost" in totals else 0
    for dtype in curves.LEVELS:
        if f"{scale}/{dtype}/positives" in totals:
            parts = (totals[f"{scale}/{dtype}/{part}"][c] for part in ("positives", "negatives"))
            hp, hn = (curves.ascending(part, dtype) for part in parts)
            return curves.from_histograms(hp, hn, curves.level_values(dtype)), int(hp.sum()) + lost
    positives, negatives = (_kept(totals, f"{scale}/float32/{c}/{part}/") for part in ("positives", "negatives"))
    if positives is None or negatives is None:
        return None
    return curves.from_scores(positives, negatives), len(positives) + lost


def _kept(totals: Totals, prefix: str) -> NDArray[np.float32] | None:
    """All scores that were kept under a prefix, in one new array."""
    parts = [values for name, values in totals.items() if name.startswith(prefix)]
    return np.concatenate(parts) if parts else None
