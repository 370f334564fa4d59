"""Score maps counted at 256 levels, image by image: what the intervals of average precision are drawn from.

An exact curve needs 65536 levels, or every score; kept for each image that would be the score maps over again. The levels
are those of 8-bit scores; for the others they are closest near 0 and 1, where the scores of a classifier are. Every third
pixel each way is counted: how much images differ decides an interval, not how many pixels each has.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.histogram import add_pairs
from groundeval.metrics.terms import divided

LEVELS = 256
WIDTH = 2 * LEVELS + 1  # of a class: positive pixels by level, negative ones, positive ones without a score
_OUTSIDE = 32  # levels for scores below 0, and for those above 1
STEP = 3
_DROPPED = 12  # bits of a float32, of which 11 of the fraction are left
_FARTHEST = 12.0  # log odds from which on, on both sides, there is one level

Floats = NDArray[np.float64]


def counts(truth: NDArray[np.uint8], scores: NDArray[Any], classes: int) -> NDArray[np.int64]:
    """Of each class against the rest, int64 [classes, WIDTH]. truth: [H, W], others than classes are left out;
    scores: [classes, H, W] of uint8, uint16, float16 or float32."""
    tables = np.zeros((classes, classes, LEVELS), np.int64)
    seen = np.ascontiguousarray(truth[::STEP, ::STEP])
    add_pairs(tables, seen, np.ascontiguousarray(levels(scores[:, ::STEP, ::STEP])))
    own = np.arange(classes)
    positive = tables[own, own]
    unscored = np.zeros((classes, 1), np.int64)
    return np.hstack([positive, tables.sum(axis=1) - positive, unscored])


def lost(truth: NDArray[np.uint8], classes: int) -> NDArray[np.int64]:
    """The same of an image without a usable answer: no pixel is ever retrieved."""
    out = np.zeros((classes, WIDTH), np.int64)
    out[:, -1] = np.bincount(truth[::STEP, ::STEP].ravel(), minlength=256)[:classes]
    return out


def levels(scores: NDArray[Any]) -> NDArray[np.uint8]:
    """The level of each score: it never falls where the score rises."""
    if scores.dtype == np.uint8:
        return np.asarray(scores, np.uint8)
    if scores.dtype == np.uint16:
        return np.asarray(_of_integers().take(scores), np.uint8)
    if scores.dtype == np.float16:
        return np.asarray(_of_halves().take(scores.view(np.uint16)), np.uint8)
    return np.asarray(_of_singles().take(scores.view(np.uint32) >> _DROPPED), np.uint8)


@cache
def _of_integers() -> NDArray[np.uint8]:
    return _level(np.arange(1 << 16) / 65535)


@cache
def _of_halves() -> NDArray[np.uint8]:
    return _level(np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64))


@cache
def _of_singles() -> NDArray[np.uint8]:
    """By the leading bits: their values without the dropped ones rise as the values do."""
    patterns = np.arange(1 << (32 - _DROPPED), dtype=np.uint32) << _DROPPED
    with np.errstate(invalid="ignore"):  # NaN
        values = patterns.view(np.float32).astype(np.float64)
    return _level(values)


def _level(values: Floats) -> NDArray[np.uint8]:
    """Steps of log odds from 0 to 1, of the size below and above; NaN, which no reader lets in, has some level."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds = np.log(values / (1 - values))
        steps = LEVELS - 2 * _OUTSIDE - 2  # one level is left for 0 itself, and one for 1
        between = _OUTSIDE + 1 + np.floor((odds + _FARTHEST) / (2 * _FARTHEST) * steps).clip(0, steps - 1)
        far = np.floor(3 * np.log2(np.abs(np.where(values < 0, values - 1, values)))).clip(0, _OUTSIDE - 1)
    chosen = [values < 0, values == 0, values == 1, values > 1]
    out = np.select(chosen, [_OUTSIDE - 1 - far, _OUTSIDE, LEVELS - _OUTSIDE - 1, LEVELS - _OUTSIDE + far], between)
    return np.asarray(np.nan_to_num(out), np.uint8)


def average_precision(sums: Floats) -> tuple[Floats, Floats]:
    """Step-wise and 11-point average precision [B], as metrics.curves defines them, from sums [B, WIDTH].

    NaN where there is no positive pixel.
    """
    at = sums[:, LEVELS - 1 :: -1]
    tp, fp = np.cumsum(at, axis=1), np.cumsum(sums[:, -2 : LEVELS - 1 : -1], axis=1)
    positives = tp[:, -1] + sums[:, -1]
    precision = divided(tp, tp + fp, empty=0)
    onwards = np.maximum.accumulate(np.pad(precision, ((0, 0), (0, 1)))[:, ::-1], axis=1)[:, ::-1]
    total = np.zeros(len(sums))
    for t in range(11):
        reached = (10 * tp < t * positives[:, None]).sum(axis=1)
        total += onwards[np.arange(len(sums)), reached]
    missing = np.where(positives > 0, 0.0, np.nan)
    return divided((at * precision).sum(axis=1), positives), total / 11 + missing
