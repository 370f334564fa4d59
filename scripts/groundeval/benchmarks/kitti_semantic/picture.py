"""KITTI semantic's samples as pictures, their label ids merged as the run's options say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks import _picture
from groundeval.benchmarks.kitti_semantic import PRESETS, TASK, merging
from groundeval.metrics.ratios import Metric


def layers(
    truth: NDArray[np.uint8],
    answer: NDArray[Any] | None,
    tags: Mapping[str, str],  # noqa: ARG001
    options: Mapping[str, Any],
    metrics: Mapping[str, Metric],  # noqa: ARG001
) -> _picture.Layers:
    """See _picture.of_task."""
    classes = np.full(256, _picture.CLEAR, np.uint8)
    classes[: TASK.truth_values] = merging.preset(options.get("merge") or PRESETS[0])
    return _picture.of_task(TASK, classes[truth], answer)
