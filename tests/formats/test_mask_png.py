"""A folder of PNGs: what is read, what is a sample's fault and what is the folder's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from formats import mask_samples
from formats.mask_samples import MASKS, answered, without
from groundeval.errors import InputError
from sources import pngs


def save(folder: Path, name: str, samples: NDArray[Any], **kind: Any) -> None:
    (folder / name).write_bytes(pngs.write(samples, **kind))


def fill(folder: Path, value: int = 255) -> None:
    for name, mask in MASKS.items():
        save(folder, f"{name}.png", mask.astype(np.uint8) * np.uint8(value))


@pytest.mark.parametrize("value", [1, 255, 100])
def test_any_second_value_is_foreground(tmp_path: Path, value: int) -> None:
    fill(tmp_path, value)
    assert mask_samples.read("mask_png", tmp_path) == {name: answered(name) for name in MASKS}


@pytest.mark.parametrize(
    ("colour", "depth", "value"),
    [(pngs.GREY, 1, 1), (pngs.GREY, 4, 15), (pngs.GREY, 16, 256), (pngs.PALETTE, 8, 7), (pngs.PALETTE, 1, 1)],
)
def test_kinds_of_png(tmp_path: Path, colour: int, depth: int, value: int) -> None:
    for name, mask in MASKS.items():
        save(tmp_path, f"{name}.png", mask.astype(np.uint16) * np.uint16(value), depth=depth, colour=colour)
    assert mask_samples.read("mask_png", tmp_path) == {name: answered(name) for name in MASKS}


def test_a_palette_whose_colours_are_equally_bright_is_read_by_index(tmp_path: Path) -> None:
    fill(tmp_path)
    palette = [0, 0, 0, 255, 255, 255] * 2
    save(tmp_path, "a.png", MASKS["a"].astype(np.uint8) * 2, depth=2, colour=pngs.PALETTE, palette=palette)
    assert mask_samples.read("mask_png", tmp_path)["a"] == answered("a")


def test_missing_none_and_full(tmp_path: Path) -> None:
    save(tmp_path, "a.png", np.zeros((4, 6), np.uint8))
    save(tmp_path, "c.PNG", np.full((7, 3), 255, np.uint8))
    notes: Counter[str] = Counter()
    rows = mask_samples.read("mask_png", tmp_path, notes=notes)
    assert rows["a"] == without("none")
    assert rows["b-cup-handle"] == without("missing")
    assert rows["c"]["status"] == "answered"
    assert notes == {"masks that are foreground everywhere": 1}


def test_a_declared_threshold(tmp_path: Path) -> None:
    fill(tmp_path)
    save(tmp_path, "a.png", np.where(MASKS["a"], 51, 50).astype(np.uint8))
    assert mask_samples.read("mask_png", tmp_path, {"threshold": 50.0})["a"] == answered("a")
    refused = mask_samples.read("mask_png", tmp_path)["a"]
    assert refused["status"] == "invalid"
    assert "two values, 50 and 51, and neither is 0" in refused["reason"]


def test_faults_of_one_sample(tmp_path: Path) -> None:
    save(tmp_path, "a.png", np.zeros((6, 4), np.uint8))
    Image.fromarray(np.zeros((5, 5), np.uint8)).save(tmp_path / "b-cup-handle.png", "jpeg")
    save(tmp_path, "c.png", np.arange(21, dtype=np.uint8).reshape(7, 3))
    rows = mask_samples.read("mask_png", tmp_path)
    assert {row["status"] for row in rows.values()} == {"invalid"}
    assert {row["mask"] for row in rows.values()} == {None}
    swapped = "the mask is 6 x 4, the image is 4 x 6 (height x width): are height and width swapped?"
    assert rows["a"]["reason"].startswith(f"{tmp_path / 'a.png'}: {swapped}")
    assert "is a JPEG" in rows["b-cup-handle"]["reason"]
    assert "more than two values, 0, 20 and 1" in rows["c"]["reason"]


def test_another_size_names_both(tmp_path: Path) -> None:
    fill(tmp_path)
    save(tmp_path, "a.png", np.zeros((8, 12), np.uint8))
    reason = mask_samples.read("mask_png", tmp_path)["a"]["reason"]
    assert (
        "the mask is 8 x 12, the image is 4 x 6 (height x width); no image here has that size: is it the network's? Save"
        in reason
    )


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (["d.png"], 'are not samples of this split, first "d"'),
        (["b-cup-handel.png"], 'nearest are "b-cup-handle"'),
        (["sub/a.png"], 'first "sub/a"'),
        (["a.png", "a.PNG"], 'names have several files, first "a": a.PNG, a.png'),
        (["notes.txt", "a.jpg", "c.png"], r'2 of 3 files are no .png, first "a.jpg"'),
    ],
)
def test_faults_of_the_folder(tmp_path: Path, names: list[str], what: str) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        save(tmp_path, name, np.zeros((4, 6), np.uint8))
    with pytest.raises(InputError, match=what) as error:
        mask_samples.read("mask_png", tmp_path)
    assert error.value.file == str(tmp_path)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    fill(tmp_path)
    with pytest.raises(InputError, match="expected a folder"):
        mask_samples.read("mask_png", tmp_path / "a.png")
