"""mdetr_json: running numbers lead to samples through the annotations, or to an error that says why not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import mdetr_json
from groundeval.options import resolve
from groundeval.sources.folder import Source

# Two samples of one image and text, and one of its own.
SAMPLES = {"1:1": ("7", "left"), "2:1": ("7", "left"), "3:1": ("8", "left")}
BOX, OTHER = [1, 2, 30, 40], [5, 6, 70, 80]
IMAGES = [{"id": n, "original_id": int(i), "caption": t} for n, (i, t) in enumerate(SAMPLES.values(), 10)]


def manifest() -> pa.Table:
    rows = [
        {"sample_id": s, "image_id": i, "height": 100, "width": 200, "text": t, "tags": {}}
        for s, (i, t) in SAMPLES.items()
    ]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def record(*boxes: list[int]) -> dict[str, Any]:
    return {"boxes": list(boxes), "scores": [0.9] * len(boxes), "labels": [1] * len(boxes)}


def convert(
    folder: Path, content: Any, images: Any = None, notes: Counter[str] | None = None, **said: Any
) -> dict[str, Any]:
    (folder / "dump.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "ann.json").write_text(json.dumps({"images": IMAGES if images is None else images}), encoding="utf-8")
    declared = {"annotations": "ann.json", "boxes": "xyxy", "unit": "px", "score_threshold": 0.7, **said}
    chosen = resolve(mdetr_json.FORMAT.options, declared, "test")
    batches = mdetr_json.read(Source(folder), manifest(), chosen, Counter() if notes is None else notes)
    return {row["sample_id"]: row for b in batches for row in b.to_pylist()}


def test_numbers_lead_to_samples(tmp_path: Path) -> None:
    rows = convert(tmp_path, {"10": record(BOX), "11": record(BOX), "12": record()})
    assert [(r["status"], r["boxes"]) for r in rows.values()] == [("answered", [BOX])] * 2 + [("none", None)]


@pytest.mark.parametrize("others", [{"11": record(OTHER)}, {}])
def test_a_shared_text_is_never_guessed(tmp_path: Path, others: dict[str, Any]) -> None:
    rows = convert(tmp_path, {"10": record(BOX), **others, "12": record(OTHER)})
    assert [r["status"] for r in rows.values()] == ["invalid", "invalid", "answered"]
    assert "the annotations do not say which is whose" in rows["1:1"]["reason"]


@pytest.mark.parametrize(
    "keys",
    [
        lambda s: {"sample_id": s},
        lambda s: {"ref_id": int(s.split(":")[0]), "sent_id": int(s.split(":")[1]), "original_id": 0, "caption": ""},
    ],
)
def test_ids_in_the_annotations_settle_it(tmp_path: Path, keys: Any) -> None:
    images = [{"id": n, **keys(s)} for n, s in enumerate(SAMPLES)]
    rows = convert(tmp_path, {"0": record(BOX), "1": record(OTHER)}, images)
    assert [r["boxes"] for r in rows.values()] == [[BOX], [OTHER], None]
    assert rows["3:1"]["status"] == "missing"


def test_the_list_of_mmdet(tmp_path: Path) -> None:
    records = [{"img_id": 12, "bboxes": [BOX], "scores": [0.8]}, {"img_id": 10, "bboxes": [], "scores": []}]
    rows = convert(tmp_path, [*records, {"img_id": 11, "bboxes": [], "scores": []}])
    assert [r["status"] for r in rows.values()] == ["none", "none", "answered"]
    with pytest.raises(InputError, match="sampler padding"):
        convert(tmp_path, [*records, records[0]])
    notes = Counter[str]()
    assert convert(tmp_path, [*records, records[0]], notes=notes, drop_padding=True)["3:1"]["boxes"] == [BOX]
    assert notes["records dropped as sampler padding"] == 1


@pytest.mark.parametrize(
    ("content", "images", "what"),
    [
        ({"99": record()}, None, r'1 of 1 numbers are not in the annotations, first "99"'),
        ({"10": record()}, [{"id": 10, "original_id": 9, "caption": "x"}], 'of no sample of this split, first "10", "9 / x"'),
        ({"10": record()}, [{"id": 10}], "image 10 has no original_id and caption"),
        ({"10": record()}, [{"id": "10"}], "has no list images with an id each"),
        ({"10": record()}, {}, "has no list images"),
        (3, None, "neither an object nor a list"),
        ([record()], None, "record 0: has no image_id or img_id"),
        ([3], None, "neither an object nor a list"),
        ({"10": record(BOX), "11": record(BOX), "12": {"boxes": [BOX]}}, None, "have no score"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, content: Any, images: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        convert(tmp_path, content, images)


def test_a_record_that_is_none_is_invalid(tmp_path: Path) -> None:
    assert convert(tmp_path, {"12": None})["3:1"]["status"] == "invalid"
    assert convert(tmp_path, {"12": {"boxes": [BOX], "scores": []}})["3:1"]["reason"].endswith(
        "not one score for each box"
    )


def test_the_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no file \"b\.json\", the annotations"):
        convert(tmp_path, {}, annotations="b.json")
    (tmp_path / "more.json").write_text("{}")
    with pytest.raises(InputError, match=r"2 \.json files beside the annotations"):
        convert(tmp_path, {})
    with pytest.raises(InputError, match=r"is one file, expected the folder .* Give the folder that holds both"):
        convert_single(tmp_path / "dump.json")


def convert_single(path: Path) -> None:
    chosen = resolve(mdetr_json.FORMAT.options, {"annotations": "dump.json", "boxes": "xyxy", "unit": "px"}, "test")
    list(mdetr_json.read(Source(path), manifest(), chosen, Counter()))
