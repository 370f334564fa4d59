"""KITTI road's samples as pictures in perspective: road is what is at or above the run's best threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks._picture import Layers
from groundeval.metrics.ratios import Metric


def layers(
    truth: NDArray[np.uint8],
    answer: NDArray[Any] | None,
    tags: Mapping[str, str],
    options: Mapping[str, Any],  # noqa: ARG001
    metrics: Mapping[str, Metric],
) -> Layers:
    """The threshold is that of the perspective view, over URBAN or over the lanes; half of 255 where there is none."""
    lane = tags.get("category") == "um_lane"
    said = metrics.get(f"persp/{'um_lane' if lane else 'URBAN'}/threshold")
    threshold = round(255 * said.value) if said is not None and said.value is not None else 128
    road = None if answer is None else (answer.reshape(answer.shape[-2:]) >= threshold).astype(np.uint8)
    return Layers(("no lane", "ego lane") if lane else ("no road", "road"), truth, road)
