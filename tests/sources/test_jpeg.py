"""JPEG: the pixels are libjpeg's, the header is checked before them, and damage that shows is an error."""

from __future__ import annotations

import io
import random
import struct

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundeval.errors import InputError
from groundeval.sources import exif, images, jpeg
from sources import pngs

PLANE = np.random.default_rng(0).integers(0, 255, (37, 53)).astype(np.uint8)


def encoded(**more: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(PLANE).save(out, "JPEG", **more)
    return out.getvalue()


@pytest.mark.parametrize("more", [{}, {"quality": 30}, {"progressive": True}, {"optimize": True}])
def test_pixels_are_those_of_other_readers(more: dict[str, object]) -> None:
    data = encoded(**more)
    assert jpeg.header(data, "f") == jpeg.Header(*PLANE.shape, 1)
    found = images.decode_jpeg(data, "f")
    np.testing.assert_array_equal(found, np.asarray(Image.open(io.BytesIO(data))))
    np.testing.assert_array_equal(found, cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))


@given(st.integers(0, 4000))
@settings(max_examples=60, deadline=None)
def test_a_file_that_is_cut_is_an_error(at: int) -> None:
    data = encoded()
    with pytest.raises(InputError):
        images.decode_jpeg(data[: at % len(data)], "f")


def test_a_changed_bit_is_an_error_or_an_image() -> None:
    rng, data, errors = random.Random(0), encoded(), []
    for _ in range(150):
        changed = bytearray(data)
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            assert images.decode_jpeg(bytes(changed), "f").ndim == 2
        except InputError as error:
            errors.append(error.file)
    assert set(errors) == {"f"}


def test_several_images_in_one_file() -> None:
    out = io.BytesIO()
    first = Image.fromarray(PLANE).convert("RGB")
    first.save(out, "MPO", save_all=True, append_images=[first])
    with pytest.raises(InputError, match="several images"):
        jpeg.header(out.getvalue(), "f")


def tiff(order: str, value: int, tag: int = 0x0112, kind: int = 3) -> bytes:
    """EXIF metadata with a first entry that is something else."""
    mark = {"<": b"II*\0", ">": b"MM\0*"}[order]
    entries = struct.pack(order + "HHIHH", 0x010F, 2, 1, 0, 0) + struct.pack(order + "HHIHH", tag, kind, 1, value, 0)
    return mark + struct.pack(order + "IH", 8, 2) + entries


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("value", range(1, 9))
def test_orientation(order: str, value: int) -> None:
    assert exif.orientation(tiff(order, value)) == value


@pytest.mark.parametrize(
    "data",
    [b"", b"II*\0", tiff("<", 9), tiff("<", 0), tiff(">", 6, tag=0x0113), tiff(">", 6, kind=4), tiff("<", 6)[:-8]],
)
def test_no_orientation_is_upright(data: bytes) -> None:
    assert exif.orientation(data) == 1


@given(st.binary(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_metadata_are_read(data: bytes) -> None:
    assert exif.orientation(b"MM\0*" + data) in range(1, 9)


def test_a_png_that_is_turned_is_refused_as_well() -> None:
    for value, refused in ((1, False), (8, True)):
        data = pngs.write(PLANE, extra=[pngs.chunk(b"eXIf", tiff(">", value))])
        if refused:
            with pytest.raises(InputError, match="EXIF orientation is 8"):
                images.decode(data, "f")
        else:
            np.testing.assert_array_equal(images.decode(data, "f"), PLANE)
