"""Matching predicted with true boxes, one to one, for many samples at once.

Every function takes overlaps or permitted pairs [p, t, n] (prediction, truth, sample) and returns the number of matched
pairs of each sample, int64 [n]. A pair may match where its overlap is >= the threshold, compared in the array's dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Counts = NDArray[np.int64]
_FEW = 6  # up to 2^6 sets of boxes are tried at once; more boxes are matched sample by sample


def without_choice(permitted: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.intp]]:
    """The number of pairs where one side has no choice, and the samples in which both have one.

    No method here leaves a permitted pair of two free boxes behind. So where no prediction, or no truth, has more than
    one permitted partner, all of them match the same number, and it need only be counted. That settles nearly all
    samples; those returned have to be matched.
    """
    of_predictions, of_truths = permitted.sum(axis=1, dtype=np.int32), permitted.sum(axis=0, dtype=np.int32)
    matched = np.minimum((of_predictions > 0).sum(axis=0), (of_truths > 0).sum(axis=0))
    unsure = np.flatnonzero((of_predictions > 1).any(axis=0) & (of_truths > 1).any(axis=0))
    return matched, unsure


def maximum(permitted: NDArray[np.bool_]) -> Counts:
    """The largest number of pairs that any one-to-one matching reaches. No order of boxes changes it."""
    few, many = sorted(permitted.shape[:2])
    if few <= _FEW and many < 64:
        return _by_deficiency(permitted if permitted.shape[0] == few else permitted.swapaxes(0, 1))
    return np.array([_augmented(permitted[:, :, i]) for i in range(permitted.shape[2])], np.int64)


def largest_first(overlap: Floats, threshold: float, keys: Floats) -> Counts:
    """Take the largest overlap of the whole matrix, strike out its row and column, repeat while it is >= threshold.

    Of equal overlaps the one of the prediction with the larger keys goes first, then the earlier truth.
    keys: [k, p, n], most significant first. With keys (score, x1, y1, x2, y2) this is the loop of the official GREC
    evaluator (henghuiding/gRefCOCO, mdetr/datasets/refexp.py, `RefExpEvaluator.summarize`), which sorts by them.
    """
    samples = np.arange(overlap.shape[2])
    order = np.lexsort(tuple(-keys[::-1]), axis=0)
    left = np.take_along_axis(overlap, order[:, None], axis=0)
    matched = np.zeros(len(samples), np.int64)
    for _ in range(min(left.shape[:2])):
        row, column, best = _largest(left)
        matched += best >= threshold
        left[row, :, samples] = -np.inf
        left[:, column, samples] = -np.inf
    return matched


def in_order(overlap: Floats, threshold: float) -> Counts:
    """Each prediction in its order takes the free truth that it overlaps most, if that is >= threshold.

    The recipe that circulates in re-implementations; the order of the predictions changes its result.
    """
    left = overlap.copy()
    matched = np.zeros(left.shape[2], np.int64)
    for row in left:
        column = row.argmax(axis=0)
        taken = np.flatnonzero(row[column, np.arange(len(matched))] >= threshold)
        matched[taken] += 1
        left[:, column[taken], taken] = -np.inf
    return matched


def _largest(matrix: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Row, column and value of the largest entry of each sample; of equal ones the first in row-major order."""
    flat = matrix.reshape(-1, matrix.shape[2])
    position = flat.argmax(axis=0)
    row, column = np.divmod(position, matrix.shape[1])
    return row, column, flat[position, np.arange(flat.shape[1])]


def _by_deficiency(permitted: NDArray[np.bool_]) -> Counts:
    """The largest matching of k rows leaves as many without a partner as the worst set of rows lacks partners (Ore 1955):
    k - max over sets S of (|S| - |partners of S|). All 2^k sets of all samples at once; sets of partners are bits.
    """
    k, columns, _ = permitted.shape
    own = np.tensordot(1 << np.arange(columns), permitted, (0, 1))
    partners = [np.zeros_like(own[0])]
    fewest = np.full(len(own[0]), k)
    for rows in range(1, 1 << k):
        last = rows.bit_length() - 1
        partners.append(partners[rows ^ (1 << last)] | own[last])
        fewest = np.minimum(fewest, np.bitwise_count(partners[rows]) + (k - rows.bit_count()))
    return fewest


def _augmented(permitted: NDArray[np.bool_]) -> int:
    """Size of a maximum matching [p, t]: one search for an augmenting path from each prediction (Kuhn)."""
    choices = [np.flatnonzero(row).tolist() for row in permitted]
    partner: dict[int, int] = {}  # truth -> prediction
    return sum(_augment(prediction, choices, partner) for prediction in range(len(choices)))


def _augment(start: int, choices: list[list[int]], partner: dict[int, int]) -> bool:
    """Breadth first from `start` to a free truth; then every prediction on the way moves on by one truth."""
    reached: dict[int, int] = {}  # truth -> the prediction that reached it
    queue = [start]
    for prediction in queue:
        for truth in choices[prediction]:
            if truth in reached:
                continue
            reached[truth] = prediction
            if truth not in partner:
                _turn(truth, start, reached, partner)
                return True
            queue.append(partner[truth])
    return False


def _turn(truth: int, start: int, reached: dict[int, int], partner: dict[int, int]) -> None:
    """Give each truth of the path to the prediction that reached it, and free that one's former truth."""
    held = {prediction: t for t, prediction in partner.items()}
    while True:
        prediction = reached[truth]
        partner[truth] = prediction
        if prediction == start:
            return
        truth = held[prediction]
