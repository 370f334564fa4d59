"""Confusion matrices of class maps, and what is read off them.

Rows are the truth. The last column, "outside", holds pixels whose predicted value is no class at all: they are wrong
answers for the row's class and for nobody's precision. Ignore is decided by the truth alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.metrics.histogram import add_pairs
from groundeval.metrics.ratios import Metric, mean, ratio

_STORED = (np.uint8, np.uint16)

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
    prediction: uint8 or uint16 [H, W]. Another truth value, dtype or shape raises ValueError.
    """
    if truth.shape != prediction.shape or truth.dtype != np.uint8 or prediction.dtype not in _STORED:
        shapes = f"truth {truth.dtype} {truth.shape}, prediction {prediction.dtype} {prediction.shape}"
        raise ValueError(f"class maps must have one shape and be uint8, predictions uint8 or uint16: {shapes}")
    if prediction.max(initial=0) > classes:
        prediction = np.minimum(prediction, prediction.dtype.type(classes))
    cells = np.zeros((max(truth_values, int(truth.max(initial=0)) + 1), classes + 1), np.int64)
    add_pairs(cells[None], truth, prediction[None])
    if ignore is not None and ignore < len(cells):
        cells[ignore] = 0
    if cells[truth_values:].any():
        strange = truth_values + np.flatnonzero(cells[truth_values:].any(axis=1))[0]
        raise ValueError(f"{cells[truth_values:].sum()} truth pixels are no class, lowest value {strange}")
    return cells[:truth_values]


def class_map(scores: NDArray[Any]) -> NDArray[np.uint8]:
    """The class with the highest score at each pixel of [C, H, W], the lowest class where several tie: uint8 [H, W]."""
    if (
        scores.dtype == np.float16
    ):  # which NumPy compares slowly; without a sign, its bits are in the order of its values
        bits = scores.view(np.uint16)
        scores = bits if bits.max(initial=0) < 0x8000 else scores.astype(np.float32)
    best, classes = scores[0], np.zeros(scores.shape[1:], np.uint8)
    for c, score in enumerate(scores[1:], start=1):
        kept = (score <= best).view(np.uint8)
        classes = c + kept * (classes - np.uint8(c))  # modulo 256; much faster than assigning to a mask
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
