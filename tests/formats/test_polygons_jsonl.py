"""polygons_jsonl: what each record becomes, what is refused as a whole, and what is only noted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import polygons_jsonl
from groundeval.metrics import masks
from groundeval.options import resolve
from groundeval.sources.folder import Source

H, W = 20, 30
SQUARE = [[2, 3], [12, 3], [12, 13], [2, 13]]


def _manifest(ids: Sequence[str], height: int = H, width: int = W) -> pa.Table:
    rows = [{"sample_id": i, "image_id": i, "height": height, "width": width, "tags": {}} for i in sorted(ids)]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def _read(path: Path, text: str, ids: Sequence[str], notes: Counter[str] | None = None, unit: str = "px") -> pa.Table:
    path.write_text(text)
    seen = Counter[str]() if notes is None else notes
    batches = polygons_jsonl.read(Source(path), _manifest(ids), {"unit": unit}, seen)
    return pa.Table.from_batches(batches, tables.predictions_schema("mask"))


def _lines(*records: Mapping[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _single(tmp_path: Path, **record: Any) -> tuple[dict[str, Any], Counter[str]]:
    notes: Counter[str] = Counter()
    table = _read(tmp_path / "p.jsonl", _lines({"sample_id": "a", **record}), ["a"], notes)
    return table.to_pylist()[0], +notes


def test_the_order_is_the_manifests_and_an_absent_record_is_missing(tmp_path: Path) -> None:
    text = _lines({"sample_id": "c", "polygons": [SQUARE]}, {"sample_id": "a", "polygons": []})
    found = _read(tmp_path / "p.jsonl", text, ["a", "b", "c"])
    assert found.column("sample_id").to_pylist() == ["a", "b", "c"]
    assert found.column("status").to_pylist() == ["none", "missing", "answered"]
    assert found.column("mask").null_count == 2
    assert masks.areas([found.column("mask")[2].as_py()], [H], [W]).tolist() == [100]


def test_one_level_of_nesting_too_few_is_no_none(tmp_path: Path) -> None:
    row, _ = _single(tmp_path, polygons=SQUARE)
    assert row["status"] == "invalid"
    assert "polygons is one list of 4 points, not a list of polygons" in row["reason"]
    assert _single(tmp_path, polygons=[[1, 2], SQUARE])[0]["status"] == "answered"  # a point beside a polygon


def test_more_samples_than_one_round_of_the_rasteriser(tmp_path: Path) -> None:
    ids = [f"{n:05d}" for n in range(polygons_jsonl._ROWS + 3)]
    records = [{"sample_id": i, "polygons": [SQUARE] if int(i) % 2 else []} for i in reversed(ids)]
    status = _read(tmp_path / "p.jsonl", _lines(*records), ids).column("status").to_pylist()
    assert status == ["answered" if int(i) % 2 else "none" for i in ids]


@pytest.mark.parametrize(
    ("record", "status", "note"),
    [
        ({"polygons": [SQUARE]}, "answered", None),
        ({"polygons": [SQUARE], "exists": True}, "answered", None),
        ({"polygons": []}, "none", None),
        ({"polygons": [], "exists": False}, "none", None),
        ({"exists": False}, "none", None),
        (
            {"polygons": [SQUARE], "exists": False},
            "none",
            "records with exists false and polygons, which are discarded",
        ),
        ({"polygons": [], "exists": True}, "none", polygons_jsonl._OVERRULED),
        ({"polygons": [[2, 3, 12, 13]], "exists": True}, "none", polygons_jsonl._OVERRULED),
        ({"polygons": [], "exist": True}, "none", 'records with a key "exist", which is not read'),
    ],
)
def test_whether_there_is_a_target(tmp_path: Path, record: dict[str, Any], status: str, note: str | None) -> None:
    row, notes = _single(tmp_path, **record)
    assert row["status"] == status
    assert (row["mask"] is None) == (status != "answered")
    assert row["reason"] is None
    assert note is None or notes[note] == 1


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({}, "there are no polygons; an empty list says that there is no target"),
        ({"exists": True}, "there are no polygons; an empty list says that there is no target"),
        ({"exists": 1, "polygons": []}, 'exists is "1", neither true nor false'),
        ({"exists": None, "polygons": []}, 'exists is "None", neither true nor false'),
        ({"polygons": None}, "polygons is null, not a list of polygons"),
        ({"polygons": [SQUARE, [1, 2, 3]]}, "polygon 2 has an odd number of values, 3"),
        ({"polygons": [[0, 0, 1e9, 0, 1e9, 9]]}, "polygon 1 has a point more than 1 image size outside the image"),
    ],
)
def test_a_record_that_cannot_be_used_is_invalid_with_its_line(
    tmp_path: Path, record: dict[str, Any], reason: str
) -> None:
    text = "\n" + _lines({"sample_id": "b", "polygons": []}, {"sample_id": "a", **record})
    found = _read(tmp_path / "p.jsonl", text, ["a", "b"]).to_pylist()
    assert [row["status"] for row in found] == ["invalid", "none"]
    assert found[0]["reason"] == f'{tmp_path / "p.jsonl"}, line 3: sample "a", {reason}'
    assert found[0]["mask"] is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"sample_id": "a", "polygons": []}\n{"sample_id": "a", "polygons": []}\n', "looks like sampler padding"),
        (
            '{"sample_id": "a", "polygons": []}\n{"sample_id": "a", "exists": false}\n',
            "more than once, with different answers",
        ),
        ('{"sample_id": "z", "polygons": []}\n', "not samples of this split"),
        ('{"polygons": []}\n', "line 1: is no object with a sample_id"),
        ('{"sample_id": true, "polygons": []}\n', "line 1: is no object with a sample_id"),
        ("[]\n", "line 1: is no JSON object"),
        ('{"sample_id": "a", "polygons": [[1, 2, NaN, 4, 5, 6]]}\n', "line 1: not JSON: NaN"),
        ('{"sample_id": "a", "polygons": [\n', "line 1: not JSON"),
        ("", "is empty"),
    ],
)
def test_what_concerns_the_whole_file_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        _read(tmp_path / "p.jsonl", text, ["a"])
    assert what in caught.value.line()
    assert str(tmp_path / "p.jsonl") in caught.value.line()


def test_the_unit_is_declared_never_guessed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unit is not declared"):
        resolve(polygons_jsonl.FORMAT.options, {}, "format")
    with pytest.raises(InputError, match="is not one of px, norm1"):
        resolve(polygons_jsonl.FORMAT.options, {"unit": "norm1000"}, "format")
    normalised = [[x / W, y / H] for x, y in SQUARE]
    text = _lines({"sample_id": "a", "polygons": [normalised]})
    assert _read(tmp_path / "p.jsonl", text, ["a"], unit="norm1").column("status").to_pylist() == ["answered"]
    notes: Counter[str] = Counter()
    assert _read(tmp_path / "p.jsonl", text, ["a"], notes).column("status").to_pylist() == ["none"]
    assert any("are they normalised?" in note for note in notes)


def test_the_example_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(polygons_jsonl.FORMAT.example + "\n")
    manifest = _manifest(["0001", "0002"], 90, 160)
    batches = polygons_jsonl.read(Source(tmp_path), manifest, {"unit": "px"}, Counter())
    found = pa.Table.from_batches(batches)
    assert found.column("status").to_pylist() == ["answered", "none"]
    # A triangle of 50 x 25 / 2 pixels and one of 20 x 20 / 2.
    assert masks.areas([found.column("mask")[0].as_py()], [90], [160])[0] == pytest.approx(625 + 200, rel=0.05)
