"""KITTI semantic's numbers: as GMRP's, over four classes that a merge table makes of the 34 label ids.

Source: Wang et al. 2021, arXiv 2103.02433, for classes and metrics; README.md says what is our choice. Label ids:
cityscapesScripts, labels.py. Confusion is counted by label id and merged last, so every preset comes from one run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.benchmarks import _class_maps, _class_terms
from groundeval.benchmarks.kitti_semantic import PRESETS, RECORD, TASK, merging
from groundeval.metrics import bands
from groundeval.metrics.ratios import Metric, Samples
from groundeval.metrics.terms import Terms

CONSTANTS = TASK.constants


def counts(
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    manifest: pa.RecordBatch,  # noqa: ARG001
    options: Mapping[str, Any],
    totals: dict[str, NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """Confusion of 34 label ids with the predicted classes, and histograms for curves: see _class_maps.counts."""
    return _class_maps.counts(TASK, _table(options), truth, predictions, options, totals)


def metrics(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> dict[str, Metric]:
    """All numbers at 320x480 and `native/...`; `sensitivity/{variant}/...` for every way to merge that is in question."""
    return _class_maps.metrics(TASK, _table(options), samples, totals) | _sensitivity(samples)


def terms(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> list[Terms]:
    """See _class_terms.terms; and the same matrices under each way to merge."""
    merged = (
        _class_terms.matrices(TASK, table, samples["confusion"], f"sensitivity/{name}/")
        for name, table in merging.variants().items()
    )
    return [*_class_terms.terms(TASK, _table(options), samples, totals), *merged]


def baselines(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],
) -> dict[str, dict[str, Metric]]:
    """Each class everywhere."""
    return _class_maps.baselines(TASK, _table(options), samples, RECORD.columns)


def by_sample(samples: Samples, options: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """See _class_terms.by_sample."""
    return _class_terms.by_sample(TASK, _table(options), samples)


def confusion(samples: Samples, options: Mapping[str, Any]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The classes, and the pixels [C, C + 1] of all samples at the headline's size; the last column is no class."""
    return TASK.classes, _class_maps.matrix(TASK, _table(options), samples["confusion"])


def band(samples: Samples, totals: Mapping[str, NDArray[Any]], curve: str) -> bands.Band | None:
    """See _class_terms.band."""
    return _class_terms.band(TASK, samples, totals, curve)


def curves(
    samples: Samples,  # noqa: ARG001
    totals: Mapping[str, NDArray[Any]],
    options: Mapping[str, Any],  # noqa: ARG001
) -> Iterator[dict[str, Any]]:
    """Points of the precision-recall curves, for plots."""
    return _class_maps.curves(TASK, totals)


def _table(options: Mapping[str, Any]) -> tuple[int, ...]:
    return merging.preset(options.get("merge") or PRESETS[0])


def _sensitivity(samples: Samples) -> dict[str, Metric]:
    """Means, IoU and F-score under each way to merge. The prediction stays what it is."""
    out: dict[str, Metric] = {}
    for name, table in merging.variants().items():
        scores = _class_maps.scores(TASK, _class_maps.matrix(TASK, table, samples["confusion"]), {})
        kept = {m: v for m, v in scores.items() if m.startswith(("mIoU", "mFsc", "IoU/", "Fsc/"))}
        out |= {f"sensitivity/{name}/{metric}": value for metric, value in kept.items()}
    return out
