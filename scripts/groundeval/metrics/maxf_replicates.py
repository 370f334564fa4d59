"""What maxf.metrics says of one curve, for many curves at once: the replicates of a bootstrap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.maxf import RECALL_POINTS
from groundeval.metrics.terms import divided

Floats = NDArray[np.float64]


def shares(road: Floats, other: Floats, lost: Floats) -> dict[str, Floats]:
    """MaxF, AP, PRE, REC, FPR, FNR as shares [B], from integers: histograms [B, 256] and lost pixels [B, 2].

    NaN where a metric does not exist. The definitions are those of metrics.maxf.
    """
    tp, fp = (np.cumsum(histogram[:, ::-1], axis=1)[:, ::-1] for histogram in (road, other))
    positives, fp = tp[:, :1] + lost[:, :1], fp + lost[:, 1:]
    f1 = divided(2 * tp, tp + fp + positives, empty=0)
    best = np.argmax(f1, axis=1)[:, None]
    at_tp, at_fp = (np.take_along_axis(counts, best, axis=1) for counts in (tp, fp))
    found = {
        "MaxF": np.take_along_axis(f1, best, axis=1),
        "AP": _average_precision(tp, fp, positives),
        "PRE": divided(at_tp, at_tp + at_fp),
        "REC": divided(at_tp, positives),
        "FPR": divided(at_fp, fp[:, :1]),
        "FNR": divided(positives - at_tp, positives),
    }
    return {name: np.where(positives > 0, values, np.nan)[:, 0] for name, values in found.items()}


def _average_precision(tp: Floats, fp: Floats, positives: Floats) -> Floats:
    """[B, 1]. A recall is reached at all thresholds up to one, so the highest precision is a running maximum."""
    precision, steps = divided(tp, tp + fp, empty=0), RECALL_POINTS - 1
    highest = np.maximum.accumulate(precision, axis=1)
    total, scaled = np.zeros(len(tp)), steps * tp
    for t in range(RECALL_POINTS):
        reached = (scaled >= t * positives).sum(axis=1)
        total += np.where(reached > 0, highest[np.arange(len(tp)), reached - 1], 0)
    return total[:, None] / RECALL_POINTS
