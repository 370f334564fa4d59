"""Pictures and arrays that are not what they seem."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sources import pngs
from tests.security.scene import PEAK, Scene

Make = Callable[[str], Scene]


def bomb(height: int, width: int) -> bytes:
    """A sound PNG of one bit a pixel, all black."""
    row = bytes(1 + -(-width // 8))
    packed = zlib.compressobj(9)
    data = b"".join([*(packed.compress(row * 100) for _ in range(height // 100)), packed.flush()])
    end = pngs.chunk(b"IDAT", data) + pngs.chunk(b"IEND")
    return pngs.SIGNATURE + pngs.header(height, width, 1) + end


def test_a_picture_of_400_megapixels(scene: Make) -> None:
    found = scene("mask")
    data = bomb(20000, 20000)
    assert len(data) < 60_000
    found.first(".png").write_bytes(data)
    line = found.refused("1 of 57 answers cannot be used")
    assert "20000 x 20000 is 400000000 pixels, more than 64000000" in line


def test_a_picture_that_says_it_is_small_and_is_not(scene: Make) -> None:
    """400 megapixels behind the header of the right size: the pixels that it declares are read, and no more."""
    found = scene("mask")
    path = found.first(".png")
    with Image.open(path) as opened:
        width, height = opened.size
    huge = bomb(20000, 20000)
    path.write_bytes(pngs.SIGNATURE + pngs.header(height, width, 1) + huge[33:])
    done = found.evaluate()
    assert done.code == 0
    assert done.peak < PEAK


def jpeg(mask: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(mask).save(out, "jpeg")
    return out.getvalue()


DAMAGE: dict[str, tuple[Callable[[bytes, np.ndarray], bytes], str]] = {
    "cut at half": (lambda data, _: data[: len(data) // 2], "the PNG is cut off"),
    "without its end": (lambda data, _: data[:-12], "the PNG is cut off"),
    "a bit": (lambda data, _: data[:60] + bytes([data[60] ^ 1]) + data[61:], "fails its check"),
    "a checksum": (lambda data, _: data[:-16] + bytes([data[-16] ^ 1]) + data[-15:], "fails its check"),
    "empty": (lambda data, _: b"", "is empty, not a PNG"),
    "a JPEG": (lambda _, mask: jpeg(mask), "is a JPEG"),
    "text": (lambda _data, _mask: b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    "more after its end": (lambda data, _: data + b"x" * 20, "the PNG"),
    "colour": (lambda _, mask: pngs.write(np.stack([mask, 255 - mask, mask], 2), 8, pngs.RGB), "is a colour image"),
    "three values": (
        lambda _, mask: pngs.write(np.where(np.indices(mask.shape)[0] % 7, mask, 9)),
        "more than two values",
    ),
    "another size": (lambda _, mask: pngs.write(mask[:-1]), "the mask is"),
    "turned": (lambda _, mask: pngs.write(mask.T), "height and width swapped?"),
    "turned by EXIF": (lambda _, mask: pngs.write(mask, extra=[pngs.chunk(b"eXIf", EXIF)]), "EXIF orientation is 6"),
}
EXIF = b"II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0)


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_picture(scene: Make, name: str) -> None:
    found = scene("mask")
    path = next(p for p in sorted(found.predictions.glob("*.png")) if len({*Image.open(p).size}) == 2)
    damage, what = DAMAGE[name]
    mask = np.asarray(Image.open(path))
    path.write_bytes(damage(path.read_bytes(), mask))
    line = found.refused("1 of 57 answers cannot be used, the first")
    assert what in line


@pytest.mark.parametrize("value", [256, 65280, 512])
def test_sixteen_bits_do_not_wrap(scene: Make, value: int) -> None:
    """A foreground of 256 is 0 to whoever keeps eight bits: the score must be that of 255."""
    found = scene("mask")
    assert found.evaluate(out="before").code == 0
    for path in found.predictions.glob("*.png"):
        mask = np.asarray(Image.open(path)).astype(np.uint16)
        path.write_bytes(pngs.write(np.where(mask > 0, value, 0), 16))
    assert found.evaluate(out="after").code == 0
    before, after = ((found.root / name / "metrics.json").read_bytes() for name in ("before", "after"))
    assert before == after


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


class _Evil:
    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, ("was_opened", "w")


def evil(target: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("scores.npy", pickle.dumps(_Evil()))
    del target
    return out.getvalue()


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: npz(scores=np.zeros((3, 12000, 12000), np.uint8)), "bytes, more than"),
        (lambda: npz(scores=np.array([[[{"a": 1}, _Evil()]]], dtype=object)), "pickled Python objects"),
        (lambda: evil(Path()), "is "),
        (lambda: npz(scores=np.zeros((3, 320, 480), np.uint8))[:-100], "is not a readable .npz file"),
        (lambda: npz(score=np.zeros((3, 320, 480), np.uint8)), 'has 0 members "scores.npy"'),
        (lambda: npz(scores=np.zeros((320, 480, 3), np.uint8)), "the classes look to be last"),
        (lambda: npz(scores=np.zeros((3, 320, 480), np.float64)), "has scores of float64, declared is uint8"),
        (lambda: b"", "is "),
    ],
    ids=["huge", "objects", "pickle", "cut", "name", "order", "dtype", "empty"],
)
def test_arrays(scene: Make, make: Callable[[], bytes], what: str) -> None:
    found = scene("scores")
    data = make()
    assert len(data) < 1 << 20
    found.first(".npz").write_bytes(data)
    line = found.refused("1 of 40 answers cannot be used")
    assert what in line
