"""boxes_json: every convention of the producers, and every kind of damage as one clear line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval import options, tables
from groundeval.errors import InputError
from groundeval.formats import boxes_json
from groundeval.sources.folder import Source

SIZES = {"1:1": (100, 200), "1:2": (480, 640), "2:3": (333, 500)}  # height, width
PX = {"boxes": "xyxy", "unit": "px"}


def manifest() -> pa.Table:
    rows = [
        {"sample_id": name, "image_id": name[0], "height": h, "width": w, "tags": {}} for name, (h, w) in SIZES.items()
    ]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def convert(folder: Path, content: Any, said: dict[str, Any], notes: Counter[str] | None = None) -> dict[str, Any]:
    """sample_id -> the row of the predictions table."""
    path = folder / "answers.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    chosen = options.resolve(boxes_json.FORMAT.options, said, "test")
    batches = list(boxes_json.read(Source(path), manifest(), chosen, Counter() if notes is None else notes))
    assert all(b.schema.equals(tables.predictions_schema("boxes")) for b in batches)
    rows = [row for b in batches for row in b.to_pylist()]
    assert [r["sample_id"] for r in rows] == list(SIZES)
    return {r["sample_id"]: r for r in rows}


def refused(folder: Path, content: Any, said: dict[str, Any]) -> str:
    with pytest.raises(InputError) as error:
        convert(folder, content, said)
    assert error.value.file.startswith(str(folder / "answers.json"))
    return str(error.value)


@pytest.mark.parametrize(
    ("boxes", "unit", "said"),
    [
        ("xyxy", "px", [64, 48, 320, 240]),
        ("xywh", "px", [64, 48, 256, 192]),
        ("cxcywh", "px", [192, 144, 256, 192]),
        ("cxcywh", "norm1", [0.3, 0.3, 0.4, 0.4]),
        ("xyxy", "norm1000", [100, 100, 500, 500]),
        ("xyxy", "norm999", [99.9, 99.9, 499.5, 499.5]),
        ("xyxy", "px_resized", [32, 96, 160, 480]),
        ("xywh", "px_resized", [32, 96, 128, 384]),
    ],
)
def test_conventions_mean_the_same_pixels(tmp_path: Path, boxes: str, unit: str, said: list[float]) -> None:
    size = {"width": 320, "height": 960} if unit == "px_resized" else {}
    declared = {"boxes": boxes, "unit": unit, "absent": "none"}
    of_rows = convert(tmp_path, [{"sample_id": "1:2", "bbox": said, **size}], declared)
    of_records = convert(tmp_path, {"1:2": {"boxes": [said], **size}, "1:1": [], "2:3": []}, declared)
    assert of_rows == of_records
    assert of_rows["1:2"]["boxes"] == [pytest.approx([64, 48, 320, 240], rel=1e-12)]
    assert of_rows["1:2"] | {"boxes": None} == {
        "sample_id": "1:2", "status": "answered", "reason": None, "boxes": None, "scores": None,
    }  # fmt: skip


def test_thousandths_are_rounded_once(tmp_path: Path) -> None:
    found = convert(tmp_path, {"2:3": [[1, 3, 999, 1000]]}, {"boxes": "xyxy", "unit": "norm1000"})
    assert found["2:3"]["boxes"] == [[500 / 1000, 3 * 333 / 1000, 999 * 500 / 1000, 333.0]]


def test_none_missing_and_failed_are_three_things(tmp_path: Path) -> None:
    found = convert(tmp_path, {"1:1": [], "1:2": None}, PX)
    assert [found[i]["status"] for i in SIZES] == ["none", "invalid", "missing"]
    assert all(row["boxes"] is None and row["scores"] is None for row in found.values())
    assert found["1:2"]["reason"].endswith('answers.json: "1:2" neither a list of boxes nor an object with boxes')


def test_absence_is_an_answer_only_where_it_is_declared_one(tmp_path: Path) -> None:
    rows = [{"image_id": "1:1", "bbox": [0, 0, 5, 5]}]
    for absent in ("missing", "none"):
        found = convert(tmp_path, rows, {**PX, "absent": absent})
        assert [found[i]["status"] for i in SIZES] == ["answered", absent, absent]
        assert convert(tmp_path, [], {**PX, "absent": absent})["1:1"]["status"] == absent


def test_all_boxes_and_scores_are_kept_in_the_files_order(tmp_path: Path) -> None:
    rows = [
        {"image_id": name, "bbox": [i, 0, i + 1, 1], "score": score}
        for i, (name, score) in enumerate([("2:3", 0.1), ("1:1", 0.9), ("2:3", 0.8), ("1:1", 0)])
    ]
    found = convert(tmp_path, rows, {**PX, "score_threshold": 0.7})
    assert found["2:3"]["boxes"] == [[0, 0, 1, 1], [2, 0, 3, 1]]
    assert [found[i]["scores"] for i in SIZES] == [[0.9, 0], None, [0.1, 0.8]]
    records = {"1:1": {"boxes": [[1, 0, 2, 1], [3, 0, 4, 1]], "scores": [0.9, 0]}, "1:2": {"boxes": [], "scores": []}}
    assert convert(tmp_path, records, {**PX, "score_threshold": 0.7})["1:1"] == found["1:1"]


def test_sample_id_goes_before_image_id_and_numbers_are_ids(tmp_path: Path) -> None:
    rows = [{"image_id": 7, "sample_id": "1:1", "bbox": [0, 0, 1, 1]}, {"image_id": "1:2", "bbox": [0, 0, 2, 2]}]
    found = convert(tmp_path, rows, PX)
    assert (found["1:1"]["boxes"], found["1:2"]["boxes"]) == ([[0, 0, 1, 1]], [[0, 0, 2, 2]])
    assert '"7"' in refused(tmp_path, [{"image_id": 7, "bbox": [0, 0, 1, 1]}], PX)


@pytest.mark.parametrize(
    ("box", "why"),
    [
        ([10, 10, 5, 20], "inverted"),
        ([10, 30, 15, 20], "inverted"),
        ([0, 0, 1_000_001, 5], "not within +-1000000"),
        ([0, -2e6, 5, 5], "not within +-1000000"),
        ([0, 0, 5], "not a list of four numbers"),
        ([0, 0, 5, 5, 0.9], "not a list of four numbers"),
        ([0, 0, "5", 5], "not a list of four numbers"),
        ([0, 0, None, 5], "not a list of four numbers"),
        ([0, 0, True, 5], "not a list of four numbers"),
        ([0, 0, [5], 5], "not a list of four numbers"),
        (3, "not a list of four numbers"),
        (None, "not a list of four numbers"),
    ],
)
def test_a_box_that_is_none_makes_its_sample_invalid(tmp_path: Path, box: Any, why: str) -> None:
    content = {"2:3": [[0, 0, 9, 9], box, box], "1:1": [[0, 0, 9, 9]], "1:2": []}
    found = convert(tmp_path, content, PX)
    assert [found[i]["status"] for i in SIZES] == ["answered", "none", "invalid"]
    assert (found["1:1"]["boxes"], found["2:3"]["boxes"]) == ([[0, 0, 9, 9]], None)
    assert f'{tmp_path / "answers.json"}: "2:3" box 1: ' in found["2:3"]["reason"]
    assert why in found["2:3"]["reason"]
    rows = [{"sample_id": name, "bbox": b} for name, boxes in content.items() for b in boxes]
    assert convert(tmp_path, rows, {**PX, "absent": "none"}) == found


def test_empty_boxes_of_zero_area_are_boxes(tmp_path: Path) -> None:
    assert convert(tmp_path, {"1:1": [[5, 5, 5, 5]]}, PX)["1:1"]["boxes"] == [[5, 5, 5, 5]]


@pytest.mark.parametrize("boxes", ["xywh", "cxcywh"])
def test_a_negative_width_is_inverted(tmp_path: Path, boxes: str) -> None:
    assert "inverted" in convert(tmp_path, {"1:1": [[5, 5, -1, 5]]}, {"boxes": boxes, "unit": "px"})["1:1"]["reason"]


@pytest.mark.parametrize("score", [None, "0.9", True])
def test_a_score_that_is_no_number_makes_its_sample_invalid(tmp_path: Path, score: Any) -> None:
    rows = [{"sample_id": "1:1", "bbox": [0, 0, 1, 1], "score": s} for s in (0.5, score)]
    reason = convert(tmp_path, rows, {**PX, "score_threshold": 0})["1:1"]["reason"]
    assert reason.endswith('"1:1" box 1: its score is not a number')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b'{"1:1": [], "1:1": []}', 'first "1:1"'),
        (b'{"1:1": [[NaN, 0, 1, 1]]}', "NaN at line 1"),
        (b'{"1:1": [[0, 0, Infinity, 1]]}', "Infinity at line 1"),
        (b'{"1:1": [', "not JSON"),
        (3, "is a JSON int"),
        ("1:1", "is a JSON str"),
        ({"9:9": []}, '"9:9"'),
        ([{"sample_id": "9:9", "bbox": [0, 0, 1, 1]}], '"9:9"'),
        ([{"bbox": [0, 0, 1, 1]}], "row 0: its sample_id"),
        ([{"sample_id": None, "bbox": [0, 0, 1, 1]}], "row 0: its sample_id"),
        ([{"sample_id": True, "bbox": [0, 0, 1, 1]}], "row 0: its sample_id"),
        ([{"sample_id": "1:1", "bbox": [0, 0, 1, 1]}, {"sample_id": "1:1"}], "row 1: has no bbox"),
        ([{"sample_id": "1:1", "bbox": [0, 0, 1, 1]}, [0, 0, 1, 1]], "row 1: is not an object"),
        ([{"sample_id": "1:1", "bbox": [0] * 4}, {"sample_id": "1:1", "bbox": [0] * 4, "score": 1}], "1 of 2 boxes"),
        ({"1:1": {"boxes": [[0] * 4], "scores": [1]}, "1:2": [[0] * 4]}, "1 of 2 boxes"),
    ],
)
def test_what_concerns_the_whole_file_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    assert said in refused(tmp_path, content, {**PX, "score_threshold": 0})


@pytest.mark.parametrize("record", [{"boxes": [[0] * 4], "scores": []}, {"scores": [1]}, {"boxes": 3}, "none", 0, True])
def test_a_record_of_another_kind_is_invalid(tmp_path: Path, record: Any) -> None:
    assert convert(tmp_path, {"1:1": record}, PX)["1:1"]["status"] == "invalid"


def test_scores_need_a_declared_threshold(tmp_path: Path) -> None:
    rows = [{"sample_id": "1:1", "bbox": [0, 0, 1, 1], "score": 0.5}]
    assert "score_threshold=0.7 is the official code's, 0 keeps all" in refused(tmp_path, rows, PX)


@pytest.mark.parametrize("size", [{}, {"width": 320}, {"width": 320, "height": 0}, {"width": "320", "height": 9}])
def test_resized_pixels_need_the_size_of_the_input(tmp_path: Path, size: dict[str, Any]) -> None:
    said = {"boxes": "xyxy", "unit": "px_resized"}
    assert "1 of 1 records lack" in refused(tmp_path, {"1:1": {"boxes": [[0, 0, 1, 1]], **size}, "1:2": []}, said)
    assert "1 of 1 records lack" in refused(tmp_path, [{"sample_id": "1:1", "bbox": [0, 0, 1, 1], **size}], said)


@pytest.mark.parametrize("lacking", ["boxes", "unit"])
def test_conventions_have_no_default(lacking: str) -> None:
    with pytest.raises(InputError, match=f"{lacking} is not declared"):
        options.resolve(boxes_json.FORMAT.options, {k: v for k, v in PX.items() if k != lacking}, "test")


def test_notes_say_what_the_numbers_look_like(tmp_path: Path) -> None:
    notes: Counter[str] = Counter()
    convert(tmp_path, {"1:1": [[0.1, 0.1, 0.5, 0.5]]}, PX, notes)
    convert(tmp_path, {"1:1": [[10, 10, 50, 50]]}, {"boxes": "xyxy", "unit": "norm1"}, notes)
    convert(tmp_path, {"1:1": [[10, 10, 50, 150]]}, PX, notes)
    assert notes == {
        "boxes with all values at most 1, declared px: are they norm1?": 1,
        "boxes declared norm1, with values far above 1: are they pixels?": 1,
        "boxes that reach more than 1 pixel out of their image, kept": 2,
    }


BOX = st.lists(st.integers(-5, 300) | st.floats(-5, 300) | st.none() | st.just("x"), min_size=3, max_size=5)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(list(SIZES)), st.lists(BOX, max_size=3)), st.randoms(use_true_random=False))
def test_rows_in_any_order_say_the_same_as_records(
    tmp_path_factory: pytest.TempPathFactory, records: dict[str, Any], random: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    names = [name for name, boxes in records.items() for _ in boxes]
    random.shuffle(names)
    left = {name: list(boxes) for name, boxes in records.items()}
    rows = [{"sample_id": name, "bbox": left[name].pop(0)} for name in names]
    said = {**PX, "absent": "none"}
    assert convert(folder, rows, said) == convert(folder, records, said)


def test_a_threshold_that_leaves_nothing_is_noted(tmp_path: Path) -> None:
    content = [{"sample_id": name, "bbox": [1, 1, 9, 9], "score": 0.9} for name in SIZES]
    for threshold, said in ((70, True), (0.9, False)):
        notes = Counter[str]()
        convert(tmp_path, content, {**PX, "score_threshold": threshold}, notes)
        assert any("all below score_threshold=70 (the largest is 0.9)" in note for note in notes) == said
    notes = Counter[str]()
    convert(tmp_path, {name: [[1, 1, 9, 9]] for name in SIZES}, {**PX, "score_threshold": 0.5}, notes)
    assert "boxes without scores: score_threshold=0.5 has no effect" in notes


@pytest.mark.filterwarnings("error")
def test_absurd_numbers_give_no_warning(tmp_path: Path) -> None:
    row = convert(tmp_path, {"1:1": [[0, 0, 1e308, 1e308]]}, {"boxes": "xyxy", "unit": "norm1000"})["1:1"]
    assert row["status"] == "invalid"
