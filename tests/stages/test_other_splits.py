"""Ids of another split are told apart from ids that are nobody's."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from groundeval.errors import InputError
from groundeval.sources.ids import UnknownIdsError
from groundeval.stages import convert, evaluate, split
from tests.benchmarks.case import Case

OPTIONS = {"boxes": "xyxy", "unit": "px"}


@pytest.fixture
def case(tmp_path: Path) -> Case:
    """The made gRefCOCO, whose file has all four splits, with answers for `val`."""
    return Case("grefcoco", tmp_path)


def test_evaluate_names_the_split_whose_ids_they_are(case: Case, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^[^ ]*: (\d+) of the \1 ids .* are val ids, first ") as error:
        evaluate.run("grefcoco", case.raw, "testA", case.folder / "nothing", "boxes_json", OPTIONS, tmp_path / "o", "m")
    assert error.value.fix == "Take them out, or name that split."
    assert not (tmp_path / "o").exists()


def test_convert_knows_the_manifests_beside(case: Case, tmp_path: Path) -> None:
    for name in ("val", "testA"):
        split.run("grefcoco", case.raw, name, case.defaults(), tmp_path / f"splits/{name}.parquet")
    manifest, out = tmp_path / "splits/testA.parquet", tmp_path / "predictions.parquet"
    with pytest.raises(InputError, match="are val ids"):
        convert.run("grefcoco", manifest, case.folder / "nothing", "boxes_json", OPTIONS, out)
    assert not out.exists()


def test_ids_of_no_split_stay_what_they_are(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"nobody": [[1, 1, 9, 9]]}))
    with pytest.raises(UnknownIdsError, match='1 ids are not samples of this split, first "nobody"') as error:
        evaluate.run("grefcoco", case.raw, "val", path, "boxes_json", OPTIONS, None, "m")
    again = pickle.loads(pickle.dumps(error.value))
    assert (again.line(), again.unknown) == (error.value.line(), ["nobody"])
