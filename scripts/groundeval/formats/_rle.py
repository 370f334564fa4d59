"""COCO run-lengths as producers write them: with their size, or as the bare counts string of an image whose size is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundeval.errors import InputError, quoted
from groundeval.formats import _masks
from groundeval.metrics import masks

_FIX = "Write it as pycocotools' encode does."
_NO_SIZE = "Write its size beside the counts, or --set size=manifest if it is of its image's size."


def counts(segmentation: Any, height: int, width: int, where: str, sized: bool = True) -> bytes:
    """The canonical counts of one segmentation, {size: [height, width], counts}, for an image of height x width.

    With `sized` False the counts may stand alone, or without a size. Any fault is an InputError.
    """
    if isinstance(segmentation, list):
        raise InputError(where, "its segmentation is a polygon, not a run-length", _FIX)
    if not sized and isinstance(segmentation, str):
        return bare(segmentation, height, width, where)
    if not isinstance(segmentation, dict) or "counts" not in segmentation:
        raise InputError(where, "its segmentation is no {size, counts}", _FIX if sized else _NO_SIZE)
    if "size" in segmentation:
        _masks.check_size(_size(segmentation["size"], where), (height, width), where)
    elif sized:
        raise InputError(where, "its segmentation has no size, so it is no {size, counts}", _NO_SIZE)
    return bare(segmentation["counts"], height, width, where)


def bare(given: Any, height: int, width: int, where: str) -> bytes:
    """The canonical counts of a string or a list of runs, for an image of height x width."""
    try:
        return masks.canonical(_runs(given), height, width)
    except ValueError as error:
        raise InputError(where, f"{error}{_cause(given, height, width)}", _FIX) from None


def _size(size: Any, where: str) -> tuple[int, int]:
    if not isinstance(size, list) or len(size) != 2 or not all(type(n) is int for n in size):
        raise InputError(where, f"its size is {quoted(size)}, expected [height, width]", _FIX)
    return size[0], size[1]


def _runs(given: Any) -> masks.Runs:
    if isinstance(given, str):
        return masks.unpack(given.encode())
    if isinstance(given, list) and given and set(map(type, given)) == {int}:
        return _integers(given)
    raise ValueError("the counts are neither a string nor a list of whole numbers")


def _integers(given: Sequence[int]) -> masks.Runs:
    if max(given) > masks.MAX_PIXELS or min(given) < 0:
        raise ValueError(f"the run-length has a run of {next(n for n in given if not 0 <= n <= masks.MAX_PIXELS)}")
    return np.array(given, np.int64)


def _cause(given: Any, height: int, width: int) -> str:
    """What may have happened to a counts string that is none."""
    if not isinstance(given, str):
        return ""
    if given[:2] in ("b'", 'b"'):
        return "; it is the text of Python bytes, which want .decode() before they are written"
    if "\\\\" in given and _fits(given.replace("\\\\", "\\"), height, width):
        return "; its backslashes stand doubled, it was escaped twice"
    return ""


def _fits(given: str, height: int, width: int) -> bool:
    try:
        masks.validate(given.encode(), height, width)
    except ValueError:
        return False
    return True
