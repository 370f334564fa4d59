"""labelme: polygons, rectangles and masks are joined; what has no area, or another image's size, is refused."""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from formats import mask_samples
from formats.mask_samples import SIZES
from groundeval.errors import InputError
from groundeval.formats import labelme
from groundeval.metrics import masks
from groundeval.options import resolve

SIZE = SIZES["c"]  # 7 x 3


def shape(points: Any, kind: str | None = "polygon", label: str = "x", **more: Any) -> dict[str, Any]:
    return {"label": label, "points": points, "shape_type": kind, "flags": {}, **more}


def drawn(mask: Any, points: Any) -> dict[str, Any]:
    out = io.BytesIO()
    Image.fromarray(np.array(mask, np.uint8) * 255).save(out, "PNG")
    return shape(points, "mask", mask=base64.b64encode(out.getvalue()).decode())


def read(
    folder: Path, shapes: Any, notes: Counter[str] | None = None, head: dict[str, Any] | None = None, **said: Any
) -> dict[str, Any]:
    content = {"version": "5.5.0", "imageHeight": SIZE[0], "imageWidth": SIZE[1], "shapes": shapes, **(head or {})}
    (folder / "c.json").write_text(json.dumps(content), encoding="utf-8")
    return mask_samples.read("labelme", folder, resolve(labelme.FORMAT.options, said, "test"), notes)["c"]


def mask(*rectangles: tuple[int, int, int, int]) -> bytes:
    """Of rectangles (top, left, bottom, right)."""
    out = np.zeros(SIZE, np.bool_)
    for top, left, bottom, right in rectangles:
        out[top:bottom, left:right] = True
    return masks.encode(out)


SQUARE = [[0, 1], [2, 1], [2, 3], [0, 3]]


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([shape(SQUARE)], mask((1, 0, 3, 2))),
        ([shape(SQUARE, None)], mask((1, 0, 3, 2))),
        ([shape([[2, 3], [0, 1]], "rectangle")], mask((1, 0, 3, 2))),
        ([shape(SQUARE), shape([[1, 4], [3, 6]], "rectangle")], mask((1, 0, 3, 2), (4, 1, 6, 3))),
        ([drawn([[1, 1], [0, 1]], [[1, 5], [2, 6]])], mask((5, 1, 6, 3), (6, 2, 7, 3))),
    ],
)
def test_shapes_are_joined(tmp_path: Path, shapes: Any, expected: bytes) -> None:
    assert read(tmp_path, shapes) == {"status": "answered", "reason": None, "mask": expected}


def test_no_shape_says_that_nothing_is_there(tmp_path: Path) -> None:
    assert read(tmp_path, [])["status"] == "none"


def test_labels(tmp_path: Path) -> None:
    shapes = [shape(SQUARE, label="cup"), shape([[1, 4], [3, 6]], "rectangle", label="table")]
    notes = Counter[str]()
    assert read(tmp_path, shapes, notes, labels="cup, plate")["mask"] == mask((1, 0, 3, 2))
    assert notes == {"shapes of other labels, not read": 1}


@pytest.mark.parametrize(
    ("shapes", "head", "what"),
    [
        ([shape([[1, 1], [2, 2]], "circle")], {}, 'shape 1: is a "circle", which is no area'),
        ([shape([[1, 1]], "rectangle")], {}, "has no two corners"),
        ([shape([[1, "x"], [2, 2]], "rectangle")], {}, "has no two corners"),
        ([shape([[1, None], [2, 2], [3, 3]])], {}, "not a number"),
        ([drawn([[1]], [[1, 1], [2, 2]])], {}, "does not fill its rectangle"),
        ([drawn([[1, 1]], [[2, 1], [3, 1]])], {}, "reaches out of the image"),
        ([shape([[0, 0], [1, 1]], "mask", mask="%%")], {}, "no base64 text"),
        ([shape([[0, 0], [1, 1]], "mask", mask="AAAA")], {}, "not a PNG"),
        ([shape([[0, 0], [1, 1]], "mask")], {}, "is empty, not a PNG"),
        (["x"], {}, "is no object with label and points"),
        ([{**shape(SQUARE), "label": ["x"]}], {}, "is no object with label and points"),
        ({}, {}, "has no list shapes"),
        ([], {"imageHeight": None}, "has no imageHeight and imageWidth"),
        ([], {"imageHeight": 3, "imageWidth": 7}, "swapped?"),
    ],
)
def test_faults(tmp_path: Path, shapes: Any, head: dict[str, Any], what: str) -> None:
    row = read(tmp_path, shapes, head=head)
    assert row["status"] == "invalid"
    assert row["reason"].startswith(str(tmp_path / "c.json"))
    assert what in row["reason"]


def test_labels_that_no_file_has_are_no_none(tmp_path: Path) -> None:
    square = shape([[0, 0], [3, 0], [3, 3], [0, 3]], label="cup")
    assert read(tmp_path, [square], labels="cup, rim")["status"] == "answered"
    with pytest.raises(InputError, match='no shape in any file has one of the declared labels, first "nothere"'):
        read(tmp_path, [square], labels="nothere")


def test_one_mask_is_not_joined_from_several(tmp_path: Path) -> None:
    notes = Counter[str]()
    assert read(tmp_path, [drawn(np.ones((3, 2)), [[0, 0], [1, 2]])], notes)["status"] == "answered"
    assert not notes
