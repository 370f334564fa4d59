"""The one place where image files become arrays. What a file is, its bytes say, never its name.

PNG only. The whole file is checked first: every chunk's length and checksum, one image, nothing after its end, no more
than MAX_PIXELS. Then the header and the pixels, and no other chunk, go to a Rust decoder, an order of magnitude faster
than OpenCV and PIL. It takes grey, RGB and RGBA of 8 and 16 bits. Every other kind is handed to it under the header of
one of these whose rows have the same bytes: a palette as grey, packed bits as their bytes, grey with alpha as wider pixels.
(PIL gives an image whose pixels end early without a word, and 16-bit colour cut to 8 bits.)
Specification: PNG (Third Edition), W3C, sections 5 (chunks), 7 (pixels to bytes) and 11.2 (header).
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError, quoted

MAX_PIXELS = 64_000_000

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# By colour type.
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_MODES = {_GREY: "mono", _RGB: "rgb", _RGBA: "rgba"}  # what the decoder takes
# Grey with alpha of two and of four bytes a pixel, as another kind of as many.
_ALIKE = {8: (_GREY, 16), 16: (_RGBA, 8)}
_ANIMATION = {b"acTL", b"fcTL", b"fdAT"}
_CRITICAL = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
_OTHERS = {
    b"\xff\xd8\xff": "a JPEG, which changes pixel values",
    b"GIF8": "a GIF",
    b"BM": "a BMP",
    b"RIFF": "a WebP",
    b"II*\0": "a TIFF",
    b"MM\0*": "a TIFF",
    b"\x93NUMPY": "a NumPy array",
    b"PK\x03\x04": "a zip archive",
    b"version https://git-lfs": "a Git LFS pointer, not the file itself",
}
_DAMAGED = "Copy or write the file again."
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h


@dataclass(frozen=True)
class Header:
    """What a PNG says of itself. depth: bits a sample; colour: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGBA."""

    height: int
    width: int
    depth: int
    colour: int
    interlaced: bool = False


def header(data: bytes, where: str) -> Header:
    """Size and kind from the first 33 bytes. InputError for any other kind of file, and for more than MAX_PIXELS."""
    if not data.startswith(_SIGNATURE):
        raise InputError(where, f"is {_kind(data)}, not a PNG", "Save masks as PNG, whose pixels stay what they are.")
    if len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":
        raise InputError(where, "the PNG does not begin with a header", _DAMAGED)
    width, height, depth, colour, deflate, filters, interlace = struct.unpack_from(">IIBBBBB", data, 16)
    known = depth in _DEPTHS.get(colour, ()) and (deflate, filters) == (0, 0) and interlace in (0, 1)
    if not known or not height or not width:
        raise InputError(where, "the PNG header is not a valid one", _DAMAGED)
    if height * width > MAX_PIXELS:
        what = f"{height} x {width} is {height * width} pixels, more than {MAX_PIXELS}"
        raise InputError(where, what, "Give it at the size of the image.")
    return Header(height, width, depth, colour, bool(interlace))


def decode(data: bytes, where: str) -> NDArray[Any]:
    """The samples as they are stored: [H, W], or [H, W, C] for grey with alpha, RGB and RGBA; uint8, or uint16 for 16 bits.

    A palette gives indices, never colours; 1, 2 and 4 bits give 0..1, 0..3, 0..15. Orientation, gamma and colour
    profiles are not applied. Any damage is an InputError, and so are interlaced pixels of less than 8 bits.
    """
    head = header(data, where)
    if head.interlaced and head.depth < 8:
        raise InputError(where, f"is interlaced, with {head.depth} bits a pixel", "Save it without interlacing.")
    pixels = _pixel_chunks(data, where)
    _keep_buffers()
    try:
        samples = _decoded(pixels, head)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # the decoder raises Exception itself, and a panic in Rust is not even that
        raise InputError(where, f"the PNG cannot be decoded ({error})", _DAMAGED) from None
    return samples


def _decoded(pixels: bytes, head: Header) -> NDArray[Any]:
    if head.depth < 8:
        row = replace(head, width=-(-head.width * head.depth // 8), depth=8, colour=_GREY)
        return _unpacked(_in_rust(pixels, row), head)
    if head.colour == _PALETTE:
        return _in_rust(pixels, replace(head, colour=_GREY))
    if head.colour == _GREY_ALPHA:
        colour, depth = _ALIKE[head.depth]
        wide = _in_rust(pixels, replace(head, colour=colour, depth=depth))
        stored = wide.astype(">u2").view(np.uint8) if head.depth == 8 else wide.view(">u2").astype(np.uint16)
        return stored.reshape(head.height, head.width, 2)
    return _in_rust(pixels, head)


def _in_rust(pixels: bytes, head: Header) -> NDArray[Any]:
    """Decode the chunks under a header of a kind that the decoder takes. The array owns its memory."""
    from kornia_rs import io

    decode = io.decode_image_png_u8 if head.depth == 8 else io.decode_image_png_u16
    samples: NDArray[Any] = decode(_header_chunk(head) + pixels, (head.height, head.width), _MODES[head.colour])
    return samples[..., 0] if head.colour == _GREY else samples


def _header_chunk(head: Header) -> bytes:
    """Signature and header: the first 33 bytes of a file."""
    size = struct.pack(">II", head.width, head.height)
    content = b"IHDR" + size + bytes([head.depth, head.colour, 0, 0, head.interlaced])
    return _SIGNATURE + struct.pack(">I", 13) + content + struct.pack(">I", zlib.crc32(content))


def _unpacked(rows: NDArray[np.uint8], head: Header) -> NDArray[np.uint8]:
    """Samples of 1, 2 or 4 bits from the bytes of each row, high bits first; a row's last bits may be padding."""
    bits = np.unpackbits(rows, axis=1, count=head.width * head.depth)
    if head.depth == 1:
        return bits
    samples: NDArray[np.uint8] = np.packbits(bits.reshape(head.height, head.width, head.depth), axis=2)[..., 0]
    return samples >> (8 - head.depth)


