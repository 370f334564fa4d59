"""A JSON list of run-lengths: both forms, several a sample, explicit nothing, and every fault by name."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pycocotools.mask as coco
import pytest

from formats import mask_samples
from formats.mask_samples import MASKS, SIZES, answered, without
from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import coco_rle
from groundeval.metrics import masks
from groundeval.sources.folder import Source


def row(name: str, mask: Any = None, **more: Any) -> dict[str, Any]:
    """A row as pycocotools users write it."""
    rle = coco.encode(np.asfortranarray(MASKS[name] if mask is None else mask, np.uint8))
    return {"sample_id": name, "segmentation": {"size": rle["size"], "counts": rle["counts"].decode()}, **more}


def uncompressed(name: str) -> dict[str, Any]:
    runs = masks.unpack(mask_samples.COUNTS[name]).tolist()
    return {"sample_id": name, "segmentation": {"size": list(SIZES[name]), "counts": runs}}


def read(tmp_path: Path, rows: Any, notes: Counter[str] | None = None) -> dict[str, dict[str, Any]]:
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    return mask_samples.read("coco_rle", tmp_path / "rows.json", notes=notes)


@pytest.mark.parametrize("form", [row, uncompressed])
def test_both_forms(tmp_path: Path, form: Any) -> None:
    assert read(tmp_path, [form(name) for name in MASKS]) == {name: answered(name) for name in MASKS}


def test_a_folder_with_one_file_and_image_id_for_sample_id(tmp_path: Path) -> None:
    rows = [{"image_id": r.pop("sample_id"), **r} for r in map(row, reversed(MASKS))]
    read(tmp_path, rows)
    assert mask_samples.read("coco_rle", tmp_path) == {name: answered(name) for name in MASKS}


def test_several_instances_are_joined_in_any_order(tmp_path: Path) -> None:
    mask, left = MASKS["b-cup-handle"], np.arange(5) < 2
    parts = [row("b-cup-handle", mask & left, score=0.2), row("b-cup-handle", mask & ~left, score=0.9)]
    empty = {"sample_id": "b-cup-handle", "segmentation": None}
    notes: Counter[str] = Counter()
    for rows in (parts, parts[::-1], [*parts, empty], [*parts, parts[0]]):
        assert read(tmp_path, rows, notes)["b-cup-handle"] == answered("b-cup-handle")
    padding = "run-lengths that repeat another of their sample: looks like sampler padding"
    assert notes == {"masks joined from several instances": 4, "scores that were not used": 9, padding: 1}


def test_nothing_is_not_missing(tmp_path: Path) -> None:
    rows = [{"sample_id": "a", "segmentation": None}, {"sample_id": "b-cup-handle", "segmentation": []}]
    assert read(tmp_path, rows) == {"a": without("none"), "b-cup-handle": without("none"), "c": without("missing")}
    assert read(tmp_path, [row("c", np.zeros((7, 3)))])["c"] == without("none")


def test_equal_masks_get_equal_bytes(tmp_path: Path) -> None:
    rows = [uncompressed(name) for name in MASKS]
    for r in rows:
        counts = r["segmentation"]["counts"]
        counts[1:1] = [0, 0]
        counts += [0, 0]
    assert read(tmp_path, rows) == {name: answered(name) for name in MASKS}


def test_the_example_is_one() -> None:
    for example in json.loads(coco_rle.FORMAT.example):
        if example["segmentation"]:
            size, counts = example["segmentation"].values()
            runs = masks.unpack(counts.encode()) if isinstance(counts, str) else np.array(counts)
            assert masks.canonical(runs, *size) == masks.pack(runs, *size)


A = {"size": [4, 6], "counts": [24]}


@pytest.mark.parametrize(
    ("segmentation", "what"),
    [
        (
            {**A, "size": [6, 4]},
            "the mask is 6 x 4, the image is 4 x 6 (height x width): are height and width swapped?",
        ),
        ({**A, "size": [100000, 100000]}, "the mask is 100000 x 100000, the image is 4 x 6"),
        ({**A, "size": [4]}, "expected [height, width]"),
        ({**A, "size": [4.0, 6]}, "expected [height, width]"),
        ({**A, "size": None}, "expected [height, width]"),
        ({**A, "counts": [23]}, "covers 23 pixels, the image has 4 x 6 = 24"),
        ({**A, "counts": [10, 15]}, "covers 25 pixels"),
        ({**A, "counts": [10, -2, 16]}, "a run of -2"),
        ({**A, "counts": [2**70, 1]}, "neither a string nor a list of whole numbers"),
        ({**A, "counts": [2**63, 1]}, f"a run of {2**63}"),
        ({**A, "counts": [24.0]}, "neither a string nor a list of whole numbers"),
        ({**A, "counts": [True, 23]}, "neither a string nor a list of whole numbers"),
        ({**A, "counts": []}, "neither a string nor a list of whole numbers"),
        ({**A, "counts": ""}, "is empty"),
        ({**A, "counts": "0"}, "covers 0 pixels"),
        ({**A, "counts": "b'h0'"}, "characters that a COCO counts string never has"),
        ({**A, "counts": "h\u00e4"}, "characters that a COCO counts string never has"),
        ({**A, "counts": "h"}, "cut off within a number"),
        ([[0, 0, 3, 0, 3, 3]], "a polygon"),
        ({"counts": [24]}, "is no {size, counts}"),
        ("h0", "is no {size, counts}"),
    ],
)
def test_faults_of_one_sample(tmp_path: Path, segmentation: Any, what: str) -> None:
    rows = read(tmp_path, [row("b-cup-handle"), {"sample_id": "a", "segmentation": segmentation}])
    assert rows["a"]["status"] == "invalid"
    assert rows["a"]["mask"] is None
    assert rows["a"]["reason"].startswith(f'{tmp_path / "rows.json"}, row 2, "a": ')
    assert what in rows["a"]["reason"]
    assert rows["b-cup-handle"] == answered("b-cup-handle")


def test_one_bad_instance_spoils_its_sample(tmp_path: Path) -> None:
    bad = {"sample_id": "a", "segmentation": {**A, "counts": [23]}}
    assert read(tmp_path, [row("a"), bad])["a"]["status"] == "invalid"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({}, "is a JSON dict, expected a list of rows"),
        ([{"sample_id": "d", "segmentation": None}], "are not samples"),
        ([{"sample_id": 4, "segmentation": None}], 'first "4"'),
        ([{"segmentation": None}], "its sample_id is"),
        ([{"sample_id": ["a"], "segmentation": None}], "its sample_id is"),
        ([{"sample_id": True, "segmentation": None}], "its sample_id is"),
        (["a"], "row 1: is not an object"),
    ],
)
def test_faults_of_the_file(tmp_path: Path, content: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        read(tmp_path, content)


@pytest.mark.parametrize(
    "data", [b"", b"[NaN]", b'[{"sample_id": "a", "sample_id": "c", "segmentation": null}]', b"[{"]
)
def test_broken_json(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "rows.json").write_bytes(data)
    with pytest.raises(InputError, match=r"rows\.json"):
        mask_samples.read("coco_rle", tmp_path)


def test_a_folder_with_two_files(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(InputError, match="2 files"):
        mask_samples.read("coco_rle", tmp_path)


def test_counts_without_a_size(tmp_path: Path) -> None:
    bare = mask_samples.COUNTS["a"].decode()
    rows = [{"sample_id": "a", "segmentation": bare}, {"sample_id": "c", "segmentation": {"counts": [21]}}]
    found = read(tmp_path, rows)
    assert "is no {size, counts}" in found["a"]["reason"]
    assert "has no size" in found["c"]["reason"]
    assert "--set size=manifest" in found["c"]["reason"]
    found = mask_samples.read("coco_rle", tmp_path, {"size": "manifest"})
    assert found["a"] == answered("a")
    assert found["c"] == without("none")
    read(tmp_path, [{"sample_id": "a", "segmentation": {"size": [6, 4], "counts": bare}}])
    assert "swapped?" in mask_samples.read("coco_rle", tmp_path, {"size": "manifest"})["a"]["reason"]


def test_text_that_was_escaped_twice(tmp_path: Path) -> None:
    # 44 is 12 and a carry, which COCO writes as a backslash.
    given = masks.pack(np.array([44, 2400 - 44]), 40, 60).decode()
    assert "\\" in given
    rows = [{"sample_id": "a", "image_id": "a", "height": 40, "width": 60, "tags": {}}]
    manifest = pa.Table.from_pylist(rows, schema=tables.MANIFEST)
    for text, status in ((given, "answered"), (given.replace("\\", "\\\\"), "invalid")):
        content = [{"sample_id": "a", "segmentation": {"size": [40, 60], "counts": text}}]
        (tmp_path / "rows.json").write_text(json.dumps(content), encoding="utf-8")
        row = next(coco_rle.read(Source(tmp_path), manifest, {}, Counter())).to_pylist()[0]
        assert row["status"] == status
    assert "its backslashes stand doubled, it was escaped twice" in row["reason"]
