"""vlm_text: each family's form; a text that cannot be parsed is never "none"."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import _vlm_boxes, vlm_text
from groundeval.formats._vlm_boxes import FAMILIES
from groundeval.options import resolve
from groundeval.sources.folder import Source

SIZES = {"1:1": (100, 200), "1:2": (480, 640)}  # height, width
BOX = [10, 20, 30, 40]


def manifest() -> pa.Table:
    rows = [{"sample_id": n, "image_id": n, "height": h, "width": w, "tags": {}} for n, (h, w) in SIZES.items()]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def convert(folder: Path, records: list[Any], notes: Counter[str] | None = None, **said: Any) -> dict[str, Any]:
    text = "".join(json.dumps(r) + "\n" for r in records)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    chosen = resolve(vlm_text.FORMAT.options, said, "test")
    kept = Counter[str]() if notes is None else notes
    batches = list(vlm_text.read(Source(folder / "answers.jsonl"), manifest(), chosen, kept))
    assert all(b.schema.equals(tables.predictions_schema("boxes")) for b in batches)
    return {row["sample_id"]: row for b in batches for row in b.to_pylist()}


def parse(family: str, text: str) -> list[Any]:
    return FAMILIES[family].parse(_vlm_boxes.answer(text))


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen2_vl", "<|object_ref_start|>a cup<|object_ref_end|><|box_start|>(10,20),(30,40)<|box_end|><|im_end|>"),
        ("qwen2_vl", "a cup (left)(10, 20), (30, 40)"),
        ("qwen3_vl", '```json\n[\n\t{"bbox_2d": [10, 20, 30, 40], "label": "a [red] cup"}\n]\n```'),
        ("qwen3_vl", '[{"bbox_2d": [10, 20, 30, 40]}]'),
        ("qwen3_vl", 'Here it is: {"bbox_2d": [10, 20, 30, 40], "label": "cup"}.'),
        ("qwen3_vl", "[[10, 20, 30, 40]]"),
        ("qwen3_vl", "[10, 20, 30, 40]"),
        ("qwen3_vl", '[{"bbox": [10.0, 20.0, 30.0, 40.0]}]'),
        ("qwen2_5_vl", '<think>At [1, 2, 3, 4]?</think>\n<answer>```json\n[{"bbox_2d": [10, 20, 30, 40]}]```</answer>'),
        ("internvl", "<ref>cup</ref><box>[[10, 20, 30, 40]]</box>"),
        ("internvl", "cup[[10, 20, 30, 40]]"),
        ("ferret", "a cup [10, 20, 30, 40]."),
        ("rex_omni", "<|object_ref_start|>cup<|object_ref_end|><|box_start|><10><20><30><40><|box_end|>"),
        (
            "rex_omni",
            "<|object_ref_start|>a<|object_ref_end|><|box_start|>None<|box_end|>, "
            "<|object_ref_start|>b<|object_ref_end|><|box_start|><10><20><30><40><|box_end|>",
        ),
        ("deepseek_vl2", "<|ref|>cup<|/ref|><|det|>[[10, 20, 30, 40]]<|/det|><｜end▁of▁sentence｜>"),
    ],
)
def test_one_box(family: str, text: str) -> None:
    assert parse(family, text) == [BOX]


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen2_vl", "<|box_start|>(1,2),(3,4)<|box_end|> and <|box_start|>(5,6),(7,8)<|box_end|>"),
        ("qwen3_vl", '[{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5, 6, 7, 8]}]'),
        ("internvl", "<ref>a</ref><box>[[1, 2, 3, 4], [5, 6, 7, 8]]</box>"),
        ("internvl", "<ref>a</ref><box>[[1, 2, 3, 4]]</box><ref>b</ref><box>[[5, 6, 7, 8]]</box>"),
        ("ferret", "a [1, 2, 3, 4] and b [5, 6, 7, 8]"),
        ("rex_omni", "<|box_start|><1><2><3><4>,<5><6><7><8><|box_end|>"),
        ("deepseek_vl2", "<|det|>[[1, 2, 3, 4], [5, 6, 7, 8]]<|/det|>"),
    ],
)
def test_two_boxes_in_order(family: str, text: str) -> None:
    assert parse(family, text) == [[1, 2, 3, 4], [5, 6, 7, 8]]


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen2_5_vl", "[]"),
        ("qwen3_vl", "```json\n[]\n```"),
        ("qwen3_vl", "<think>nothing</think><answer>[]</answer>"),
        ("internvl", "<ref>a dog</ref><box>[[]]</box>"),
        ("internvl", "<ref>a dog</ref><box>[]</box>"),
        ("ferret", "a dog []"),
        ("rex_omni", "<|object_ref_start|>a dog<|object_ref_end|><|box_start|>None<|box_end|>"),
        ("deepseek_vl2", "<|ref|>a dog<|/ref|><|det|>[]<|/det|>"),
    ],
)
def test_an_explicit_none(family: str, text: str) -> None:
    assert parse(family, text) == []


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["", "None", "There are none.", "I cannot help with that.", "<think>so", "</answer>"])
def test_words_are_no_none(family: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"no box|cut off"):
        parse(family, text)


@pytest.mark.parametrize(
    ("family", "text", "what"),
    [
        ("qwen2_vl", "<|box_start|>(1,2),(3,4)<|box_end|><|box_start|>(5,6),(7", "cut off"),
        ("qwen2_vl", "<|box_start|>(1,2)<|box_end|>", "box that is none"),
        ("qwen2_vl", "(1,2),(3,4),(5,6", "cut off"),
        ("qwen3_vl", '```json\n[{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5,', "cut off"),
        ("qwen3_vl", '[{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5,', "cannot be read|cut off"),
        ("qwen3_vl", '{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5,', "cannot be read|cut off"),
        ("qwen3_vl", '[{"label": "cup"}]', "without bbox_2d"),
        ("qwen3_vl", '[{"bbox_2d": [1, 2, 3, 4], "bbox_2d": [5, 6, 7, 8]}]', "more than once"),
        ("qwen3_vl", "```json\n[]\n```\n```json\n[[1, 2, 3, 4]]\n```", "2 blocks"),
        ("qwen3_vl", "<answer>[]</answer><answer>[[1, 2, 3, 4]]</answer>", "2 answers"),
        ("internvl", "<box>[[1, 2, 3]]</box>", "box that is none"),
        ("internvl", "<box>[[1, 2, 3, 4], [5, 6", "cut off"),
        ("deepseek_vl2", "<|det|>[[0, 50, 55, 9999], [0, 5, 533, 17, 9999", "cut off"),
        ("deepseek_vl2", "<|det|>[245, [234, 543, 542, 244]]<|/det|>", "more than boxes"),
        ("deepseek_vl2", "<|det|>[[533, 132, 457]]<|/det|>", "box that is none"),
        ("rex_omni", "<|box_start|><1><2><3><|box_end|>", "box that is none"),
        ("rex_omni", "<|box_start|><1><2><3><4>", "cut off"),
        ("rex_omni", "<1><2><3><4>", "no box"),
        ("ferret", "a cup [10, 20, x, 40]", "box that is none"),
    ],
)
def test_what_cannot_be_parsed(family: str, text: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        parse(family, text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='[]{}()<>|,:"`0129 abjnosx_/\\\n-', max_size=60), st.sampled_from(sorted(FAMILIES)))
def test_any_text_is_boxes_or_a_reason(text: str, family: str) -> None:
    try:
        found = parse(family, text)
    except ValueError:
        return
    assert isinstance(found, list)
    assert found or re.search(r"None|\[[\s,\[\]]*\]", text)  # an explicit none has its structure


def test_statuses_and_reasons(tmp_path: Path) -> None:
    records = [{"sample_id": "1:1", "response": "sorry"}, {"sample_id": "1:2", "response": "[]"}]
    rows = convert(tmp_path, records, family="qwen3_vl")
    assert (rows["1:1"]["status"], rows["1:2"]["status"]) == ("invalid", "none")
    where = tmp_path / "answers.jsonl"
    assert rows["1:1"]["reason"].startswith(f'{where}: "1:1" line 1 cannot be parsed: it has no box')
    assert '"sorry"' in rows["1:1"]["reason"]
    for wrong in ({}, {"response": None}, {"response": ["[]"]}):
        rows = convert(tmp_path, [{"sample_id": "1:1", **wrong}], family="qwen3_vl")
        assert "no response" in rows["1:1"]["reason"]
        assert rows["1:2"]["status"] == "missing"
    assert convert(tmp_path, records[1:], family="qwen3_vl", absent="none")["1:1"]["status"] == "none"


def test_declared_words_are_a_none(tmp_path: Path) -> None:
    said = {"family": "qwen2_vl", "none_text": "There are none|no such object"}
    for text in ("there are NONE.", " No such object\n<|im_end|>"):
        assert convert(tmp_path, [{"sample_id": "1:1", "response": text}], **said)["1:1"]["status"] == "none"
    for text in ("there are none here", "none"):
        assert convert(tmp_path, [{"sample_id": "1:1", "response": text}], **said)["1:1"]["status"] == "invalid"


@pytest.mark.parametrize(
    ("family", "text", "expected"),
    [
        ("qwen3_vl", "[[500, 500, 1000, 1000]]", [100, 50, 200, 100]),
        ("deepseek_vl2", "<|det|>[[0, 0, 999, 999]]<|/det|>", [0, 0, 200, 100]),
        ("rex_omni", "<|box_start|><0><0><999><999><|box_end|>", [0, 0, 200, 100]),
        ("qwen2_5_vl", "[[14, 28, 28, 56]]", [100, 50, 200, 100]),
    ],
)
def test_units(tmp_path: Path, family: str, text: str, expected: list[float]) -> None:
    records = [{"sample_id": "1:1", "response": text, "width": 28, "height": 56}]
    assert convert(tmp_path, records, family=family)["1:1"]["boxes"] == [pytest.approx(expected, rel=1e-12)]


def test_boxes_that_are_none_are_invalid(tmp_path: Path) -> None:
    for text, what in (
        ("[[9, 9, 1, 1]]", "inverted"),
        ('[["a", 1, 2, 3]]', "four numbers"),
        ("[[0, 0, 1e9, 1]]", "+-1000000"),
    ):
        row = convert(tmp_path, [{"sample_id": "1:1", "response": text}], family="qwen3_vl")["1:1"]
        assert row["status"] == "invalid"
        assert what in row["reason"]


def test_the_size_of_the_input_is_required(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lack the width and height of the resized input"):
        convert(tmp_path, [{"sample_id": "1:1", "response": "[[1, 2, 3, 4]]"}], family="qwen2_5_vl")
    assert convert(tmp_path, [{"sample_id": "1:1", "response": "[]"}], family="qwen2_5_vl")["1:1"]["status"] == "none"


def test_another_familys_values_are_noted(tmp_path: Path) -> None:
    notes = Counter[str]()
    convert(tmp_path, [{"sample_id": "1:1", "response": "[[0, 0, 1900, 1000]]"}], notes, family="qwen3_vl")
    assert notes == {
        "boxes that reach more than 1 pixel out of their image, kept": 1,
        "boxes declared norm1000, with values beyond 1000: are they pixels?": 1,
    }


def test_padding_is_named_and_dropped_only_where_declared(tmp_path: Path) -> None:
    records = [{"sample_id": "1:1", "response": "[]"}, {"sample_id": "1:2", "response": "[]"}]
    with pytest.raises(InputError, match=r'1 records repeat an earlier one exactly, first "1:1": .*sampler padding'):
        convert(tmp_path, [*records, records[0]], family="qwen3_vl")
    notes = Counter[str]()
    rows = convert(tmp_path, [*records, records[0]], notes, family="qwen3_vl", drop_padding=True)
    assert [r["status"] for r in rows.values()] == ["none", "none"]
    assert notes == {"records dropped as sampler padding": 1}
    with pytest.raises(InputError, match="more than once, with different answers"):
        convert(tmp_path, [*records, {"sample_id": "1:1", "response": "x"}], family="qwen3_vl", drop_padding=True)


@pytest.mark.parametrize(
    ("family", "text", "note"),
    [
        ("internvl", "<|ref|>cup<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>", "with <|det|>, as deepseek_vl2 write it"),
        ("deepseek_vl2", "<ref>cup</ref><box>[[1, 2, 3, 4]]</box>", "with <box>, as internvl write it"),
        ("ferret", '[{"bbox_2d": [1, 2, 3, 4]}]', "with bbox_2d, as qwen2_5_vl and qwen3_vl write it, read as ferret"),
    ],
)
def test_another_familys_marks_are_noted(tmp_path: Path, family: str, text: str, note: str) -> None:
    notes = Counter[str]()
    convert(tmp_path, [{"sample_id": "1:1", "response": text}], notes, family=family)
    assert any(note in said for said in notes), notes


def test_a_size_that_is_not_used_is_noted(tmp_path: Path) -> None:
    notes = Counter[str]()
    record = {"sample_id": "1:1", "response": '[{"bbox_2d": [1, 2, 3, 4]}]', "width": 644, "height": 476}
    convert(tmp_path, [record], notes, family="qwen3_vl")
    assert "records with a width, which qwen3_vl does not use: are they qwen2_5_vl's?" in notes
    notes.clear()
    convert(tmp_path, [record], notes, family="qwen2_5_vl")
    assert not notes
