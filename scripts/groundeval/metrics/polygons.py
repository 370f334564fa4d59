"""Polygons into COCO run-lengths, many at a time.

A polygon is a list of numbers [x, y, x, y, ...] or of points [[x, y], ...], in pixels ("px") or in image widths and
heights ("norm1"); x runs to the right and y down from the outer corner of the first pixel.

The one rasteriser is pycocotools' `frPyObjects`. It fills s^2 pixels for a square of side s (OpenCV and PIL fill
(s + 1)^2), clips what lies outside the image, and rounds coordinates to fifths of a pixel, negative ones towards zero.
Several polygons are a union: each is filled alone, then they are merged. Within one polygon that crosses or retraces
itself the even-odd rule holds: the middle of a pentagram stays open, and a ring written twice is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from groundeval.metrics import masks
from groundeval.metrics.outlines import DROPPED, FAR, NOT_FINITE, Flags, Points, inspect

Unit = Literal["px", "norm1"]
EMPTY = "polygons that cover no pixel"


class Rasters(NamedTuple):
    """counts: each group's union as compressed run-lengths; empty: whether it has no pixel. faults: group -> what is
    wrong with it, its mask being empty then. largest: the greatest value given, in the given unit; 0 of none."""

    counts: list[bytes]
    empty: list[bool]
    faults: dict[int, str]
    notes: Counter[str]
    largest: float


class _Polygon(NamedTuple):
    group: int
    ordinal: int  # 1 is the first of its group
    values: list[float]


def rasterise(groups: Sequence[Any], heights: Sequence[int], widths: Sequence[int], units: Sequence[Unit]) -> Rasters:
    """The union of each group of polygons, as a mask of heights[i] x widths[i] pixels.

    A group, as JSON gave it, is a list of polygons. It has a fault where it is a list of points itself, or where one of
    them is no list of numbers or of points, has an odd number of values, a value that is not finite, or one more than an
    image size outside the image.
    A polygon of fewer than 3 distinct points (4 numbers would be read as a box) or of no area is dropped and noted.
    """
    faults: dict[int, str] = {}
    polygons = _read(groups, faults)
    frames = np.array([(widths[p.group], heights[p.group]) for p in polygons], dtype=np.int64).reshape(-1, 2)
    pixels = _in_pixels(polygons, frames, [units[p.group] for p in polygons])
    remarks = inspect(pixels, frames)
    _add_faults(polygons, remarks, faults)
    sound = np.array([p.group not in faults for p in polygons], dtype=bool)
    filled = _fill(pixels, np.flatnonzero(sound & ~remarks[DROPPED]), frames)
    sizes = list(zip(heights, widths, strict=True))
    blank = {size: masks.empty(*size) for size in set(sizes)}
    notes = Counter({remark: int((flags & sound).sum()) for remark, flags in remarks.items()})
    notes[EMPTY] = sum(counts == blank[sizes[polygons[i].group]] for i, counts in filled.items())
    unions = _unions(polygons, filled, sizes, blank)
    empty = [counts == blank[size] for counts, size in zip(unions, sizes, strict=True)]
    return Rasters(unions, empty, faults, +notes, max((max(p.values) for p in polygons), default=0.0))


def _read(groups: Sequence[Any], faults: dict[int, str]) -> list[_Polygon]:
    out: list[_Polygon] = []
    for group, polygons in enumerate(groups):
        if type(polygons) is not list:
            faults[group] = f"polygons is {_kind(polygons)}, not a list of polygons"
            continue
        if _are_points(polygons):
            faults[group] = f"polygons is one list of {len(polygons)} points, not a list of polygons"
            continue
        for ordinal, polygon in enumerate(polygons, 1):
            try:
                out.append(_Polygon(group, ordinal, _values(polygon)))
            except ValueError as error:
                faults.setdefault(group, f"polygon {ordinal} {error}")
    return out


def _are_points(polygons: Sequence[Any]) -> bool:
    """Is this one polygon in place of a list of them? A polygon alone may have one point, but not each of several."""
    return len(polygons) > 2 and all(
        type(p) is list and len(p) == 2 and set(map(type, p)) <= {int, float} for p in polygons
    )


def _values(polygon: Any) -> list[float]:
    """x, y, x, y, ... of a polygon in either form; ValueError says what is wrong with it."""
    if type(polygon) is not list:
        raise ValueError(f"is {_kind(polygon)}, not a list of points")
    kinds = set(map(type, polygon))
    if kinds == {list}:
        if set(map(len, polygon)) != {2}:
            raise ValueError("has a point that is not a pair [x, y]")
        polygon = list(chain.from_iterable(polygon))
        kinds = set(map(type, polygon))
    if not kinds <= {int, float}:
        raise ValueError("holds something that is not a number")
    if len(polygon) % 2:
        raise ValueError(f"has an odd number of values, {len(polygon)}")
    return polygon or [0.0, 0.0]  # no point has no area, as one point has none


def _kind(value: Any) -> str:
    return {type(None): "null", dict: "an object", str: "a text", bool: "true or false"}.get(type(value), "a number")


def _in_pixels(polygons: Sequence[_Polygon], frames: NDArray[np.int64], units: Sequence[Unit]) -> list[Points]:
    points = [np.array(p.values, dtype=np.float64).reshape(-1, 2) for p in polygons]
    return [p * f if u == "norm1" else p for p, f, u in zip(points, frames, units, strict=True)]


def _add_faults(polygons: Sequence[_Polygon], remarks: dict[str, Flags], faults: dict[int, str]) -> None:
    for fault in (NOT_FINITE, FAR):
        for i in np.flatnonzero(remarks.pop(fault)).tolist():
            faults.setdefault(polygons[i].group, f"polygon {polygons[i].ordinal} {fault}")


def _fill(pixels: Sequence[Points], kept: NDArray[np.int64], frames: NDArray[np.int64]) -> dict[int, bytes]:
    """Run-lengths of each kept polygon alone; all of one image size go through the rasteriser in one call."""
    filled: dict[int, bytes] = {}
    for width, height in np.unique(frames[kept], axis=0).tolist():
        chosen = kept[(frames[kept] == (width, height)).all(axis=1)].tolist()
        rles = coco.frPyObjects([pixels[i].reshape(-1) for i in chosen], height, width)
        filled |= {i: rle["counts"] for i, rle in zip(chosen, rles, strict=True)}
    return dict(sorted(filled.items()))


def _unions(
    polygons: Sequence[_Polygon],
    filled: Mapping[int, bytes],
    sizes: Sequence[tuple[int, int]],
    blank: Mapping[tuple[int, int], bytes],
) -> list[bytes]:
    members: list[list[bytes]] = [[] for _ in sizes]
    for i, counts in filled.items():
        members[polygons[i].group].append(counts)
    return [(m or [blank[s]])[0] if len(m) < 2 else masks.union(m, *s) for m, s in zip(members, sizes, strict=True)]
