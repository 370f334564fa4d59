"""What is to be said of closed outlines before they are filled: points far away, no area, edges that cross.

Outlines are float64 [points, 2], x and y in pixels; the last point joins the first. Those of one length are looked at
together, [outlines, points, 2].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Flags = NDArray[np.bool_]

REACH = 1  # image sizes that a point may lie beyond the border: further is a mistake, and slow to rasterise
MOST_TESTED = 256  # points of an outline that is tested for crossing itself: the test takes their square

NOT_FINITE = "has a value that is not finite"
FAR = f"has a point more than {REACH} image size outside the image"
DROPPED = "polygons of fewer than 3 distinct points, or of no area, dropped"
CLIPPED = "polygons clipped at the image's border"
CROSSING = "polygons that cross themselves, filled by the even-odd rule"
UNTESTED = f"polygons of more than {MOST_TESTED} points, not tested for crossing themselves"

_AT_ONCE = 1 << 17  # products of the crossing test, so that its arrays stay in the cache
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


def inspect(outlines: Sequence[Points], frames: NDArray[np.int64]) -> dict[str, Flags]:
    """For each of the remarks above, of which outlines it is true. frames: width and height of their images, [n, 2]."""
    found = {name: np.zeros(len(outlines), bool) for name in (NOT_FINITE, FAR, DROPPED, CLIPPED, CROSSING, UNTESTED)}
    for chosen in _of_one_length([len(outline) for outline in outlines]):
        points, frame = np.stack([outlines[i] for i in chosen]), frames[chosen][:, None]
        found[NOT_FINITE][chosen] = ~np.isfinite(points).all(axis=(1, 2))
        near = (points >= -REACH * frame) & (points <= (1 + REACH) * frame)  # false for NaN
        found[FAR][chosen] = ~near.all(axis=(1, 2))
        points = np.where(near, points, 0)
        found[CLIPPED][chosen] = ((points < 0) | (points > frame)).any(axis=(1, 2))
        found[DROPPED][chosen] = collinear(points)
        tested = points.shape[1] <= MOST_TESTED
        found[CROSSING if tested else UNTESTED][chosen] = cross_themselves(points) if tested else True
    return found


def collinear(points: Points) -> Flags:
    """Whether all points lie on one line, up to the rounding of float64; also where all are one point.

    Not asked of the signed area, which is 0 for a bow-tie, too.
    """
    offsets = points - points[:, :1]
    lengths = np.abs(offsets).sum(axis=2)
    far = offsets[np.arange(len(points)), lengths.argmax(axis=1)][:, None]
    cross = far[..., 0] * offsets[..., 1] - far[..., 1] * offsets[..., 0]
    largest = np.abs(points).max(axis=(1, 2))[:, None]
    rounding = _ROUNDING * largest * (lengths + lengths.max(axis=1, keepdims=True))
    flags: Flags = (np.abs(cross) <= rounding).all(axis=1)
    return flags


def cross_themselves(points: Points) -> Flags:
    """Whether two edges properly cross; edges that only touch or overlap do not count.

    Edge i separates the ends of edge k, and the other way round. Neighbours share an end, whose cross product is
    exactly 0. Takes memory of the order of outlines * points^2.
    """
    x, y = points[..., 0], points[..., 1]
    along_x, along_y = np.roll(x, -1, axis=1) - x, np.roll(y, -1, axis=1) - y
    side = along_x[:, :, None] * (y[:, None, :] - y[:, :, None]) - along_y[:, :, None] * (x[:, None, :] - x[:, :, None])
    separates = side * np.roll(side, -1, axis=2) < 0
    flags: Flags = np.any(separates & separates.transpose(0, 2, 1), axis=(1, 2))
    return flags


def _of_one_length(lengths: Sequence[int]) -> Iterator[NDArray[np.int64]]:
    """Indices of outlines with as many points, not more at once than the crossing test can take."""
    array = np.array(lengths, dtype=np.int64)
    for length in np.unique(array):
        same = np.flatnonzero(array == length)
        step = max(1, _AT_ONCE // int(length) ** 2)
        yield from (same[start : start + step] for start in range(0, len(same), step))
