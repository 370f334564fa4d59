"""Numbers of class maps as functions of sums of confusion matrices, for their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks import _curves
from groundeval.benchmarks._task import Task
from groundeval.metrics import bands, coarse
from groundeval.metrics.bootstrap import labels
from groundeval.metrics.ratios import Samples
from groundeval.metrics.terms import Terms, divided, ratios

Floats = NDArray[np.float64]
_POSITIVE = [*range(coarse.LEVELS), -1]  # columns of coarse counts


def terms(task: Task, merge: Sequence[int], samples: Samples, totals: Mapping[str, NDArray[Any]]) -> Iterator[Terms]:
    """All that _class_maps.metrics gives: of the confusion matrices exactly, of the curves at few levels."""
    pixels = samples["confusion"].sum(axis=1)
    yield ratios({"outside": (samples["outside"], pixels)})
    yield matrices(task, merge, samples["confusion"], "")
    yield from _averages(task, samples, totals, "eval", "")
    if samples["native"].all():
        yield matrices(task, merge, samples["native_confusion"], "native/")
        yield from _averages(task, samples, totals, "native", "native/")


def matrices(task: Task, merge: Sequence[int], rows: NDArray[np.int64], prefix: str) -> Terms:
    """What confusion.per_class and the means over classes are functions of. rows: flat counts of each sample."""
    return Terms(_merged(task, merge, rows), lambda sums: _named(prefix, shares(task.classes, _square(task, sums))))


def _averages(
    task: Task, samples: Samples, totals: Mapping[str, NDArray[Any]], size: str, prefix: str
) -> Iterator[Terms]:
    """`AP/<class>`, `AP_11point/<class>` and their means over the classes of the truth; nothing without scores."""
    counted = _curves.by_image(totals, size, samples["sample_id"].tolist())
    if counted is None:
        return

    def values(sums: Floats) -> dict[str, Floats]:
        each = [coarse.average_precision(of) for of in np.split(sums, len(task.classes), axis=1)]
        positives = np.stack([of[:, _POSITIVE].sum(axis=1) for of in np.split(sums, len(task.classes), axis=1)], axis=1)
        out: dict[str, Floats] = {}
        for i, kind in enumerate(("AP", "AP_11point")):
            single = [pair[i] for pair in each]
            out |= {f"{kind}/{name}": found for name, found in zip(task.classes, single, strict=True)}
            out |= _means(f"m{kind}", single, positives > 0)
        return _named(prefix, out)

    yield Terms(counted.reshape(len(counted), -1), values, coarse=True)


def _named(prefix: str, values: Mapping[str, Floats]) -> dict[str, Floats]:
    return {prefix + name: found for name, found in values.items()}


def _square(task: Task, sums: Floats) -> Floats:
    return sums.reshape(len(sums), len(task.classes), -1)


def _merged(task: Task, merge: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts [n, C * (C + 1)] of each sample, truth values merged into classes."""
    by_value, table = rows.reshape(len(rows), task.truth_values, -1), np.asarray(merge)
    merged = [by_value[:, table == c].sum(axis=1) for c in range(len(task.classes))]
    return np.concatenate(merged, axis=1)


def shares(classes: Sequence[str], counted: Floats) -> dict[str, Floats]:
    """What confusion.per_class and confusion.class_mean say of one matrix, for [B, C, C + 1]: [B] each."""
    support = counted.sum(axis=2)
    out: dict[str, Floats] = {}
    for c, name in enumerate(classes):
        tp, true, said = counted[:, c, c], support[:, c], counted[:, :, c].sum(axis=1)
        out |= {f"IoU/{name}": divided(tp, true + said - tp), f"Fsc/{name}": divided(2 * tp, true + said)}
        out |= {f"precision/{name}": divided(tp, said), f"recall/{name}": divided(tp, true)}
    for mean, of in {"mIoU": "IoU", "mFsc": "Fsc"}.items():
        out |= _means(mean, [out[f"{of}/{name}"] for name in classes], support > 0)
    return out


def _means(name: str, single: Sequence[Floats], present: NDArray[np.bool_]) -> dict[str, Floats]:
    """The mean over the classes present in each replicate, and that without class 0."""
    return {name: _mean(single, present), f"{name}_without_0": _mean(single[1:], present[:, 1:])}


def by_sample(task: Task, merge: Sequence[int], samples: Samples) -> dict[str, NDArray[np.float64]]:
    """Of each image alone [n], at the headline's size: `image_mIoU`, the mean IoU over the classes of its own truth, and
    `pixel_accuracy`. NaN where the truth has no scored pixel.

    A diagnostic, not the headline: that pools the pixels of all images, so the mean of these is another number.
    """
    counted = _merged(task, merge, samples["confusion"]).astype(np.float64)
    counted = counted.reshape(len(counted), len(task.classes), -1)
    right = np.diagonal(counted, axis1=1, axis2=2).sum(axis=1)
    return {
        "image_mIoU": shares(task.classes, counted)["mIoU"],
        "pixel_accuracy": divided(right, counted.sum(axis=(1, 2))),
    }


def band(task: Task, samples: Samples, totals: Mapping[str, NDArray[Any]], curve: str) -> bands.Band | None:
    """The 95 % band of a curve, `AP/<class>` or `native/AP/<class>`, from coarse counts; None without them."""
    prefix, _, name = curve.rpartition("AP/")
    counted = _curves.by_image(totals, "native" if prefix else "eval", samples["sample_id"].tolist())
    if counted is None:
        return None
    own, levels = counted[:, task.classes.index(name)], coarse.LEVELS
    lost = np.pad(own[:, -1:], ((0, 0), (0, 1)))
    return bands.band(own[:, :levels], own[:, levels:-1], lost, labels(samples["image_id"]))


def _mean(single: Sequence[Floats], present: NDArray[np.bool_]) -> Floats:
    """Over the classes present in each replicate, added in their order."""
    total = np.zeros(len(present))
    for c, values in enumerate(single):
        total += np.where(present[:, c], values, 0)
    return divided(total, present.sum(axis=1))