def _pixel_chunks(data: bytes, where: str) -> bytes:
    """The chunks of pixels and the end. Damage, animation, trailing bytes and unknown critical chunks are InputErrors."""
    kept, ended = [], False
    for name, start, stop in _chunks(data, where):
        if name in _ANIMATION:
            raise InputError(where, "is an animated PNG, with several images", "Save one mask as a plain PNG.")
        if ended or (name == b"IHDR" and start > len(_SIGNATURE)):
            raise InputError(where, "the PNG goes on after its end" if ended else "the PNG has two headers", _DAMAGED)
        if name[0] & 32 == 0 and name not in _CRITICAL:  # a capital letter: a decoder has to understand it
            raise InputError(where, f"the PNG has an unknown chunk {quoted(name.decode('latin-1'))}", _DAMAGED)
        if name in (b"IDAT", b"IEND"):
            kept.append(data[start:stop])
        ended = name == b"IEND"
    if not ended:
        raise InputError(where, "the PNG is cut off", _DAMAGED)
    return b"".join(kept)


def _chunks(data: bytes, where: str) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and stop of each chunk, its checksum verified."""
    view, start = memoryview(data), len(_SIGNATURE)
    while start < len(data):
        if start + 12 > len(data):
            raise InputError(where, "the PNG is cut off", _DAMAGED)
        length, name = struct.unpack_from(">I4s", data, start)
        stop = start + 12 + length
        if stop > len(data):
            raise InputError(where, "the PNG is cut off", _DAMAGED)
        if zlib.crc32(view[start + 4 : stop - 4]) != int.from_bytes(view[stop - 4 : stop], "big"):
            raise InputError(where, f"the PNG is damaged, chunk {quoted(name.decode('latin-1'))} fails its check", _DAMAGED)
        yield name, start, stop
        start = stop


def _kind(data: bytes) -> str:
    if not data:
        return "empty"
    return next((kind for magic, kind in _OTHERS.items() if data.startswith(magic)), "an unknown kind of file")


@functools.cache
def _keep_buffers() -> None:
    """Tell glibc to keep freed buffers of megapixels for the next image, instead of faulting each in from the kernel anew.

    The process then holds its peak memory until it ends. Other C libraries have no such call.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 30)
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)
