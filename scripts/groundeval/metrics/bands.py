"""Pointwise 95 % bands of precision-recall curves, from histograms of each sample."""

from __future__ import annotations

import numpy as np

from groundeval.metrics import intervals
from groundeval.metrics.bootstrap import Floats, Integers, replicates
from groundeval.metrics.terms import divided

RECALLS = np.arange(1, 51) / 50
Band = tuple[Floats, Floats, Floats]  # recalls, and the two ends at each


def band(positive: Integers, negative: Integers, lost: Integers, clusters: Integers) -> Band:
    """The precision at the highest threshold that reaches each of RECALLS, as percentiles of bootstrap replicates.

    positive, negative: pixels [n, levels] of each sample by level, ascending; lost [n, 2]: positive ones that no
    threshold finds, negative ones that each takes. An end is NaN where more than one replicate in forty does not reach.
    """
    _, labels = np.unique(clusters, return_inverse=True)
    sums = replicates(np.hstack([positive, negative, lost]), labels)
    found = precisions(*np.split(sums, [positive.shape[1], 2 * positive.shape[1]], axis=1))
    low, high = np.full((2, len(RECALLS)), np.nan)
    count = int(labels.max(initial=0)) + 1
    for i, drawn in enumerate(found.T):
        reached = drawn[~np.isnan(drawn)]
        if len(reached) >= 0.975 * len(drawn):
            low[i], high[i] = intervals.percentiles(reached, count)
    return RECALLS, low, high


def precisions(positive: Floats, negative: Floats, lost: Floats) -> Floats:
    """[B, recalls], of sums as `band` takes them; NaN where a recall is not reached."""
    tp, fp = np.cumsum(positive[:, ::-1], axis=1), np.cumsum(negative[:, ::-1], axis=1) + lost[:, 1:]
    total = tp[:, -1:] + lost[:, :1]
    precision = np.pad(divided(tp, tp + fp), ((0, 0), (0, 1)), constant_values=np.nan)
    pairs = zip(tp, total, strict=True)  # tp never falls
    first = np.stack([np.searchsorted(found, RECALLS * positives) for found, positives in pairs])
    out: Floats = np.take_along_axis(precision, first, axis=1)
    return out
