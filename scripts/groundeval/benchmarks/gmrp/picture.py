"""GMRP's samples as pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks import _picture
from groundeval.benchmarks.gmrp import TASK
from groundeval.metrics.ratios import Metric


def layers(
    truth: NDArray[np.uint8],
    answer: NDArray[Any] | None,
    tags: Mapping[str, str],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
    metrics: Mapping[str, Metric],  # noqa: ARG001
) -> _picture.Layers:
    """See _picture.of_task."""
    return _picture.of_task(TASK, truth, answer)
