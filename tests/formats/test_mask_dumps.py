"""glamm_json, sam3_agent, grounded_sam2: one JSON a sample, with run-lengths as each producer writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from formats import mask_samples
from formats.mask_samples import COUNTS, SIZES, answered, without
from groundeval import formats
from groundeval.errors import InputError
from groundeval.options import resolve

H, W = SIZES["a"]
BARE = COUNTS["a"].decode()
RLE = {"size": [H, W], "counts": BARE}
MAKE: dict[str, Callable[[list[Any]], dict[str, Any]]] = {
    "glamm_json": lambda masks: {"image_id": "a", "caption": "", "phrases": [], "pred_masks": masks},
    "sam3_agent": lambda masks: {"orig_img_h": H, "orig_img_w": W, "pred_masks": [m["counts"] for m in masks]},
    "grounded_sam2": lambda masks: {
        "image_path": "a.jpg", "annotations": [{"segmentation": m} for m in masks], "img_height": H, "img_width": W,
    },
}  # fmt: skip


def read(folder: Path, name: str, content: Any, file: str = "a.json", **said: Any) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / file).write_text(text, encoding="utf-8")
    return mask_samples.read(name, folder, resolve(formats.record(name).options, said, "test"))["a"]


@pytest.mark.parametrize("name", MAKE)
def test_one_several_and_no_masks(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, name, MAKE[name]([RLE])) == answered("a")
    assert read(tmp_path, name, MAKE[name]([RLE, RLE])) == answered("a")
    assert read(tmp_path, name, MAKE[name]([])) == without("none")


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize(
    ("counts", "what"),
    [
        ("", "is empty"),
        ("0", "covers 0 pixels"),
        (f"b'{BARE}'", "text of Python bytes"),
        ("8", "covers 8 pixels, the image has 4 x 6 = 24"),
        (None, "neither a string nor a list of whole numbers"),
        (3, "neither a string nor a list of whole numbers"),
    ],
)
def test_counts_that_are_none_name_their_mask(tmp_path: Path, name: str, counts: Any, what: str) -> None:
    row = read(tmp_path, name, MAKE[name]([RLE, {**RLE, "counts": counts}]))
    assert row["status"] == "invalid"
    assert row["reason"].startswith(f"{tmp_path / 'a.json'}, ")
    assert " 2: " in row["reason"]
    assert what in row["reason"]


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize(
    "content", ["", "[]", "null", "{", '{"a": NaN}', '{"a": 1, "a": 2}', "{}", '{"pred_masks": 1}']
)
def test_files_that_are_none(tmp_path: Path, name: str, content: str) -> None:
    row = read(tmp_path, name, content)
    assert row["status"] == "invalid"
    assert row["reason"].startswith(str(tmp_path / "a.json"))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("glamm_json", {"pred_masks": [{**RLE, "size": [W, H]}]}),
        ("sam3_agent", {"orig_img_h": W, "orig_img_w": H}),
        ("grounded_sam2", {"img_height": W, "img_width": H}),
        ("grounded_sam2", {"annotations": [{"segmentation": {**RLE, "size": [W, H]}}]}),
    ],
)
def test_transposed_sizes(tmp_path: Path, name: str, changed: dict[str, Any]) -> None:
    row = read(tmp_path, name, {**MAKE[name]([RLE]), **changed})
    assert "the mask is 6 x 4, the image is 4 x 6 (height x width): are height and width swapped?" in row["reason"]


def test_glamm_objects_within_an_object(tmp_path: Path) -> None:
    assert read(tmp_path, "glamm_json", {"a.jpg": MAKE["glamm_json"]([RLE])}) == answered("a")


def test_grounded_sam2_annotations_that_are_none(tmp_path: Path) -> None:
    row = read(tmp_path, "grounded_sam2", {**MAKE["grounded_sam2"]([]), "annotations": [3]})
    assert "annotation 1: is not an object with a segmentation" in row["reason"]


def test_sam3_files_beside_the_answers(tmp_path: Path) -> None:
    (tmp_path / "a_history.json").write_text("[]")
    (tmp_path / "a_pred.png").write_bytes(b"an image")
    assert read(tmp_path, "sam3_agent", MAKE["sam3_agent"]([RLE]), "a_pred.json") == answered("a")
    with pytest.raises(InputError, match=r"several files, first \"a\": a\.json, a_pred\.json"):
        read(tmp_path, "sam3_agent", MAKE["sam3_agent"]([RLE]), "a.json")


def test_sam3_files_without_a_prompt(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no image_path and text_prompt"):
        read(tmp_path, "sam3_agent", MAKE["sam3_agent"]([RLE]), names="image_text")
