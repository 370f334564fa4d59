"""GMRP's numbers: per-class precision, recall, F-score, IoU and average precision, and their means over the classes.

Source: Wang et al. 2021, arXiv 2103.02433, for the metrics and the 320x480 input; README.md says what is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.benchmarks import _class_maps, _class_terms
from groundeval.benchmarks.gmrp import RECORD, TASK
from groundeval.metrics import bands
from groundeval.metrics.ratios import Metric, Samples
from groundeval.metrics.terms import Terms

CONSTANTS = TASK.constants
_MERGE = range(TASK.truth_values)  # each value is its own class


def counts(
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    manifest: pa.RecordBatch,  # noqa: ARG001
    options: Mapping[str, Any],
    totals: dict[str, NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """Confusion matrices at 320x480 and at native size, and histograms for curves: see _class_maps.counts."""
    return _class_maps.counts(TASK, _MERGE, truth, predictions, options, totals)


def metrics(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> dict[str, Metric]:  # noqa: ARG001
    """All numbers at 320x480, and as `native/...` at the images' own size."""
    return _class_maps.metrics(TASK, _MERGE, samples, totals)


def terms(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> list[Terms]:  # noqa: ARG001
    """See _class_terms.terms."""
    return list(_class_terms.terms(TASK, _MERGE, samples, totals))


def baselines(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> dict[str, dict[str, Metric]]:
    """Each class everywhere."""
    return _class_maps.baselines(TASK, _MERGE, samples, RECORD.columns)


def by_sample(samples: Samples, options: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:  # noqa: ARG001
    """See _class_terms.by_sample."""
    return _class_terms.by_sample(TASK, _MERGE, samples)


def confusion(samples: Samples, options: Mapping[str, Any]) -> tuple[tuple[str, ...], NDArray[np.int64]]:  # noqa: ARG001
    """The classes, and the pixels [C, C + 1] of all samples at the headline's size; the last column is no class."""
    return TASK.classes, _class_maps.matrix(TASK, _MERGE, samples["confusion"])


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
