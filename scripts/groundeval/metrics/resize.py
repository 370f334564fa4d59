"""Resampling that no image library decides: labels by an integer index table, score maps by bilinear weights.

"Nearest" is not one function (OpenCV INTER_NEAREST takes the top-left pixel, PIL and INTER_NEAREST_EXACT the centre,
and versions differ on ties), so the pixel that is taken is written down here: target pixel d of D takes source pixel
((2d + 1) * S) // (2D), the one that holds the target pixel's centre.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAME = "index table src = ((2d + 1) * S) // (2D)"


@lru_cache(maxsize=256)
def index_table(source: int, target: int) -> NDArray[np.int64]:
    """The source index of each of `target` pixels along one side of `source` pixels: int64 [target], ascending."""
    if source < 1 or target < 1:
        raise ValueError(f"cannot resample {source} pixels to {target}")
    table = ((2 * np.arange(target, dtype=np.int64) + 1) * source) // (2 * target)
    table.flags.writeable = False
    return table


def nearest(array: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Maps [..., H, W] at (height, width) by the index table, same dtype; each value out is one of the values in."""
    height, width = array.shape[-2:]
    if (height, width) == size:
        return array
    rows = array.take(index_table(height, size[0]), axis=-2)
    return rows.take(index_table(width, size[1]), axis=-1)


def bilinear(array: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Score maps [..., H, W] at (height, width) by bilinear interpolation between pixel centres, edges held.

    Computed in float64, given back in the dtype that came in: integers are rounded, half to even.
    """
    if array.shape[-2:] == size:
        return array
    out = _along(_along(array.astype(np.float64), size[0], -2), size[1], -1)
    return (np.rint(out) if array.dtype.kind in "ui" else out).astype(array.dtype)


def _along(array: NDArray[np.float64], target: int, axis: int) -> NDArray[np.float64]:
    """Linear interpolation along one axis, at (d + 1/2) * S / D - 1/2, clamped to the outer pixel centres."""
    source = array.shape[axis]
    at = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
    low = np.minimum(at.astype(np.int64), max(source - 2, 0))
    weight = (at - low).reshape((-1, 1) if axis == -2 else (-1,))
    high = np.minimum(low + 1, source - 1)
    out: NDArray[np.float64] = array.take(low, axis=axis) * (1 - weight) + array.take(high, axis=axis) * weight
    return out
