"""Confusion matrices of class maps, and what is read off them.

Rows are the truth. The last column, "outside", holds pixels whose predicted value is no class at all: they are wrong
answers for the row's class and for nobody's precision. Ignore is decided by the truth alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.histogram import histogram
from groundeval.metrics.ratios import Metric, mean, ratio

ABSENT = "the class is absent from the truth and the predictions"
NO_TRUTH = "the class is absent from the truth"
NEVER_PREDICTED = "the class is never predicted"


def confusion(
    truth: NDArray[np.uint8],
    prediction: NDArray[Any],
    truth_values: int,
    classes: int,
    ignore: int | None = None,
) -> NDArray[np.int64]:
    """Pixel counts [truth_values, classes + 1] of one image; column `classes` counts predicted values outside the set.

    truth: uint8 [H, W] with values below truth_values, or `ignore` (those pixels are not counted at all);
    prediction: unsigned integers [H, W]. Another truth value, dtype or shape raises ValueError.
    """
    if truth.shape != prediction.shape or truth.dtype != np.uint8 or prediction.dtype.kind != "u":
        shapes = f"truth {truth.dtype} {truth.shape}, prediction {prediction.dtype} {prediction.shape}"
        raise ValueError(f"class maps must be unsigned integers of one shape, truth uint8: {shapes}")
    columns = classes + 1
    starts = _row_starts(truth_values, columns, ignore)
    index = cv2.LUT(np.ascontiguousarray(truth), starts).reshape(truth.shape)
    index += np.minimum(prediction, prediction.dtype.type(classes)).astype(index.dtype, copy=False)
    cells = histogram(index, (truth_values + 2) * columns).reshape(truth_values + 2, columns)
    if cells[-1].any():
        first = int(truth[index >= (truth_values + 1) * columns][0])
        raise ValueError(f"{int(cells[-1].sum())} truth pixels are no class, first value {first}")
    return cells[:truth_values]


@lru_cache(maxsize=16)
def _row_starts(truth_values: int, columns: int, ignore: int | None) -> NDArray[Any]:
    """For each truth byte the cell at which its row starts; two rows follow: ignored pixels, and impossible ones."""
    last = truth_values + 1
    rows = np.full(256, last)
    rows[:truth_values] = np.arange(truth_values)
    if ignore is not None:
        rows[ignore] = truth_values
    return (rows * columns).astype(np.uint8 if (last + 1) * columns <= 256 else np.uint16)


def class_map(scores: NDArray[Any]) -> NDArray[np.uint8]:
    """The class with the highest score at each pixel of [C, H, W], the lowest class where several tie: uint8 [H, W]."""
    best, classes = scores[0], np.zeros(scores.shape[1:], np.uint8)
    for c, score in enumerate(scores[1:], start=1):
        better = score > best
        classes[better] = c
        best = np.maximum(best, score)
    return classes


def merge_rows(matrix: NDArray[np.int64], table: Sequence[int], classes: int) -> NDArray[np.int64]:
    """Add the rows of finer truth values into their classes: table[value] is the class; gives [classes, columns]."""
    merged = np.zeros((classes, matrix.shape[1]), np.int64)
    np.add.at(merged, np.asarray(table), matrix)
    return merged


def per_class(matrix: NDArray[np.int64], names: Sequence[str]) -> dict[str, Metric]:
    """`IoU/<class>`, `Fsc/<class>`, `precision/<class>`, `recall/<class>` of a matrix [C, C + 1], as fractions.

    With tp, fp, fn in pixels: IoU = tp / (tp + fp + fn), F = 2tp / (2tp + fp + fn), so that F = 2 IoU / (1 + IoU)
    holds exactly between the stored numerators and denominators. A class that is nowhere has no value.
    """
    out: dict[str, Metric] = {}
    for c, name in enumerate(names):
        tp, support, said = (int(n) for n in (matrix[c, c], matrix[c].sum(), matrix[:, c].sum()))
        out[f"IoU/{name}"] = ratio(tp, support + said - tp, "fraction", ABSENT)
        out[f"Fsc/{name}"] = ratio(2 * tp, support + said, "fraction", ABSENT)
        out[f"precision/{name}"] = ratio(tp, said, "fraction", NEVER_PREDICTED if support else ABSENT)
        out[f"recall/{name}"] = ratio(tp, support, "fraction", NO_TRUTH)
    return out


def present(matrix: NDArray[np.int64], names: Sequence[str]) -> list[str]:
    """The classes that the truth has, in order: the ones that means are over."""
    return [name for name, pixels in zip(names, matrix.sum(axis=1), strict=True) if pixels]


def class_mean(metrics: dict[str, Metric], prefix: str, over: Sequence[str]) -> Metric:
    """The mean of `prefix/<class>` over the classes given; its denominator says how many. None if one has no value."""
    found = [metrics[f"{prefix}/{name}"] for name in over]
    lacking = next((m.reason for m in found if m.value is None), None)
    if lacking:
        return Metric(None, "fraction", None, None, reason=lacking)
    values = np.array([m.value for m in found], np.float64)
    return mean(values, "fraction", "no class is present in the truth")
