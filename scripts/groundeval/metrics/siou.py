"""sIoU, the stuff IoU of GENNAV (arXiv 2508.21102): an IoU that saturates, averaged over k = 1..n. Decided in integers.

sIoU@k of a true positive is min(k * I/U, 1), so its mean over k is (sum of min(k * I, U)) / (n * U): a ratio of
integers, divided once. I and U are the pixels of intersection and union of one sample, int64 [samples]; n * U stays far
below 2^63 for any image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


def saturated_sums(intersection: Counts, union: Counts, steps: int) -> Counts:
    """Sum over k = 1..steps of min(k * I, U), int64 [samples]: the numerator of the mean sIoU over steps * U."""
    scaled = intersection[:, None] * np.arange(1, steps + 1, dtype=np.int64)
    sums: Counts = np.minimum(scaled, union[:, None]).sum(axis=1)
    return sums


def mean_siou(intersection: Counts, union: Counts, hit: Flags, rejected: Flags, steps: int) -> NDArray[np.float64]:
    """The mean of sIoU@k over k = 1..steps, a fraction for each sample, float64 [samples].

    hit: true positives, where both sides have a pixel, so that U > 0. rejected: true negatives, 1 by definition: they
    are never told from an IoU, which does not exist for empty against empty. Everything else is 0.
    """
    numerators = saturated_sums(intersection, union, steps)
    return np.divide(numerators, steps * union, out=rejected.astype(np.float64), where=hit)


def circulated_recipe(intersection: Counts, union: Counts, target: Flags) -> NDArray[np.float64]:
    """What the recipe that circulates computes: mean over k = 1..10 of min(k/10 * IoU, 1), and 1 without a target.

    Its k/K never exceeds 1, so a target scores exactly 0.55 * IoU; where there is no target its IoU is 0 whatever was
    predicted (0 also for empty against empty, as pycocotools has it), which it takes for a true negative.
    """
    return np.divide(55 * intersection, 100 * union, out=np.where(target, 0.0, 1.0), where=target)


def iou_exceeds(intersection: Counts, union: Counts, tenths: int) -> Flags:
    """IoU > tenths/10, strictly and in integers: 10 * I > tenths * U. False where U is 0."""
    return 10 * intersection > tenths * union
