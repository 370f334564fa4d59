"""Precision-recall curves from counts by level, without sorting pixels where a histogram is exact.

hp, hn: int64 [levels], how many positive and negative pixels have each score, levels ascending. For a threshold at
level k a pixel is positive iff its level >= k. 8- and 16-bit integers are their own levels; float16 has 65536 bit
patterns, put in order by `ascending`; float32 scores are kept and sorted once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.histogram import add_pairs
from groundeval.metrics.ratios import Metric, mean, ratio

LEVELS = {"uint8": 256, "uint16": 65536, "float16": 65536}
DTYPES = (*LEVELS, "float32")
NO_POSITIVES = "the class is absent from the truth"
BLOCK = 1 << 20

Ints = NDArray[np.int64]


def add_levels(tables: Ints, truth: NDArray[np.uint8], scores: NDArray[Any]) -> None:
    """Add to tables [C, classes, LEVELS[dtype]] how often each level (float16: bit pattern) occurs, by score and true class.

    truth: [H, W], of which values from `classes` on are left out; scores: [C, H, W].
    """
    add_pairs(tables, truth, scores.view(np.uint16) if scores.dtype == np.float16 else scores)


def ascending(counts: Ints, dtype: str) -> Ints:
    """Counts [..., levels] in the order of the scores' values. In float16, -0.0 joins 0.0; NaN raises ValueError."""
    if dtype != "float16":
        return counts
    if counts[..., _FLOAT16_NAN].any():
        raise ValueError("NaN among the scores")
    joined = counts.copy()
    joined[..., 0] += joined[..., 0x8000]
    joined[..., 0x8000] = 0
    return joined[..., _FLOAT16_ORDER]


# Negative patterns descend from -0.0 at 0x8000 to the most negative at 0xffff; positive ones ascend from 0.
_FLOAT16_ORDER = np.concatenate([np.arange(0xFFFF, 0x7FFF, -1), np.arange(0x8000)])
_FLOAT16: NDArray[np.float16] = np.arange(65536, dtype=np.uint16).view(np.float16)
_FLOAT16_NAN = np.isnan(_FLOAT16)


def level_values(dtype: str) -> NDArray[Any]:
    """The score of each level, ascending, as `ascending` orders them."""
    if dtype == "float16":
        return np.take(_FLOAT16, _FLOAT16_ORDER)
    return np.arange(LEVELS[dtype])


@dataclass(frozen=True)
class Points:
    """Points of a curve, thresholds descending: the positives at each, and what is at or above it. int64 [n]."""

    threshold: NDArray[Any]
    at: Ints
    tp: Ints
    fp: Ints


def from_histograms(hp: Ints, hn: Ints, values: NDArray[Any] | None = None) -> Iterator[Points]:
    """The points at which recall moves; values [levels] are the thresholds to name (default: the level's index)."""
    tp, fp = (np.cumsum(h[::-1], dtype=np.int64)[::-1] for h in (hp, hn))
    moves = np.flatnonzero(hp)[::-1]
    yield Points(moves if values is None else values[moves], hp[moves], tp[moves], fp[moves])


def from_scores(positives: NDArray[np.float32], negatives: NDArray[np.float32]) -> Iterator[Points]:
    """The same from scores, which are sorted in place, a block at a time. NaN raises ValueError.

    A distinct score may appear in two blocks; its points are then equal and its positives are shared out between them.
    """
    for scores in (positives, negatives):
        scores.sort()
        if len(scores) and np.isnan(scores[-1]):  # NaN sorts last
            raise ValueError("NaN among the scores")
    for end in range(len(positives), 0, -BLOCK):
        threshold, at = np.unique(positives[max(0, end - BLOCK) : end], return_counts=True)
        tp = len(positives) - np.searchsorted(positives, threshold)
        fp = len(negatives) - np.searchsorted(negatives, threshold)
        yield Points(threshold[::-1], at[::-1], tp[::-1], fp[::-1])


@dataclass
class Summary:
    """Average precision of one curve, gathered block by block. positives: all of them, also those without a score."""

    positives: int
    weighted: float = 0.0
    best: NDArray[np.float64] = field(default_factory=lambda: np.zeros(11))

    def add(self, points: Points) -> None:
        """Take in a block of points."""
        precision = points.tp / (points.tp + points.fp)
        self.weighted += float(np.sum(points.at * precision))
        onwards = np.maximum.accumulate(np.append(precision, 0.0)[::-1])[::-1]  # the highest from each point on
        reached = np.searchsorted(points.tp * 10, np.arange(11) * self.positives)
        self.best = np.maximum(self.best, onwards[reached])

    def ap(self) -> Metric:
        """Step-wise: the sum of (R_n - R_{n-1}) P_n, as scikit-learn's average_precision_score defines it."""
        return ratio(self.weighted, self.positives, "fraction", NO_POSITIVES)

    def ap_11point(self) -> Metric:
        """The mean over recall 0, 0.1 .. 1 of the highest precision at that recall or more (PASCAL VOC 2007)."""
        if not self.positives:
            return Metric(None, "fraction", None, 0, reason=NO_POSITIVES)
        return mean(self.best, "fraction")


def summarise(points: Iterable[Points], positives: int) -> Summary:
    """Both averages of one curve. Positives that no point holds (no prediction) are never retrieved."""
    summary = Summary(positives)
    for block in points:
        summary.add(block)
    return summary


def thinned(points: Iterable[Points], positives: int, most: int = 1000) -> Iterator[tuple[float, float, float]]:
    """At most `most` + 1 (recall, precision, threshold) for a plot: the first in each step of recall, and the last."""
    last = -1
    for block in points:
        step = block.tp * most // positives
        kept = np.flatnonzero(np.diff(step, prepend=last))
        last = step[-1] if len(step) else last
        tp, fp, threshold = (a[kept].tolist() for a in (block.tp, block.fp, block.threshold))
        yield from ((t / positives, t / (t + f), float(k)) for t, f, k in zip(tp, fp, threshold, strict=True))
