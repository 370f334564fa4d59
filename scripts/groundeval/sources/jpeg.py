"""JPEG as a container: size and kind, from its segments. No pixel is decoded here.

Specification: ITU-T T.81, annex B (segments).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groundeval.errors import InputError
from groundeval.sources import exif, png

_START, _END = b"\xff\xd8\xff", b"\xff\xd9"
_FRAMES = {0xC0, 0xC1, 0xC2}  # baseline, extended, progressive: what every decoder takes
_OTHER_FRAMES = set(range(0xC0, 0xD0)) - _FRAMES - {0xC4, 0xC8, 0xCC}
_SCAN, _EXIF, _SEVERAL = 0xDA, 0xE1, 0xE2


@dataclass(frozen=True)
class Header:
    """What a JPEG says of itself. channels: 1 (grey) or 3."""

    height: int
    width: int
    channels: int


def header(data: bytes, where: str) -> Header:
    """Size and kind. InputError for any other file, one that is cut off, turned by EXIF, or larger than png.MAX_PIXELS."""
    if not data.startswith(_START):
        raise InputError(where, f"is {png.kind(data)}, not a JPEG", "Use the format for the files that you have.")
    found = None
    for marker, content in _segments(data, where):
        if marker == _EXIF and content.startswith(b"Exif\0\0"):
            exif.refuse_rotation(content[6:], where)
        if marker == _SEVERAL and content.startswith(b"MPF\0"):
            raise InputError(where, "holds several images", "Save one mask a file.")
        if marker in _FRAMES | _OTHER_FRAMES:
            found = _frame(marker, content, where)
    if found is None or not data.endswith(_END):
        raise InputError(where, "the JPEG is cut off, or goes on after its end", png.DAMAGED)
    return found


def _segments(data: bytes, where: str) -> Iterator[tuple[int, bytes]]:
    """Marker and content of each segment before the pixels."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            raise InputError(where, "the JPEG is damaged, a segment does not begin where it should", png.DAMAGED)
        if data[at + 1] == 0xFF:  # padding
            at += 1
            continue
        stop = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if stop > len(data):
            return
        yield data[at + 1], data[at + 4 : stop]
        if data[at + 1] == _SCAN:
            return
        at = stop


def _frame(marker: int, content: bytes, where: str) -> Header:
    if marker not in _FRAMES or len(content) < 6 or content[0] != 8 or content[5] not in (1, 3):
        raise InputError(where, "is a JPEG of a rare kind (lossless, 12 bit, CMYK)", "Save it as an ordinary JPEG.")
    height, width = int.from_bytes(content[1:3], "big"), int.from_bytes(content[3:5], "big")
    if not height or not width:
        raise InputError(where, f"the JPEG is {height} x {width}", png.DAMAGED)
    if height * width > png.MAX_PIXELS:
        what = f"{height} x {width} is {height * width} pixels, more than {png.MAX_PIXELS}"
        raise InputError(where, what, "Give it at the size of the image.")
    return Header(height, width, content[5])
