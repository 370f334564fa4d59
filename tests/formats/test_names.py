"""Names that are not ids: an image with one sample is clear, one with several is invalid, a map settles all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import _names
from groundeval.sources.folder import Source

IMAGES = {"1-mug-rim": "1", "1-mug-handle": "1", "2-cup-rim": "img/2.b.JPG", "3-cup-rim": "3.jpg"}


def manifest(texts: dict[str, str] | None = None) -> pa.Table:
    rows = [
        {"sample_id": s, "image_id": i, "height": 4, "width": 4, "tags": {}, "text": (texts or {}).get(s)}
        for s, i in IMAGES.items()
    ]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def match(folder: Path, found: list[str], **options: Any) -> _names.Matched:
    return _names.match(found, manifest(), options, Source(folder))


def test_ids(tmp_path: Path) -> None:
    assert match(tmp_path, ["1-mug-rim"]).names == {"1-mug-rim": "1-mug-rim"}
    with pytest.raises(InputError, match="are not samples of this split"):
        match(tmp_path, ["3"], names="sample")


@pytest.mark.parametrize("name", ["2.b.JPG", "2.b", "2"])
def test_an_image_of_one_sample_in_each_spelling(tmp_path: Path, name: str) -> None:
    assert match(tmp_path, [name], names="image").names == {"2-cup-rim": name}


def test_an_image_of_several_samples_is_ambiguous_for_all_of_them(tmp_path: Path) -> None:
    found = match(tmp_path, ["1", "3"], names="image")
    assert found.names == {"3-cup-rim": "3"}
    assert set(found.faults) == {"1-mug-rim", "1-mug-handle"}
    with pytest.raises(InputError) as error:
        found.answer("1-mug-rim", Source(tmp_path))
    assert '"1" is the image of 2 samples, and does not say of which' in error.value.line()
    assert "map=" in error.value.line()
    assert found.answer("2-cup-rim", Source(tmp_path)) is None


def test_two_names_of_one_image_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'"3" and "3\.jpg" are both answers for "3-cup-rim"'):
        match(tmp_path, ["3", "3.jpg"], names="image")


def test_images_of_another_split_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='1 of 2 answers are of no image of this split, first "9"; one here is "1"'):
        match(tmp_path, ["9", "3"], names="image")


def mapped(folder: Path, content: Any, found: list[str]) -> _names.Matched:
    (folder / "map.json").write_text(json.dumps(content), encoding="utf-8")
    return match(folder, found, map="map.json")


def test_a_map_settles_all(tmp_path: Path) -> None:
    content = {"x": "1-mug-rim", "y": "1-mug-handle", "of another split": "9-mug-rim"}
    assert mapped(tmp_path, content, ["x", "y"]).names == {"1-mug-rim": "x", "1-mug-handle": "y"}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({"x": "1-mug-rim"}, '1 of 2 answers are not in the map, first "y"'),
        ({"x": "1-mug-rim", "y": "1-mug-rim"}, "stand more than once"),
        ({"x": "1-mug-rim", "y": "9"}, "are not samples of this split"),
        ({"x": "1-mug-rim", "y": 2}, "is not an object of texts"),
        (["x"], "is not an object of texts"),
    ],
)
def test_maps_that_are_none(tmp_path: Path, content: Any, what: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        mapped(tmp_path, content, ["x", "y"])
    assert error.value.file == str(tmp_path / "map.json")


def test_a_map_lies_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no file \"\.\./map\.json\""):
        match(tmp_path, ["x"], map="../map.json")
