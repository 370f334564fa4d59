"""Exact histograms of small integers."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

# OpenCV hands its counts over as float32, which is exact up to 2**24.
CHUNK = 1 << 24


def histogram(values: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """How often each of 0 .. bins - 1 occurs in a uint8 or uint16 array of any shape, as int64 [bins].

    Values that are no bin raise ValueError. An empty array gives zeros.
    """
    if values.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"histogram of {values.dtype}: only uint8 and uint16 have few enough levels")
    counts = _bytes(values) if values.dtype == np.uint8 else np.bincount(values.ravel(), minlength=bins)
    if counts[bins:].any():
        raise ValueError(f"{int(counts[bins:].sum())} values are not below {bins}")
    return np.pad(counts, (0, max(0, bins - len(counts))))[:bins].astype(np.int64)


def _bytes(values: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The 256 counts of bytes, some four times faster than np.bincount, which first widens every value to 64 bits."""
    flat = values.ravel()
    counts = np.zeros(256, np.int64)
    for start in range(0, len(flat), CHUNK):
        counts += cv2.calcHist([flat[start : start + CHUNK]], [0], None, [256], [0, 256]).ravel().astype(np.int64)
    return counts
