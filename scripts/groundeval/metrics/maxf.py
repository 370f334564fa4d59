"""MaxF, average precision and the rates at the best threshold, from 256-bin histograms of 8-bit confidences.

Source: Fritsch, Kuehnl, Geiger, "A New Performance Measure and Evaluation Benchmark for Road Detection Algorithms",
ITSC 2013, section IV; the 11-point average precision is that of PASCAL VOC 2007. Everything follows from sums of
integers, so any grouping of images is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.ratios import Metric, mean, ratio

LEVELS = 256
RECALL_POINTS = 11  # 0, 0.1, ... 1
NAMES = ("MaxF", "AP", "PRE", "REC", "FPR", "FNR")

_CHUNK = 1 << 24  # OpenCV counts in float32, which holds every integer up to here


def histograms(classes: NDArray[np.uint8], confidence: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Counts of each confidence as int64 [2, 256], in row 0 where the class is 0, in row 1 where it is 1.

    classes, confidence: uint8 arrays of the same shape. Pixels of other classes are left out.
    """
    flat, values = classes.reshape(-1, 1), confidence.reshape(-1, 1)
    out = np.zeros((2, LEVELS), np.int64)
    for start in range(0, len(flat), _CHUNK):
        pair = [flat[start : start + _CHUNK], values[start : start + _CHUNK]]
        counted = cv2.calcHist(pair, [0, 1], None, [2, LEVELS], [0, 2, 0, LEVELS])
        out += counted.reshape(2, LEVELS).astype(np.int64)
    return out


@dataclass(frozen=True)
class Curve:
    """Counts at each threshold k = 0 .. 255, at which a pixel is positive iff its confidence is at least k.

    tp, fp: int64 [256], falling; positives, negatives: all pixels of the two classes.
    """

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    positives: int
    negatives: int

    @property
    def precision(self) -> NDArray[np.float64]:
        """TP / (TP + FP) as float64 [256]; 0 where nothing is positive, so that it never is the highest."""
        called, out = self.tp + self.fp, np.zeros(len(self.tp))
        np.divide(self.tp, called, out=out, where=called > 0)
        return out

    @property
    def recall(self) -> NDArray[np.float64]:
        """TP / P as float64 [256]; 0 where there are no positives."""
        return self.tp / np.float64(max(self.positives, 1))

    @property
    def best(self) -> int:
        """The lowest threshold with the highest F1 = 2 TP / (2 TP + FP + FN); 0 where no pixel is counted."""
        sizes = self.tp + self.fp + self.positives
        return int(np.argmax(np.divide(2 * self.tp, sizes, out=np.zeros(len(sizes)), where=sizes > 0)))


def curve(positive: NDArray[np.int64], negative: NDArray[np.int64], lost: tuple[int, int] = (0, 0)) -> Curve:
    """The curve of two histograms [256], of the positive and of the negative pixels.

    lost: positive and negative pixels of images that have no usable answer. They are wrong at every threshold: the
    positive ones are never found, the negative ones are always called positive.
    """
    tp, fp = (np.cumsum(h[::-1], dtype=np.int64)[::-1] for h in (positive, negative))
    return Curve(tp, fp + lost[1], int(tp[0]) + lost[0], int(fp[0]) + lost[1])


def average_precision(of: Curve) -> Metric:
    """The mean, over the recalls 0, 0.1 .. 1, of the highest precision at a threshold with at least that recall.

    A recall that no threshold reaches adds 0. Recalls are compared as integers (10 TP >= t P), never as rounded tenths.
    """
    steps = RECALL_POINTS - 1
    reached = [of.precision[steps * of.tp >= t * of.positives] for t in range(RECALL_POINTS)]
    return mean(np.array([p.max(initial=0) for p in reached]), "percent")


def metrics(of: Curve) -> dict[str, Metric]:
    """MaxF, AP, PRE, REC, FPR, FNR in percent, and `threshold`, the best one as a fraction k / 255.

    Without a positive pixel there is no recall: every value is None.
    """
    if of.positives == 0:
        return absent("no road pixel in the truth")
    k = of.best
    tp, fp, fn = int(of.tp[k]), int(of.fp[k]), of.positives - int(of.tp[k])
    at_best = {
        "MaxF": ratio(2 * tp, 2 * tp + fp + fn, "percent"),
        "AP": average_precision(of),
        "PRE": ratio(tp, tp + fp, "percent", "no pixel is called road"),
        "REC": ratio(tp, tp + fn, "percent"),
        "FPR": replace(ratio(fp, of.negatives, "percent", "no other pixel in the truth"), direction="lower"),
        "FNR": replace(ratio(fn, of.positives, "percent"), direction="lower"),
    }
    return at_best | {"threshold": _threshold(k)}


def absent(reason: str) -> dict[str, Metric]:
    """The same names without values."""
    lower = ("FPR", "FNR")
    rates = {n: Metric(None, "percent", None, None, "lower" if n in lower else "higher", reason) for n in NAMES}
    return rates | {"threshold": Metric(None, "fraction", None, None, reason=reason)}


def _threshold(k: int) -> Metric:
    warning = "best threshold 0: every pixel is called road, so this is no better than the all-positive baseline"
    return replace(ratio(k, LEVELS - 1, "fraction"), reason=None if k else warning)
