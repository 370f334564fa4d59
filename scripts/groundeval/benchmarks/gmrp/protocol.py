"""GMRP's numbers: per-class precision, recall, F-score, IoU and average precision, and their means over the classes.

Source: Wang et al. 2021, arXiv 2103.02433, for the metrics and the 320x480 input; README.md says what is our choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from groundeval.benchmarks import _class_maps, _class_terms
from groundeval.benchmarks.gmrp import RECORD, TASK
from groundeval.metrics.intervals import Terms
from groundeval.metrics.ratios import Metric, Samples

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


def terms(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> Terms:
    """See _class_terms.terms."""
    return _class_terms.terms(TASK, _MERGE, samples)


def baselines(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> dict[str, dict[str, Metric]]:
    """Each class everywhere."""
    return _class_maps.baselines(TASK, _MERGE, samples, RECORD.columns)


def curves(
    samples: Samples,  # noqa: ARG001
    totals: Mapping[str, NDArray[Any]],
    options: Mapping[str, Any],  # noqa: ARG001
) -> Iterator[dict[str, Any]]:
    """Points of the precision-recall curves, for plots."""
    return _class_maps.curves(TASK, totals)
