"""class_png: which pixels count as which class, what is refused and how it says so, sizes."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import class_png
from groundeval.metrics import resize
from groundeval.options import resolve
from groundeval.sources.folder import Source

NATIVE, SCORED = (9, 16), (4, 6)
LABEL = np.random.default_rng(0).integers(0, 3, NATIVE).astype(np.uint8)


def manifest(*samples: str) -> pa.Table:
    rows = [{"sample_id": s, "image_id": s, "height": NATIVE[0], "width": NATIVE[1], "tags": {}} for s in samples]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def read(folder: Path, *samples: str, notes: Counter[str] | None = None, **said: Any) -> dict[str, tuple[Any, Any]]:
    """Sample id -> (status, reason or map)."""
    chosen = resolve(class_png.FORMAT.options, said, "test") | {"eval_size": "4x6"}
    said_of = Counter[str]() if notes is None else notes
    out = {}
    for batch in class_png.read(Source(folder), manifest(*(samples or ("a",))), chosen, said_of):
        for i, name in enumerate(batch.column("sample_id").to_pylist()):
            found = tables.unpack_map(batch, i)
            reason = batch.column("reason")[i].as_py()
            out[name] = (batch.column("status")[i].as_py(), reason if found is None else found)
    return out


def save(folder: Path, image: Image.Image, name: str = "a.png", kind: str = "PNG") -> Path:
    image.save(folder / name, kind)
    return folder


def test_grey_counts_by_value_in_8_and_16_bits(tmp_path: Path) -> None:
    for dtype in (np.uint8, np.uint16):
        save(tmp_path, Image.fromarray(LABEL.astype(dtype)))
        status, found = read(tmp_path)["a"]
        assert (status, found.dtype) == ("answered", dtype)
        np.testing.assert_array_equal(found, LABEL)


def test_a_palette_counts_by_index(tmp_path: Path) -> None:
    image = Image.fromarray(LABEL)
    image.putpalette([200, 0, 0, 0, 0, 0, 0, 200, 0])
    status, found = read(save(tmp_path, image))["a"]
    assert status == "answered"
    np.testing.assert_array_equal(found, LABEL)


def test_rgb_needs_a_colour_table(tmp_path: Path) -> None:
    colours = np.array([[0, 0, 0], [128, 64, 128], [255, 0, 1]], np.uint8)
    rgb = colours[LABEL]
    rgb[0, 0] = 9, 9, 9
    save(tmp_path, Image.fromarray(rgb))
    assert read(tmp_path)["a"] == (
        "invalid",
        "a.png is RGB; save class numbers as grey or palette PNG, or declare the option colours",
    )
    notes = Counter[str]()
    found = read(tmp_path, notes=notes, colours="0=#000000, 1=#804080 2=#FF0001")["a"][1]
    expected = LABEL.copy()
    expected[0, 0] = class_png.OUTSIDE
    np.testing.assert_array_equal(found, expected)
    assert notes["pixels of a colour outside the table, counted as wrong"] == 1


@pytest.mark.parametrize("said", ["0=black", "255=#000000", "0=#000000 1=#000000", ","])
def test_a_broken_colour_table_is_an_error(tmp_path: Path, said: str) -> None:
    with pytest.raises(InputError, match="colours"):
        read(save(tmp_path, Image.fromarray(LABEL)), colours=said)


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "RGBA"), ("LA", "grey with alpha")])
def test_alpha_is_refused(tmp_path: Path, mode: str, kind: str) -> None:
    status, reason = read(save(tmp_path, Image.fromarray(LABEL).convert(mode)))["a"]
    assert status == "invalid"
    assert f"a.png is {kind}" in reason


def test_jpeg_is_refused_by_name_and_by_content(tmp_path: Path) -> None:
    status, reason = read(save(tmp_path, Image.fromarray(LABEL), kind="JPEG"))["a"]
    assert status == "invalid"
    assert "JPEG" in reason
    save(tmp_path, Image.fromarray(LABEL), "b.jpg", "JPEG")
    with pytest.raises(InputError, match=r'1 files in a lossy image format, first "b.jpg"'):
        read(tmp_path)


def test_sizes_are_named_and_never_guessed(tmp_path: Path) -> None:
    save(tmp_path, Image.fromarray(LABEL), "a.png")
    save(tmp_path, Image.fromarray(resize.nearest(LABEL, SCORED)), "b.png")
    save(tmp_path, Image.fromarray(LABEL.T.copy()), "c.png")
    save(tmp_path, Image.fromarray(LABEL[:8]), "d.png")
    notes = Counter[str]()
    found = read(tmp_path, *"abcd", notes=notes)
    assert [found[s][0] for s in "abcd"] == ["answered", "answered", "invalid", "invalid"]
    assert "is 16x9, expected 4x6 or 9x16 (height x width); height and width look swapped" in found["c"][1]
    assert found["d"][1].startswith("d.png is 8x16, expected 4x6 or 9x16 (height x width); no image here")
    assert dict(notes) == {"predictions at 4x6": 1, f"predictions at native size, brought to 4x6 by {resize.NAME}": 1}


def test_resizing_is_opt_in_and_noted(tmp_path: Path) -> None:
    notes = Counter[str]()
    found = read(save(tmp_path, Image.fromarray(LABEL[:8])), notes=notes, resize="nearest")["a"][1]
    np.testing.assert_array_equal(found, resize.nearest(LABEL[:8], SCORED))
    assert dict(notes) == {f"predictions resized from 8x16 to 4x6 by {resize.NAME}": 1}


def test_missing_unknown_and_other_files(tmp_path: Path) -> None:
    save(tmp_path, Image.fromarray(LABEL))
    (tmp_path / "readme.txt").write_text("x")
    notes = Counter[str]()
    found = read(tmp_path, "a", "b", notes=notes)
    assert found["b"] == ("missing", "no file b.png")
    assert notes["files that are not .png, not read"] == 1
    with pytest.raises(InputError, match="1 ids are not samples of this split"):
        read(tmp_path, "b")
    with pytest.raises(InputError, match="expected a folder"):
        read(tmp_path / "a.png")
    save(tmp_path, Image.fromarray(LABEL), "a.PNG")
    with pytest.raises(InputError, match="more than once"):
        read(tmp_path, "a")


def test_a_cut_file_is_invalid(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.fromarray(LABEL).save(buffer, "PNG")
    (tmp_path / "a.png").write_bytes(buffer.getvalue()[:-20])
    assert read(tmp_path)["a"][0] == "invalid"


def test_a_colour_of_no_class_is_refused(tmp_path: Path) -> None:
    save(tmp_path, Image.fromarray(np.zeros((*NATIVE, 3), np.uint8)))
    chosen = resolve(class_png.FORMAT.options, {"colours": "0=#000000 9=#ff0000"}, "test") | {"classes": 3}
    with pytest.raises(InputError, match="colours names class 9, the benchmark has the classes 0 to 2"):
        list(class_png.read(Source(tmp_path), manifest("a"), chosen, Counter()))
