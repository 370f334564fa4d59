"""Masks as run-lengths, in COCO's compressed form: encode, check, and set operations. Pixels are never made from them.

A mask is the lengths of its runs in column-major order, background first (a leading 0 where the first pixel is
foreground), written as COCO's counts string. "Canonical" counts have no other run of length 0: equal masks then have
equal bytes. Everything that this module returns is canonical, and byte-equal to what pycocotools makes of the pixels.

Source of the form: cocodataset/cocoapi, common/maskApi.c, rleEncode and rleToString.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pycocotools.mask as coco
from numpy.typing import NDArray

from groundeval.metrics.runs import Runs as Runs
from groundeval.metrics.runs import between, of_pixels

# Six characters of a counts string hold a signed number of 30 bits, and maskApi.c keeps room for no more than six.
MAX_PIXELS = 2**29 - 1
_AREAS_A_CALL = 255  # pycocotools counts the masks of a call in eight bits, and fails at one more


def encode(mask: NDArray[np.bool_] | NDArray[np.uint8]) -> bytes:
    """Canonical counts of a mask [H, W], bool or uint8 of 0 and 1. ValueError for any other array."""
    if mask.ndim != 2 or not 0 < mask.size <= MAX_PIXELS or mask.dtype not in (np.bool_, np.uint8):
        raise ValueError(f"a mask is [H, W] of bool or uint8 and not empty, this is {mask.shape} of {mask.dtype}")
    if mask.dtype == np.uint8 and mask.max() > 1:
        raise ValueError("a mask of uint8 holds 0 and 1 only")
    return _pack(of_pixels(np.ascontiguousarray(mask).view(np.uint8)), *mask.shape)


def pack(runs: Runs, height: int, width: int) -> bytes:
    """The counts string of runs as they are, canonical or not. ValueError where they do not fit height x width."""
    _check(runs, height, width)
    return _pack(runs, height, width)


def unpack(counts: bytes) -> Runs:
    """The runs in a counts string, as they stand there. ValueError for a string that is none."""
    codes = np.frombuffer(counts, np.uint8).astype(np.int64) - 48
    if len(codes) == 0:
        raise ValueError("the run-length is empty")
    if codes.min() < 0 or codes.max() > 63:
        raise ValueError("the run-length has characters that a COCO counts string never has")
    ends = np.flatnonzero(codes < 32)  # 32 says that the number goes on
    if len(ends) == 0 or ends[-1] != len(codes) - 1:
        raise ValueError("the run-length is cut off within a number")
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    if lengths.max() > 6:
        raise ValueError("the run-length has a number of more than six characters")
    places = np.arange(len(codes)) - np.repeat(starts, lengths)
    runs: Runs = np.add.reduceat((codes & 31) << (5 * places), starts)
    runs -= np.where(codes[ends] & 16, 1 << (5 * lengths), 0)  # the last group's high bit is the sign
    # From the fourth on, a run is written as its difference to the one before the last.
    runs[1::2] = np.cumsum(runs[1::2])
    runs[2::2] = np.cumsum(runs[2::2])
    return runs


def validate(counts: bytes, height: int, width: int) -> None:
    """ValueError, saying why, unless a counts string is a mask of height x width. Allocates by its length, not by H*W."""
    _check(unpack(counts), height, width)


def canonical(runs: Runs, height: int, width: int) -> bytes:
    """The canonical counts of any valid runs. ValueError, saying why, where they are no mask of height x width."""
    _check(runs, height, width)
    if (runs[1:] == 0).any():
        # A run of length 0 joins its neighbours: its two borders fall together and cancel each other.
        borders, times = np.unique(np.cumsum(runs)[:-1], return_counts=True)
        kept = borders[(times % 2 == 1) & (borders < height * width)]
        runs = between(kept, height * width)
    return _pack(runs, height, width)


@functools.lru_cache(maxsize=1024)
def empty(height: int, width: int) -> bytes:
    """The mask without foreground."""
    return pack(np.array([height * width]), height, width)


@functools.lru_cache(maxsize=1024)
def full(height: int, width: int) -> bytes:
    """The mask that is foreground everywhere."""
    return pack(np.array([0, height * width]), height, width)


def areas(counts: Sequence[bytes], heights: Sequence[int], widths: Sequence[int]) -> NDArray[np.int64]:
    """Foreground pixels of each of n masks, [n] int64. The counts are valid ones."""
    given = [_coco(c, h, w) for c, h, w in zip(counts, heights, widths, strict=True)]
    found = [coco.area(given[i : i + _AREAS_A_CALL]) for i in range(0, len(given), _AREAS_A_CALL)]
    return np.concatenate(found, dtype=np.int64) if found else np.zeros(0, np.int64)


def union(counts: Sequence[bytes], height: int, width: int) -> bytes:
    """The OR of valid masks of one size; of none it is the empty mask."""
    if not counts:
        return empty(height, width)
    joined: bytes = coco.merge([_coco(c, height, width) for c in counts], intersect=False)["counts"]
    return joined


def intersection_union(
    a: Sequence[bytes], b: Sequence[bytes], heights: Sequence[int], widths: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Intersection and union of n pairs of valid masks in pixels, two arrays [n] int64; 0 and 0 where both are empty."""
    shared = [
        coco.merge([_coco(p, h, w), _coco(q, h, w)], intersect=True)["counts"]
        for p, q, h, w in zip(a, b, heights, widths, strict=True)
    ]
    intersection = areas(shared, heights, widths)
    return intersection, areas(a, heights, widths) + areas(b, heights, widths) - intersection


def _pack(runs: Runs, height: int, width: int) -> bytes:
    packed: bytes = coco.frPyObjects(_coco(runs, height, width), height, width)["counts"]
    return packed


def _coco(counts: bytes | Runs, height: int, width: int) -> dict[str, Any]:
    return {"size": [height, width], "counts": counts}


def _check(runs: Runs, height: int, width: int) -> None:
    pixels = height * width
    if height < 1 or width < 1 or pixels > MAX_PIXELS:
        raise ValueError(f"a mask of {height} x {width} is out of range, at most {MAX_PIXELS} pixels")
    if runs.min() < 0 or runs.max() > pixels:
        raise ValueError(f"the run-length has a run of {runs[(runs < 0) | (runs > pixels)][0]} of {pixels} pixels")
    total = int(runs.sum())
    if total != pixels:
        raise ValueError(f"the run-length covers {total} pixels, the image has {height} x {width} = {pixels}")
