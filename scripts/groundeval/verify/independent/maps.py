"""Class maps: every pixel of the evaluated size looked up and counted, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Row = dict[str, Any]
HEIGHT, WIDTH = 320, 480  # the size at which both benchmarks count


def _map(row: Row) -> Any:
    if row["map"] is None:
        return None
    return np.frombuffer(row["map"], row["dtype"]).reshape(row["dims"])


def confusion(truth: Any, answer: Any, values: int, classes: int, ignored: int | None) -> list[int]:
    """Counts [values * (classes + 1)], row-major; the last column is for pixels without a usable class.

    A pixel's source is the one at its centre: ((2 * i + 1) * size) // (2 * wanted). Of score maps the first largest wins.
    """
    out = [0] * (values * (classes + 1))
    for y in range(HEIGHT):
        row = truth[_source(y, truth.shape[-2], HEIGHT)]
        for x in range(WIDTH):
            expected = int(row[_source(x, truth.shape[-1], WIDTH)])
            if expected != ignored:
                out[expected * (classes + 1) + _class(answer, y, x, classes)] += 1
    return out


def _source(at: int, size: int, wanted: int) -> int:
    return ((2 * at + 1) * size) // (2 * wanted)


def _class(answer: Any, y: int, x: int, classes: int) -> int:
    if answer is None:
        return classes
    i, j = _source(y, answer.shape[-2], HEIGHT), _source(x, answer.shape[-1], WIDTH)
    if answer.ndim == 2:
        return min(int(answer[i, j]), classes)
    scores = [float(s) for s in answer[:, i, j]]
    return scores.index(max(scores))


class _ClassMaps:
    VALUES: int
    CLASSES: int
    IGNORED: int | None = None
    NOT_COVERED: tuple[str, ...] = (
        "native size, average precision and other curves, the readers (level 4), the merge of label ids",
    )

    @classmethod
    def counts(cls, manifest: Row, truth: Row, answer: Row, options: Row) -> dict[str, list[int]]:
        """The confusion matrix of one sample."""
        del manifest, options
        return {"confusion": confusion(_map(truth), _map(answer), cls.VALUES, cls.CLASSES, cls.IGNORED)}

    @classmethod
    def metrics(cls, samples: Sequence[Row]) -> dict[str, Fraction | None]:
        """Of all samples: nothing, where the classes come from a merge table."""
        del samples
        return {}


class Gmrp(_ClassMaps):
    """GMRP: three classes, all of them scored."""

    VALUES, CLASSES = 3, 3

    @classmethod
    def metrics(cls, samples: Sequence[Row]) -> dict[str, Fraction | None]:
        """The mean IoU over the classes that the truth has."""
        width = cls.CLASSES + 1
        summed = [sum(column) for column in zip(*(s["confusion"] for s in samples), strict=True)]
        ious = []
        for c in range(cls.CLASSES):
            support = sum(summed[c * width : (c + 1) * width])
            predicted = sum(summed[c::width])
            hit = summed[c * width + c]
            if support:
                ious.append(Fraction(hit, support + predicted - hit))
        return {"mIoU": sum(ious, Fraction(0)) / len(ious) if ious else None}


class KittiSemantic(_ClassMaps):
    """KITTI semantic: 34 label ids against four classes, 255 not counted."""

    VALUES, CLASSES, IGNORED = 34, 4, 255
