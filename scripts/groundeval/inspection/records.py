"""What JSON records hold: keys, ids, boxes and their ranges, scores, segmentations, texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from groundeval.errors import quoted

_SHOWN = 12
_MOST_DEPTH = 6
ID_KEYS = ("sample_id", "image_id", "id", "img_id", "image", "image_path", "file_name")
_NO_BOXES = re.compile(r"score|label|conf|prob|class|categor|size|_ids?$", re.I)  # keys of lists that are numbers each
_SIZES = (("orig_img_h", "orig_img_w"), ("img_height", "img_width"), ("imageHeight", "imageWidth"))
_NUMBER = (int, float)
Kind = Literal["rows", "samples", "record", "names", "annotations", "other"]


@dataclass
class Found:
    """What was met on a walk over the records."""

    keys: Counter[str] = field(default_factory=Counter)
    boxes: dict[str, list[list[float]]] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)
    segments: Counter[str] = field(default_factory=Counter)
    texts: dict[str, str] = field(default_factory=dict)


def kind(value: Any) -> Kind:
    """A list of records; an object of records by id; one record; an object of texts, as a map of names to samples has it;
    or annotations that a model was run on.
    """
    if isinstance(value, list):
        return "rows"
    if not isinstance(value, dict):
        return "other"
    if isinstance(value.get("images"), list) and len(value) < 10:
        return "annotations"
    types = set(map(type, value.values()))
    if types == {str}:
        return "names"
    return "samples" if types <= {list, dict, type(None)} else "record"


def ids(value: Any) -> list[str]:
    """What could be ids: the keys of an object of records, or the first of ID_KEYS that the rows have."""
    if kind(value) == "samples":
        return list(value)
    rows = [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    key = next((k for k in ID_KEYS if rows and all(k in row for row in rows)), None)
    return [str(row[key]) for row in rows] if key else []


def told(value: Any) -> Iterator[str]:
    """Lines on one file's value."""
    count = f" of {len(value)}" if isinstance(value, dict | list) else ""
    if kind(value) == "names":
        first = quoted(next(iter(value.items()), "")[0]) + ": " + quoted(next(iter(value.values()), ""))
        yield f"an object{count} texts, the first {first}: a map from names of answers to samples?"
        return
    found = _found(value)
    keys = ", ".join(f"{key} ({n})" for key, n in found.keys.most_common(_SHOWN))
    what = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else type(value).__name__
    yield f"{what}{count}{f'; keys: {keys}' if keys else ''}"
    for key, boxes in found.boxes.items():
        yield f"boxes in {key or 'the lists'}: {_ranges(boxes)}"
    for key, numbers in found.numbers.items():
        if "score" in key or "conf" in key:
            yield f"{key}: {len(numbers)} numbers from {min(numbers):g} to {max(numbers):g}"
    if found.segments:
        yield "segmentations: " + ", ".join(f"{kind} ({n})" for kind, n in found.segments.most_common())
    for key, text in found.texts.items():
        yield f"{key} is a text, the first: {quoted(text)}" if key else f"texts, the first: {quoted(text)}"


def sizes(value: Any) -> dict[str, tuple[int, int]]:
    """Id -> height and width, where records have a run-length that says them."""
    rows = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    out = {}
    for name, row in zip(ids(value), rows, strict=False):
        size = row.get("segmentation", row).get("size") if isinstance(row, dict) and _is_rle(row) else None
        if lengths := _lengths(size):
            out[name] = lengths
    return out


def size(value: Any) -> tuple[int, int] | None:
    """Height and width that one record says, or a run-length in it."""
    if not isinstance(value, dict):
        return None
    inner = [v for v in value.values() if isinstance(v, dict)]
    inner += [row for v in value.values() if isinstance(v, list) for row in v if isinstance(row, dict)]
    stated = [[value.get(height), value.get(width)] for height, width in _SIZES]
    found = (_lengths(size) for size in [*stated, *(row.get("size") for row in inner)])
    return next((size for size in found if size), None)


def _lengths(size: Any) -> tuple[int, int] | None:
    """Two numbers that can be a height and a width."""
    fits = isinstance(size, list) and len(size) == 2 and all(type(n) is int and 0 < n < 1 << 16 for n in size)
    return (size[0], size[1]) if fits else None


def _is_rle(row: dict[str, Any]) -> bool:
    return isinstance(row.get("segmentation", row), dict)


def _found(value: Any) -> Found:
    """Keys of an object by id are ids, not keys of records."""
    found = Found()
    start = list(value.values()) if kind(value) == "samples" else value if isinstance(value, dict | list) else []
    _walk(start, "", found, 0)
    return found


def _walk(value: Any, key: str, found: Found, depth: int) -> None:
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, dict):
        found.keys.update(map(str, value))
        if {"size", "counts"} <= value.keys():
            compressed = isinstance(value["counts"], str)
            found.segments["compressed run-lengths" if compressed else "uncompressed run-lengths"] += 1
            return
        for name, inner in value.items():
            _walk(inner, str(name), found, depth + 1)
    elif isinstance(value, list):
        _list(value, key, found, depth)
    elif isinstance(value, _NUMBER) and not isinstance(value, bool):
        found.numbers.setdefault(key, []).append(float(value))
    elif isinstance(value, str) and key not in ID_KEYS:
        found.texts.setdefault(key, value)


def _list(value: list[Any], key: str, found: Found, depth: int) -> None:
    numbers = all(isinstance(v, _NUMBER) and not isinstance(v, bool) for v in value) and not _NO_BOXES.search(key)
    if value and numbers and len(value) == 4:
        found.boxes.setdefault(key, []).append([float(v) for v in value])
    elif value and numbers and len(value) > 4:
        found.segments["lists of numbers, polygons perhaps"] += 1
    else:
        for inner in value:
            _walk(inner, key, found, depth + 1)


def _ranges(boxes: list[list[float]]) -> str:
    """Of each of the four numbers, and how often the second corner is after the first: only then can it be xyxy."""
    array = np.array(boxes)
    spans = ", ".join(f"{a:g}..{b:g}" for a, b in zip(array.min(0), array.max(0), strict=True))
    ordered = int(np.all(array[:, 2:] >= array[:, :2], axis=1).sum())
    return f"{len(boxes)} of four numbers, {spans}; the last two are no less than the first two in {ordered}"
