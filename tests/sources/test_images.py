"""Every kind of PNG decodes to the samples that were written; every kind of damage is said."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from PIL import Image

from groundeval.errors import InputError
from groundeval.sources import images
from sources import pngs

SMALL = pngs.write(np.array([[0, 255, 3], [7, 0, 255]], np.uint8))


def by_pil(data: bytes) -> NDArray[Any]:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image)


def by_opencv(data: bytes) -> NDArray[Any]:
    return np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))


KINDS = [(*kind, False) for kind in pngs.KINDS] + [(c, d, True) for c, d in pngs.KINDS if d >= 8]


@pytest.mark.parametrize(("colour", "depth", "interlaced"), KINDS)
@pytest.mark.parametrize("size", [(1, 1), (5, 9), (17, 8)])
def test_every_kind_gives_its_own_samples(colour: int, depth: int, interlaced: bool, size: tuple[int, int]) -> None:
    samples = pngs.random(colour, depth, *size, seed=depth)
    found = images.decode(pngs.write(samples, depth, colour, interlaced), "a.png")
    assert found.dtype == samples.dtype
    np.testing.assert_array_equal(found, samples)


# PIL stretches 2 and 4 bits to 0..255, and cuts 16-bit colour.
PIL_KEEPS = [(c, d, i) for c, d, i in KINDS if d in (1, 8) or (c, d) == (pngs.GREY, 16) or c == pngs.PALETTE]


@pytest.mark.parametrize(("colour", "depth", "interlaced"), PIL_KEEPS)
def test_pil_agrees(colour: int, depth: int, interlaced: bool) -> None:
    data = pngs.write(pngs.random(colour, depth, 33, 21, seed=1), depth, colour, interlaced)
    np.testing.assert_array_equal(images.decode(data, "a.png"), by_pil(data))


def test_opencv_agrees_on_sixteen_bit_rgb() -> None:
    data = pngs.write(pngs.random(pngs.RGB, 16, 33, 21, seed=1), 16, pngs.RGB)
    np.testing.assert_array_equal(images.decode(data, "a.png"), by_opencv(data)[..., ::-1])


@given(hnp.arrays(st.sampled_from([np.uint8, np.uint16]), hnp.array_shapes(min_dims=2, max_dims=2, max_side=40)))
@settings(max_examples=50, deadline=None)
def test_what_pil_and_opencv_write_with_their_filters_is_read_back(samples: NDArray[Any]) -> None:
    written = io.BytesIO()
    Image.fromarray(samples).save(written, "png")
    np.testing.assert_array_equal(images.decode(written.getvalue(), "a.png"), samples)
    encoded = cv2.imencode(".png", samples)[1].tobytes()
    np.testing.assert_array_equal(images.decode(encoded, "a.png"), samples)


@pytest.mark.parametrize("mode", ["1", "P", "LA", "RGBA"])
def test_what_pil_writes_in_other_modes_is_read_back(mode: str) -> None:
    image = Image.fromarray(pngs.random(pngs.RGB, 8, 20, 30, seed=5)).convert(mode)
    written = io.BytesIO()
    image.save(written, "png")
    np.testing.assert_array_equal(images.decode(written.getvalue(), "a.png"), np.asarray(image))


def test_real_masks_decode_alike_in_all_three(real: Path) -> None:
    for path in sorted((real / "instructpart/test/masks").glob("*.png"))[::100]:
        data = path.read_bytes()
        found = images.decode(data, str(path))
        np.testing.assert_array_equal(found, by_pil(data))
        np.testing.assert_array_equal(found, by_opencv(data))


def test_arrays_own_their_memory() -> None:
    samples = [pngs.random(pngs.GREY, 8, 64, 64, seed) for seed in range(20)]
    found = [images.decode(pngs.write(s), "a.png") for s in samples]
    for a, b in zip(found, samples, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any(np.shares_memory(found[0], other) for other in found[1:])


@pytest.mark.parametrize("colour", [pngs.GREY, pngs.PALETTE])
def test_chunks_that_make_no_pixels_are_not_handed_on(colour: int) -> None:
    extra = [
        pngs.chunk(b"gAMA", (45455).to_bytes(4, "big")),
        pngs.chunk(b"iCCP", b"x\0\0broken"),
        pngs.chunk(b"eXIf", b"II"),
    ]
    samples = pngs.random(colour, 8, 6, 5, seed=2)
    np.testing.assert_array_equal(images.decode(pngs.write(samples, 8, colour, extra=extra), "a.png"), samples)


@pytest.mark.parametrize("kind", [(pngs.GREY, 8), (pngs.PALETTE, 4)])
def test_every_truncation_and_every_flipped_bit_is_refused(kind: tuple[int, int]) -> None:
    colour, depth = kind
    data = pngs.write(pngs.random(colour, depth, 4, 5, seed=3), depth, colour, palette=list(range(48)))
    damaged = [data[:n] for n in range(len(data))] + [flipped(data, bit) for bit in range(8 * len(data))]
    for bad in damaged:
        with pytest.raises(InputError) as error:
            images.decode(bad, "a.png")
        assert error.value.file == "a.png"


def flipped(data: bytes, bit: int) -> bytes:
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


@pytest.mark.parametrize(("colour", "depth"), pngs.KINDS)
def test_too_few_pixels_under_a_good_checksum_are_refused(colour: int, depth: int) -> None:
    good = pngs.write(pngs.random(colour, depth, 9, 9, seed=4), depth, colour)
    with pytest.raises(InputError, match="cannot be decoded"):
        images.decode(good.replace(pngs.header(9, 9, depth, colour), pngs.header(90, 9, depth, colour)), "a.png")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty, not a PNG"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "is a JPEG"),
        (b"GIF89a", "is a GIF"),
        (b"\x93NUMPY\1\0", "is a NumPy array"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
        (b"<html>", "is an unknown kind of file"),
        (pngs.SIGNATURE, "does not begin with a header"),
        (pngs.SIGNATURE + pngs.chunk(b"CgBI", bytes(4)) + SMALL[8:], "does not begin with a header"),
        (pngs.SIGNATURE + pngs.header(0, 5) + pngs.chunk(b"IEND"), "header is not a valid one"),
        (pngs.SIGNATURE + pngs.header(5, 5, depth=3) + pngs.chunk(b"IEND"), "header is not a valid one"),
        (pngs.SIGNATURE + pngs.header(20000, 20000) + pngs.chunk(b"IEND"), "20000 x 20000 is 400000000 pixels"),
        (SMALL + b"\0", "goes on after its end"),
        (SMALL + pngs.chunk(b"tEXt", b"more"), "goes on after its end"),
        (SMALL + SMALL, "goes on after its end"),
        (SMALL[:33] + pngs.header(90, 90) + SMALL[33:], "two headers"),
        (SMALL[:33] + pngs.chunk(b"acTL", bytes(8)) + SMALL[33:], "animated"),
        (SMALL[:33] + pngs.chunk(b"IDAT", zlib.compress(b"no")) + pngs.chunk(b"IEND"), "cannot be decoded"),
        (SMALL[:33] + pngs.chunk(b"IEND"), "cannot be decoded"),
        (SMALL[:33] + pngs.chunk(b"ABCD") + SMALL[33:], "unknown chunk"),
        (pngs.write(pngs.random(pngs.GREY, 2, 9, 9, 0), 2, pngs.GREY, interlaced=True), "interlaced, with 2 bits"),
    ],
)
def test_what_is_no_usable_png_is_said(data: bytes, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        images.decode(data, "folder/a.png")
    assert error.value.file == "folder/a.png"


def test_the_header_is_read_without_the_rest() -> None:
    data = pngs.write(pngs.random(pngs.RGB, 16, 3, 8, 0), 16, pngs.RGB)
    assert images.header(data[:33], "a.png") == images.Header(3, 8, 16, pngs.RGB)
