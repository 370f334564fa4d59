"""PNG as a container: what the header says, and the chunks, checked. No pixel is decoded here.

Specification: PNG (Third Edition), W3C, sections 5 (chunks) and 11.2 (header).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from groundeval.errors import InputError, quoted
from groundeval.sources import exif

MAX_PIXELS = 64_000_000
DAMAGED = "Copy or write the file again."
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6  # colour types

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_DEPTHS = {GREY: (1, 2, 4, 8, 16), RGB: (8, 16), PALETTE: (1, 2, 4, 8), GREY_ALPHA: (8, 16), RGBA: (8, 16)}
_ANIMATION = {b"acTL", b"fcTL", b"fdAT"}
_CRITICAL = {b"IHDR", b"PLTE", b"IDAT", b"IEND"}
_KINDS = {
    _SIGNATURE: "a PNG",
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


@dataclass(frozen=True)
class Header:
    """What a PNG says of itself. depth: bits a sample; colour: one of the colour types."""

    height: int
    width: int
    depth: int
    colour: int
    interlaced: bool = False


def header(data: bytes, where: str) -> Header:
    """Size and kind from the first 33 bytes. InputError for any other kind of file, and for more than MAX_PIXELS."""
    if not data.startswith(_SIGNATURE):
        raise InputError(where, f"is {kind(data)}, not a PNG", "Save masks as PNG, whose pixels stay what they are.")
    if len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":
        raise InputError(where, "the PNG does not begin with a header", DAMAGED)
    width, height, depth, colour, deflate, filters, interlace = struct.unpack_from(">IIBBBBB", data, 16)
    known = depth in _DEPTHS.get(colour, ()) and (deflate, filters) == (0, 0) and interlace in (0, 1)
    if not known or not height or not width:
        raise InputError(where, "the PNG header is not a valid one", DAMAGED)
    if height * width > MAX_PIXELS:
        what = f"{height} x {width} is {height * width} pixels, more than {MAX_PIXELS}"
        raise InputError(where, what, "Give it at the size of the image.")
    return Header(height, width, depth, colour, bool(interlace))


def header_chunk(head: Header) -> bytes:
    """Signature and header: the first 33 bytes of a file."""
    size = struct.pack(">II", head.width, head.height)
    content = b"IHDR" + size + bytes([head.depth, head.colour, 0, 0, head.interlaced])
    return _SIGNATURE + struct.pack(">I", 13) + content + struct.pack(">I", zlib.crc32(content))


def pixel_chunks(data: bytes, where: str) -> bytes:
    """The chunks of pixels and the end. Damage, animation, trailing bytes and unknown critical chunks are InputErrors."""
    kept, ended = [], False
    for name, start, stop in _chunks(data, where):
        if name in _ANIMATION:
            raise InputError(where, "is an animated PNG, with several images", "Save one mask as a plain PNG.")
        if name == b"eXIf":
            exif.refuse_rotation(data[start + 8 : stop - 4], where)
        if name == b"IHDR" and start > len(_SIGNATURE):
            raise InputError(where, "the PNG has two headers", DAMAGED)
        if name[0] & 32 == 0 and name not in _CRITICAL:  # a capital letter: a decoder has to understand it
            raise InputError(where, f"the PNG has an unknown chunk {quoted(name.decode('latin-1'))}", DAMAGED)
        if name in (b"IDAT", b"IEND"):
            kept.append(data[start:stop])
        ended = name == b"IEND"
    if not ended:
        raise InputError(where, "the PNG is cut off", DAMAGED)
    return b"".join(kept)


def _chunks(data: bytes, where: str) -> Iterator[tuple[bytes, int, int]]:
    """Name, start and stop of each chunk, its checksum verified."""
    view, start = memoryview(data), len(_SIGNATURE)
    name = b""
    while start < len(data):
        if name == b"IEND":
            raise InputError(where, "the PNG goes on after its end", DAMAGED)
        if start + 12 > len(data):
            raise InputError(where, "the PNG is cut off", DAMAGED)
        length, name = struct.unpack_from(">I4s", data, start)
        stop = start + 12 + length
        if stop > len(data):
            raise InputError(where, "the PNG is cut off", DAMAGED)
        if zlib.crc32(view[start + 4 : stop - 4]) != int.from_bytes(view[stop - 4 : stop], "big"):
            raise InputError(
                where, f"the PNG is damaged, chunk {quoted(name.decode('latin-1'))} fails its check", DAMAGED
            )
        yield name, start, stop
        start = stop


def kind(data: bytes) -> str:
    """What kind of file begins like this, for a message."""
    if not data:
        return "empty"
    return next((kind for magic, kind in _KINDS.items() if data.startswith(magic)), "an unknown kind of file")
