"""Confidence maps: PNG, grey, 8 bit. Nothing else has confidences 0..255 that need no guessing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.sources import images

_COLOURS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGBA"}
_FIX = "Save confidence maps as PNG, grey, one channel of 8 bit."


def decode(data: bytes, where: str) -> NDArray[np.uint8]:
    """A confidence map, uint8 [H, W]. Other depths, colours, palettes and files are an InputError."""
    said = images.header(data, where)
    if (said.depth, said.colour) != (8, 0):
        what = f"is {_COLOURS[said.colour]} of {said.depth} bit a channel, expected grey of 8 bit"
        raise InputError(where, what, _FIX)
    return np.asarray(images.decode(data, where), np.uint8)


def size_of(path: Path) -> tuple[int, int]:
    """Height and width of a PNG, from its first bytes."""
    with path.open("rb") as opened:
        said = images.header(opened.read(33), str(path))
    return said.height, said.width


def size_fault(found: tuple[int, ...], expected: tuple[int, int]) -> str | None:
    """What is wrong with a size (height, width), naming both, or None."""
    if found == expected:
        return None
    swapped = "; height and width are swapped" if found == expected[::-1] else ""
    return f"is {found[0]}x{found[1]}, expected {expected[0]}x{expected[1]} (height x width){swapped}"
