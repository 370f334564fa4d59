"""Sampler padding among boxes: named, kept unless it is declared; a repeated box among others is the model's answer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import _padding, boxes_json
from groundeval.options import resolve
from groundeval.sources import ids
from groundeval.sources.folder import Source

BOXES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), max_size=14)


def slowly(items: list[tuple[int, int, int]]) -> list[bool]:
    """The definition, sample by sample."""
    out = [False] * len(items)
    for row in {r for r, _, _ in items}:
        times = Counter(item for item in items if item[0] == row)
        if len(set(times.values())) == 1 and min(times.values()) > 1:
            for at, item in enumerate(items):
                out[at] |= item[0] == row and item in items[:at]
    return out


@settings(max_examples=100, deadline=None)
@given(BOXES)
def test_repeats_are_those_of_the_definition(items: list[tuple[int, int, int]]) -> None:
    row = np.array([r for r, _, _ in items], np.int64)
    boxes = np.array([[x, x, x + 1, x + 2] for _, x, _ in items], np.float64).reshape(-1, 4)
    scores = np.array([s for _, _, s in items], np.float64)
    found = _padding.repeats(row, boxes, scores)
    expected = slowly(items)
    assert (found is None) == (not any(expected))
    assert found is None or found.tolist() == expected


def convert(folder: Path, rows: Any, notes: Counter[str], **said: Any) -> dict[str, int]:
    """The number of boxes of each sample."""
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    samples = [{"sample_id": s, "image_id": s, "height": 100, "width": 100, "tags": {}} for s in "abc"]
    manifest = pa.Table.from_pylist(samples, schema=tables.MANIFEST)
    chosen = resolve(boxes_json.FORMAT.options, {"boxes": "xyxy", "unit": "px", "absent": "none", **said}, "test")
    batches = boxes_json.read(Source(folder), manifest, chosen, notes)
    return {r["sample_id"]: len(r["boxes"] or []) for b in batches for r in b.to_pylist()}


def row(name: str, at: int) -> dict[str, Any]:
    return {"image_id": name, "bbox": [at, at, at + 9, at + 9]}


def test_rows_of_coco_results(tmp_path: Path) -> None:
    rows = [row("a", 1), row("a", 2), row("b", 1), row("b", 1), row("b", 3), row("a", 1), row("a", 2)]
    notes = Counter[str]()
    assert convert(tmp_path, rows, notes) == {"a": 4, "b": 3, "c": 0}
    assert notes == {_padding.KEPT: 2}
    notes.clear()
    assert convert(tmp_path, rows, notes, drop_padding=True) == {"a": 2, "b": 3, "c": 0}
    assert notes == {_padding.DROPPED: 2}


def test_rows_of_a_resized_input(tmp_path: Path) -> None:
    rows = [{**row("a", 1), "width": 50, "height": 50, "score": 0.5}] * 2
    said = {"unit": "px_resized", "score_threshold": 0, "drop_padding": True}
    assert convert(tmp_path, rows, Counter(), **said)["a"] == 1


def test_a_record_a_sample_cannot_be_padding(tmp_path: Path) -> None:
    notes = Counter[str]()
    assert convert(tmp_path, {"a": [[1, 1, 9, 9]] * 2}, notes, drop_padding=True)["a"] == 2
    assert not notes


def test_repeated_records() -> None:
    assert ids.without_repeats(["a", "b"], [1, 2], "f", False) == [0, 1]
    assert ids.without_repeats(["a", "b", "a"], [1, 2, 1], "f", True) == [0, 1]
    with pytest.raises(InputError, match=r'f: 2 records repeat an earlier one exactly, first "a".*sampler padding'):
        ids.without_repeats(["a", "b", "a", "a"], [1, 2, 1, 1], "f", False)
    for drop in (True, False):
        with pytest.raises(InputError, match=r'1 ids stand more than once, with different answers, first "a"'):
            ids.without_repeats(["a", "a", "a"], [1, 1, 2], "f", drop)


def test_ids_of_another_split_are_named() -> None:
    with pytest.raises(InputError, match="none of the ids is: are they another split's"):
        ids.check(["train-1", "train-2"], ["test-1"], "f")
    with pytest.raises(InputError) as error:
        ids.check(["train-1", "test-1"], ["test-1"], "f")
    assert "another split" not in error.value.line()
