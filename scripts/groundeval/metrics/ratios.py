"""Ratios that keep their numerator and denominator. Counts are int64; there is one division, at the end, and no epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Unit = Literal["fraction", "percent"]
Samples = Mapping[str, NDArray[Any]]  # the samples table as arrays of equal length


@dataclass(frozen=True)
class Metric:
    """One number. value is None, with a reason, where it does not exist; it is never NaN."""

    value: float | None
    unit: Unit
    numerator: float | int | None
    denominator: int | float | None
    direction: Literal["higher", "lower"] = "higher"
    reason: str | None = None
    interval: tuple[float, float] | None = None  # of 95 % confidence, in the same unit
    interval_method: str | None = None  # how it was found, or why there is none


def ratio(numerator: float | int, denominator: float | int, unit: Unit, reason: str = "nothing to divide by") -> Metric:
    """numerator / denominator, times 100 for percent. A denominator of 0 gives None with the reason."""
    if denominator == 0:
        return Metric(None, unit, _plain(numerator), 0, reason=reason)
    scaled = 100 * numerator if unit == "percent" else numerator
    return Metric(float(scaled / denominator), unit, _plain(numerator), _plain(denominator))


def mean(values: NDArray[np.float64], unit: Unit, reason: str = "no samples") -> Metric:
    """The mean of per-sample values. Their sum is correctly rounded (`math.fsum`), so no order of samples changes it."""
    return ratio(math.fsum(values.tolist()), len(values), unit, reason)


def ious(intersection: NDArray[np.int64], union: NDArray[np.int64], empty: float) -> NDArray[np.float64]:
    """I / U of each sample as float64; `empty` is the value where U is 0."""
    out = np.full(len(union), empty, dtype=np.float64)
    np.divide(intersection, union, out=out, where=union != 0)
    return out


def groups(samples: Samples, prefix: str, labels: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.int64], Samples]]:
    """Each group of samples with the same label: `{prefix}/{label}`, its rows, its samples. None is no group."""
    for label in sorted({x for x in labels.tolist() if x is not None}):
        rows = np.flatnonzero(labels == label)
        shown = str(label).replace("/", "|")  # a slash separates the parts of a name
        yield f"{prefix}/{shown}", rows, {name: values[rows] for name, values in samples.items()}


def by(
    samples: Samples, prefix: str, labels: NDArray[Any], metrics: Callable[[Samples], Mapping[str, Metric]]
) -> dict[str, Metric]:
    """The metrics of each group of samples with the same label, as `{prefix}/{label}/{metric}`."""
    found = ((name, metrics(group)) for name, _, group in groups(samples, prefix, labels))
    return {f"{name}/{metric}": value for name, values in found for metric, value in values.items()}


def total(values: Iterable[int] | NDArray[Any]) -> int:
    """The sum of counts as a Python integer."""
    return int(np.sum(np.asarray(values), dtype=np.int64))


def _plain(number: float | int) -> float | int:
    return number.item() if isinstance(number, np.generic) else number
