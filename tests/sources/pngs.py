"""PNG files of every kind, written from the specification alone: any depth, colour type and chunks, interlaced or not."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}
KINDS = [(GREY, d) for d in (1, 2, 4, 8, 16)] + [(PALETTE, d) for d in (1, 2, 4, 8)]
KINDS += [(RGB, 8), (RGB, 16), (RGBA, 8), (RGBA, 16), (GREY_ALPHA, 8), (GREY_ALPHA, 16)]
# First row, first column, row step, column step of the seven passes (section 8.2).
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]


def chunk(name: bytes, data: bytes = b"") -> bytes:
    """One chunk with its length and checksum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def header(height: int, width: int, depth: int = 8, colour: int = GREY, interlaced: bool = False) -> bytes:
    """The IHDR chunk."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def write(
    samples: NDArray[Any],
    depth: int = 8,
    colour: int = GREY,
    interlaced: bool = False,
    extra: Iterable[bytes] = (),
    palette: Sequence[int] | None = None,
) -> bytes:
    """A whole file. samples: [H, W] or [H, W, C]; extra: chunks before the pixels."""
    height, width = samples.shape[:2]
    if colour == PALETTE:
        colours = bytes(palette or [(7 * i) % 256 for i in range(3 * 2**depth)])
        extra = [*extra, chunk(b"PLTE", colours)]
    passes = [samples[r::rs, c::cs] for r, c, rs, cs in ADAM7] if interlaced else [samples]
    rows = b"".join(_rows(p, depth) for p in passes if p.size)
    body = [*extra, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND")]
    return SIGNATURE + header(height, width, depth, colour, interlaced) + b"".join(body)


def random(colour: int, depth: int, height: int, width: int, seed: int) -> NDArray[Any]:
    """Samples that use the whole range of a depth, of the type that decoding gives."""
    shape = (height, width) if CHANNELS[colour] == 1 else (height, width, CHANNELS[colour])
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2**depth, shape).astype(np.uint16 if depth == 16 else np.uint8)


def _rows(samples: NDArray[Any], depth: int) -> bytes:
    flat = samples.reshape(samples.shape[0], -1)
    if depth < 8:
        bits = np.unpackbits(flat.astype(np.uint8)[..., None], axis=2)[..., 8 - depth :]
        flat = np.packbits(bits.reshape(len(flat), -1), axis=1)
    big_endian = flat.astype(">u2" if depth == 16 else np.uint8)
    return b"".join(b"\0" + row.tobytes() for row in big_endian)
