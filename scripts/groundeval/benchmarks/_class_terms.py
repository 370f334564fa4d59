"""Numbers of class maps as functions of sums of confusion matrices, for their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks._task import Task
from groundeval.metrics.intervals import Terms, divided
from groundeval.metrics.ratios import Samples

Floats = NDArray[np.float64]


def terms(task: Task, merge: Sequence[int], samples: Samples) -> Terms:
    """`IoU` and `Fsc` of each class and their means, at the headline's size, and as `native/...` where all are there.

    Average precisions have none: their histograms are of the whole run, not of each sample.
    """
    sizes = {"": "confusion"} | ({"native/": "native_confusion"} if samples["native"].all() else {})
    columns = np.concatenate([_merged(task, merge, samples[name]) for name in sizes.values()], axis=1)

    def values(sums: Floats) -> dict[str, Floats]:
        parts = np.split(sums, len(sizes), axis=1)
        return {
            prefix + name: found
            for prefix, part in zip(sizes, parts, strict=True)
            for name, found in shares(task.classes, part.reshape(len(part), len(task.classes), -1)).items()
        }

    return Terms(columns, values)


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
        tp, both = counted[:, c, c], support[:, c] + counted[:, :, c].sum(axis=1)
        out |= {f"IoU/{name}": divided(tp, both - tp), f"Fsc/{name}": divided(2 * tp, both)}
    for mean, of in {"mIoU": "IoU", "mFsc": "Fsc"}.items():
        single = [out[f"{of}/{name}"] for name in classes]
        out[mean], out[f"{mean}_without_0"] = (_mean(single[i:], support[:, i:] > 0) for i in (0, 1))
    return out


def _mean(single: Sequence[Floats], present: NDArray[np.bool_]) -> Floats:
    """Over the classes present in each replicate, added in their order."""
    total = np.zeros(len(present))
    for c, values in enumerate(single):
        total += np.where(present[:, c], values, 0)
    return divided(total, present.sum(axis=1))
