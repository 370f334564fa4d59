"""mask_jpeg: a threshold is always declared; what is no grey, upright, whole JPEG is refused by name."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from formats import mask_samples
from formats.mask_samples import SIZES
from groundeval.errors import InputError
from groundeval.formats import lisa_demo, mask_jpeg
from groundeval.metrics import masks
from groundeval.options import resolve


def jpeg(size: tuple[int, int], values: tuple[int, int] = (0, 255), mode: str = "L", **more: Any) -> bytes:
    """Left half background, right half foreground."""
    plane = np.full(size, values[0], np.uint8)
    plane[:, size[1] // 2 :] = values[1]
    out = io.BytesIO()
    Image.fromarray(plane).convert(mode).save(out, "JPEG", quality=95, **more)
    return out.getvalue()


def read(folder: Path, data: bytes, notes: Counter[str] | None = None, **said: Any) -> dict[str, Any]:
    """The row of sample a, [4, 6]."""
    (folder / "a.jpg").write_bytes(data)
    chosen = resolve(mask_jpeg.FORMAT.options, {"threshold": 127, **said}, "test")
    return mask_samples.read("mask_jpeg", folder, chosen, notes)["a"]


def half(size: tuple[int, int]) -> bytes:
    mask = np.zeros(size, np.bool_)
    mask[:, size[1] // 2 :] = True
    return masks.encode(mask)


@pytest.mark.parametrize("mode", ["L", "RGB"])
@pytest.mark.parametrize("progressive", [True, False])
def test_grey_in_every_usual_form(tmp_path: Path, mode: str, progressive: bool) -> None:
    row = read(tmp_path, jpeg(SIZES["a"], mode=mode, progressive=progressive))
    assert row == {"status": "answered", "reason": None, "mask": half(SIZES["a"])}


def test_the_threshold_is_required_and_decides(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="threshold is not declared"):
        resolve(mask_jpeg.FORMAT.options, {}, "test")
    dim = jpeg(SIZES["a"], (0, 100))
    assert read(tmp_path, dim)["status"] == "none"
    assert read(tmp_path, dim, threshold=50)["mask"] == half(SIZES["a"])


def test_a_threshold_beside_the_values_is_noted(tmp_path: Path) -> None:
    notes = Counter[str]()
    read(tmp_path, jpeg(SIZES["a"], (0, 120)), notes)
    assert "is it the right one?" in next(iter(notes))
    notes.clear()
    read(tmp_path, jpeg(SIZES["a"]), notes)
    assert not notes


def turned(data: bytes, orientation: int) -> bytes:
    image = Image.open(io.BytesIO(data))
    exif = Image.Exif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    image.save(out, "JPEG", exif=exif)
    return out.getvalue()


def test_exif_rotation_is_refused_and_upright_is_not(tmp_path: Path) -> None:
    assert read(tmp_path, turned(jpeg(SIZES["a"]), 1))["status"] == "answered"
    row = read(tmp_path, turned(jpeg(SIZES["a"]), 6))
    assert row["status"] == "invalid"
    assert "EXIF orientation is 6" in row["reason"]


def overlay() -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (*SIZES["a"], 3), np.uint8)).save(out, "JPEG")
    return out.getvalue()


def huge() -> bytes:
    data = jpeg((8, 8))
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + (60000).to_bytes(2, "big") * 2 + data[at + 4 :]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (overlay(), "colour image"),
        (jpeg(SIZES["a"], mode="CMYK"), "rare kind"),
        (jpeg((6, 4)), "swapped?"),
        (jpeg((32, 32)), "no image here has that size: is it the network's?"),
        (huge(), "3600000000 pixels, more than"),
        (jpeg(SIZES["a"])[:-2], "cut off"),
        (jpeg(SIZES["a"]) + b"more", "goes on after its end"),
        (jpeg(SIZES["a"])[:200] + b"\xff\xd9", "JPEG"),
        (b"", "is empty, not a JPEG"),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "is a PNG, not a JPEG"),
        (b"\xff\xd8\xff\xe0\0\x10", "cut off"),
    ],
)
def test_what_is_refused(tmp_path: Path, data: bytes, what: str) -> None:
    row = read(tmp_path, data)
    assert (row["status"], row["mask"]) == ("invalid", None)
    assert row["reason"].startswith(str(tmp_path / "a.jpg"))
    assert what in row["reason"]


def test_one_name_in_two_spellings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jpeg").write_bytes(jpeg(SIZES["a"]))
    with pytest.raises(InputError, match=r"several files, first \"a\": a\.jpeg, a\.jpg"):
        read(tmp_path, jpeg(SIZES["a"]))


LISA = {"names": "sample"}


def lisa(folder: Path, notes: Counter[str] | None = None, **said: Any) -> dict[str, dict[str, Any]]:
    return mask_samples.read("lisa_demo", folder, resolve(lisa_demo.FORMAT.options, {**LISA, **said}, "test"), notes)


def test_lisa_masks_of_a_stem_are_joined_and_overlays_are_not_read(tmp_path: Path) -> None:
    size = SIZES["a"]
    (tmp_path / "a_mask_0.jpg").write_bytes(jpeg(size, (0, 100)))
    (tmp_path / "a_mask_1.jpg").write_bytes(jpeg(size, (100, 0)))
    (tmp_path / "a_masked_img_0.jpg").write_bytes(overlay())
    notes = Counter[str]()
    rows = lisa(tmp_path, notes)
    assert rows["a"]["mask"] == masks.full(*size)
    assert rows["c"]["status"] == "missing"
    assert lisa(tmp_path, absent="none")["c"]["status"] == "none"
    assert 'files beside the answers, not read, as "a_masked_img_0.jpg"' in notes


def test_lisa_values_that_are_not_the_scripts(tmp_path: Path) -> None:
    (tmp_path / "a_mask_0.jpg").write_bytes(jpeg(SIZES["a"]))
    row = lisa(tmp_path)["a"]
    assert "has values up to 255, these scripts write 0 and 100" in row["reason"]


def test_lisa_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(jpeg(SIZES["a"]))
    with pytest.raises(InputError, match=r"1 of 1 files are no \{stem\}_mask_\{i\}\.jpg"):
        lisa(tmp_path)


def test_a_threshold_that_nothing_can_exceed_is_refused(tmp_path: Path) -> None:
    for threshold in (255, 300):
        row = read(tmp_path, jpeg(SIZES["a"]), threshold=threshold)
        assert row["status"] == "invalid"
        assert f"no value can exceed threshold={threshold}, the largest possible one is 255" in row["reason"]
    assert read(tmp_path, jpeg(SIZES["a"]), threshold=250)["status"] == "answered"
