"""The one place where image files become arrays. What a file is, its bytes say, never its name.

PNG: the whole file is checked first (see `png`). Then the header and the pixels, and no other chunk, go to a
Rust decoder, an order of magnitude faster than OpenCV and PIL. It takes grey, RGB and RGBA of 8 and 16 bits. Every other
kind is handed to it under the header of one of these whose rows have the same bytes: a palette as grey, packed bits as
their bytes, grey with alpha as wider pixels.
(PIL gives an image whose pixels end early without a word, and 16-bit colour cut to 8 bits.)
Specification: PNG (Third Edition), W3C, section 7 (pixels to bytes).

JPEG: only where a format asks for it, as its pixels are no longer those that were written (see `jpeg`). libjpeg-turbo
decodes, and stops at whatever other readers only warn of. A JPEG has no checksum: a changed bit can go unnoticed.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.sources import jpeg, png
from groundeval.sources.png import Header as Header
from groundeval.sources.png import header as header

_MODES = {png.GREY: "mono", png.RGB: "rgb", png.RGBA: "rgba"}  # what the decoder takes
# Grey with alpha of two and of four bytes a pixel, as another kind of as many.
_ALIKE = {8: (png.GREY, 16), 16: (png.RGBA, 8)}
NEUTRAL = 16  # levels between the channels of a grey pixel that went through a JPEG in colour
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h


def decode(data: bytes, where: str) -> NDArray[Any]:
    """The samples as they are stored: [H, W], or [H, W, C] for grey with alpha, RGB and RGBA; uint8, or uint16 for 16 bits.

    A palette gives indices, never colours; 1, 2 and 4 bits give 0..1, 0..3, 0..15. Orientation, gamma and colour
    profiles are not applied. Any damage is an InputError, and so are interlaced pixels of less than 8 bits.
    """
    head = header(data, where)
    if head.interlaced and head.depth < 8:
        raise InputError(where, f"is interlaced, with {head.depth} bits a pixel", "Save it without interlacing.")
    pixels = png.pixel_chunks(data, where)
    _keep_buffers()
    try:
        samples = _decoded(pixels, head)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # the decoder raises Exception itself, and a panic in Rust is not even that
        raise InputError(where, f"the PNG cannot be decoded ({error})", png.DAMAGED) from None
    return samples


def decode_jpeg(data: bytes, where: str) -> NDArray[np.uint8]:
    """The grey plane [H, W] of a JPEG. Damage that shows is an InputError, and so are rotation by EXIF and colours."""
    from kornia_rs import io

    channels = jpeg.header(data, where).channels
    _keep_buffers()
    try:
        samples: NDArray[np.uint8] = io.decode_image_jpegturbo(data, "mono" if channels == 1 else "rgb")
    except Exception:  # the decoder has no class of its own
        raise InputError(where, "the JPEG is damaged, its pixels cannot be decoded", png.DAMAGED) from None
    if channels == 3 and np.ptp(samples, axis=2).max() > NEUTRAL:
        raise InputError(where, "is a colour image: an overlay, or a mask in palette colours", "Save a grey mask.")
    return samples[..., channels // 2]  # green is nearest to the luminance that was stored


def _decoded(pixels: bytes, head: Header) -> NDArray[Any]:
    if head.depth < 8:
        row = replace(head, width=-(-head.width * head.depth // 8), depth=8, colour=png.GREY)
        return _unpacked(_in_rust(pixels, row), head)
    if head.colour == png.PALETTE:
        return _in_rust(pixels, replace(head, colour=png.GREY))
    if head.colour == png.GREY_ALPHA:
        colour, depth = _ALIKE[head.depth]
        wide = _in_rust(pixels, replace(head, colour=colour, depth=depth))
        stored = wide.astype(">u2").view(np.uint8) if head.depth == 8 else wide.view(">u2").astype(np.uint16)
        return stored.reshape(head.height, head.width, 2)
    return _in_rust(pixels, head)


def _in_rust(pixels: bytes, head: Header) -> NDArray[Any]:
    """Decode the chunks under a header of a kind that the decoder takes. The array owns its memory."""
    from kornia_rs import io

    decode = io.decode_image_png_u8 if head.depth == 8 else io.decode_image_png_u16
    samples: NDArray[Any] = decode(png.header_chunk(head) + pixels, (head.height, head.width), _MODES[head.colour])
    return samples[..., 0] if head.colour == png.GREY else samples


def _unpacked(rows: NDArray[np.uint8], head: Header) -> NDArray[np.uint8]:
    """Samples of 1, 2 or 4 bits from the bytes of each row, high bits first; a row's last bits may be padding."""
    bits = np.unpackbits(rows, axis=1, count=head.width * head.depth)
    if head.depth == 1:
        return bits
    left_aligned = np.packbits(bits.reshape(head.height, head.width, head.depth), axis=2)[..., 0]
    samples: NDArray[np.uint8] = left_aligned >> np.uint8(8 - head.depth)
    return samples


@functools.cache
def _keep_buffers() -> None:
    """Tell glibc to keep freed buffers of megapixels for the next image, instead of faulting each in from the kernel anew.

    The process then holds its peak memory until it ends. Other C libraries have no such call.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, 1 << 25)  # the most that every version takes
        mallopt(_M_TRIM_THRESHOLD, 1 << 30)
