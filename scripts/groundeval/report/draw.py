"""Pixels to small PNGs as data: addresses, the same bytes for the same pixels."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from groundeval.benchmarks import _photo
from groundeval.metrics import masks

LONGEST = 240  # pixels of a picture's longer side
COLOURS = 128  # of a photo

Colour = tuple[int, int, int, int]  # red, green, blue, alpha

# Told apart by people who see red and green alike, and over photos (Okabe and Ito 2008, "Color Universal Design").
HIT, MISSED, EXTRA = (0, 158, 115, 165), (240, 180, 0, 205), (204, 0, 119, 190)
CLASSES: Sequence[Colour] = (
    (120, 120, 120, 110),
    (0, 158, 115, 165),
    (0, 114, 178, 165),
    (230, 159, 0, 165),
    (204, 121, 167, 165),
    (86, 180, 233, 165),
    (213, 94, 0, 165),
    (240, 228, 66, 165),
)
WRONG = (204, 0, 119, 215)
CLEAR = (0, 0, 0, 0)


def size(height: int, width: int) -> tuple[int, int]:
    """Height and width of the picture of an image: its own, or reduced."""
    scale = min(1.0, LONGEST / max(height, width))
    return max(1, round(height * scale)), max(1, round(width * scale))


def pixels(counts: bytes, height: int, width: int) -> NDArray[np.uint8]:
    """A mask's run-lengths as [H, W] of 0 and 1. ValueError: they are no mask of this size."""
    masks.validate(counts, height, width)
    runs = masks.unpack(counts)
    values = np.tile(np.array([0, 1], np.uint8), len(runs) // 2 + 1)[: len(runs)]
    return np.repeat(values, runs).reshape(width, height).T


def overlay(classes: NDArray[np.uint8], colours: Sequence[Colour]) -> str:
    """Class numbers [H, W] in these colours, as a data: address."""
    image = Image.fromarray(np.ascontiguousarray(classes))
    image.putpalette(bytes(part for colour in colours for part in colour[:3]))
    return _address(image, transparency=bytes(colour[3] for colour in colours))


def photo(path: Path, height: int, width: int) -> str:
    """An image at this size in few colours, as a data: address. OSError or ValueError: it cannot be shown."""
    small = Image.fromarray(_photo.pixels(path, height, width))
    return _address(small.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))


def _address(image: Image.Image, **options: bytes) -> str:
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True, **options)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def css(colour: Colour) -> str:
    """A colour without its transparency, for a legend."""
    return "#" + "".join(f"{part:02x}" for part in colour[:3])


def agreement(truth: NDArray[np.uint8], answer: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """0 where neither is 1, 1 where both are, 2 where the truth alone is, 3 where the answer alone is."""
    found: NDArray[np.uint8] = np.choose(truth + 2 * answer, np.array([0, 2, 3, 1], np.uint8)).astype(np.uint8)
    return found


def legend(colours: Iterable[tuple[str, Colour]]) -> list[tuple[str, str]]:
    """(what, colour as css) of each."""
    return [(what, css(colour)) for what, colour in colours]
