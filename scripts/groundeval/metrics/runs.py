"""From pixels to the lengths of their runs in column-major order, background first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Runs = NDArray[np.int64]


def of_pixels(mask: NDArray[np.uint8]) -> Runs:
    """The runs of a contiguous mask [H, W] of 0 and 1, without transposing it.

    A run begins where a pixel differs from the one before it in column order: the one above, or for the top row the
    bottom of the column to the left. Such pixels are few, so they are looked for first and put in column order then.
    """
    height, width = mask.shape
    flat = mask.reshape(-1)
    top = np.flatnonzero(flat[1:width] != flat[-width:-1]) + 1
    changes = np.concatenate([np.flatnonzero(flat[:1]), top, _changes_below(flat, width)])
    rows, columns = np.divmod(changes, width)
    return between(np.sort(columns * height + rows), flat.size)


def _changes_below(flat: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """Where a pixel differs from the one above it, from the second row on. Eight pixels are compared at a time."""
    words = (flat.size - width) // 8
    below, above = (flat[start : start + 8 * words].view(np.uint64) for start in (width, 0))
    start = width + 8 * np.flatnonzero(below != above)
    near = np.concatenate([(start[:, None] + np.arange(8)).reshape(-1), np.arange(width + 8 * words, flat.size)])
    changed: NDArray[np.int64] = near[flat[near] != flat[near - width]]
    return changed


def between(borders: NDArray[np.int64], pixels: int) -> Runs:
    """The runs that sorted borders, places in column order, cut `pixels` into. Before a border at 0 one of length 0."""
    ends = np.empty(len(borders) + 2, np.int64)
    ends[0], ends[1:-1], ends[-1] = 0, borders, pixels
    runs: Runs = ends[1:] - ends[:-1]
    return runs
