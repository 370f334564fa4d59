"""What the benchmarks of class maps share: confusion counts at two sizes, curves from score maps, and their numbers.

The headline is counted at one fixed size, to which truth and prediction are brought by the index table of metrics.resize,
once, from their own size. Beside it, `native/...` is counted at the image's own size where every prediction is there too.
A sample without a usable answer has all its pixels in the column "outside": wrong for their class, and for each curve
positives that are never retrieved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.benchmarks import _curves
from groundeval.benchmarks._task import Task
from groundeval.metrics import confusion as cm
from groundeval.metrics import resize
from groundeval.metrics.ratios import Metric, Samples, ratio

Size = tuple[int, int]
Totals = Mapping[str, NDArray[Any]]
_Pairs = dict[str, tuple[NDArray[np.uint8], NDArray[Any] | None]]  # by the sizes that a pair stands for

NO_SCORES = "a class map has no scores, so no average precision"
NOT_NATIVE = "not every prediction is at native size"
MEANS = {"mIoU": "IoU", "mFsc": "Fsc", "mAP": "AP", "mAP_11point": "AP_11point"}


def counts(
    task: Task,
    merge: Sequence[int],
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    options: Mapping[str, Any],
    totals: dict[str, NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """`confusion` and `native_confusion` [n, truth_values * (C + 1)], row-major, truth not merged; `native` [n] is 1 where
    the second was counted; `outside` [n]: scored pixels with a predicted value that is no class. Score maps also go
    into totals, with truth value v as class merge[v].
    """
    width = task.truth_values * (len(task.classes) + 1)
    n, upsample = truth.num_rows, options.get("upsample") == "bilinear"
    matrices = {size: np.zeros((n, width), np.int64) for size in ("eval", "native")}
    native, outside = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for i, name in enumerate(truth.column("sample_id").to_pylist()):
        labels, answer = tables.unpack_map(truth, i), tables.unpack_map(predictions, i)
        assert labels is not None
        for sizes, (expected, found) in _pairs(task, labels, answer, upsample).items():
            counted = _confusion(task, expected, found).ravel()
            for size in sizes.split("+"):
                matrices[size][i] = counted
            native[i] |= sizes.endswith("native")
            _curves.add(totals, sizes, name, merge, expected, found)
        if answer is not None:
            outside[i] = matrices["eval"][i, len(task.classes) :: len(task.classes) + 1].sum()
    return {
        "confusion": matrices["eval"],
        "native_confusion": matrices["native"],
        "native": native,
        "outside": outside,
    }


def _pairs(task: Task, labels: NDArray[np.uint8], answer: NDArray[Any] | None, upsample: bool) -> _Pairs:
    """Truth and prediction at the headline's size ("eval"), and at the image's own where the prediction is there, too."""
    native: Size = labels.shape[0], labels.shape[1]
    if answer is not None and answer.shape[-2:] not in (task.size, native):
        raise ValueError(f"a prediction at {answer.shape[-2:]}, expected {task.size} or {native}")
    if native == task.size:
        return {"eval+native": (labels, answer)}
    expected = resize.nearest(labels, task.size)
    pairs: _Pairs = {"eval": (expected, None if answer is None else resize.nearest(answer, task.size))}
    if answer is None or answer.shape[-2:] == native:
        pairs["native"] = labels, answer
    elif upsample and answer.ndim == 3:
        pairs["native"] = labels, resize.bilinear(answer, native)
    return pairs


def _confusion(task: Task, labels: NDArray[np.uint8], answer: NDArray[Any] | None) -> NDArray[np.int64]:
    """Counts [truth_values, C + 1] of one image at one size."""
    outside = len(task.classes)
    if answer is None:
        answer = np.full_like(labels, outside)
    elif answer.ndim == 3:
        answer = cm.class_map(answer)
    return cm.confusion(labels, answer, task.truth_values, outside, task.ignore)


def metrics(task: Task, merge: Sequence[int], samples: Samples, totals: Totals) -> dict[str, Metric]:
    """Means, means without class 0, `outside`, and per class, at the headline's size; the same as `native/...`."""
    averages = _curves.averages(totals, "eval", task.classes)
    out = scores(task, matrix(task, merge, samples["confusion"]), averages)
    pixels = int(samples["confusion"].sum())
    out["outside"] = replace(ratio(int(samples["outside"].sum()), pixels, "fraction"), direction="lower")
    if samples["native"].all():
        if not all(name.startswith("eval+native/") for name in totals):
            averages = _curves.averages(totals, "native", task.classes)
        native = scores(task, matrix(task, merge, samples["native_confusion"]), averages)
    else:
        native = {name: Metric(None, "fraction", None, None, reason=NOT_NATIVE) for name in out if name != "outside"}
    return out | {f"native/{name}": metric for name, metric in native.items()}


def matrix(task: Task, merge: Sequence[int], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The confusion matrix [C, C + 1] of all samples, from their flat counts, truth values merged into classes."""
    summed = rows.sum(axis=0, dtype=np.int64).reshape(task.truth_values, -1)
    return cm.merge_rows(summed, merge, len(task.classes))


def scores(task: Task, counted: NDArray[np.int64], averages: Mapping[str, Metric]) -> dict[str, Metric]:
    """All numbers of one matrix. averages: `AP/<class>` and `AP_11point/<class>`, or nothing for class maps."""
    absent = Metric(None, "fraction", None, None, reason=NO_SCORES)
    curves = {f"{m}/{c}": averages.get(f"{m}/{c}", absent) for m in ("AP", "AP_11point") for c in task.classes}
    single = cm.per_class(counted, task.classes) | curves
    present = cm.present(counted, task.classes)
    means = {name: cm.class_mean(single, of, present) for name, of in MEANS.items()}
    others = [c for c in present if c != task.classes[0]]
    means |= {f"{name}_without_0": cm.class_mean(single, of, others) for name, of in MEANS.items()}
    return means | single


def baselines(
    task: Task, merge: Sequence[int], samples: Samples, columns: Mapping[str, str]
) -> dict[str, dict[str, Metric]]:
    """`all_0`, `all_1` ...: every pixel predicted as one class; the leaderboard's columns that such a map has."""
    support = matrix(task, merge, samples["confusion"]).sum(axis=1)
    out = {}
    for c in range(len(task.classes)):
        counted = np.zeros((len(task.classes), len(task.classes) + 1), np.int64)
        counted[:, c] = support
        out[f"all_{c}"] = {n: m for n, m in scores(task, counted, {}).items() if n in columns}
    return out


def curves(task: Task, totals: Totals) -> Iterator[dict[str, Any]]:
    """Points for plots: {curve: "AP/<class>" or "native/AP/<class>", recall, precision, threshold}, recall ascending."""
    for size, prefix in (("eval", ""), ("native", "native/")):
        for c, name in enumerate(task.classes):
            for recall, precision, threshold in _curves.thinned(totals, size, c):
                point = {"recall": recall, "precision": precision, "threshold": threshold}
                yield {"curve": f"{prefix}AP/{name}", **point}
