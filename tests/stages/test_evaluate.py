"""evaluate: what is refused before anything is read, and formats that are of another kind than the benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from groundeval import benchmarks, formats
from groundeval.errors import InputError
from groundeval.stages import convert, evaluate
from tests.benchmarks.case import Case

NOWHERE = Path("no such folder")


def refused(tmp_path: Path, out: Path, what: str, predictions: Path = NOWHERE) -> None:
    with pytest.raises(InputError, match=what):
        evaluate.run("grefcoco", tmp_path, "val", predictions, "boxes_json", {}, out, "m")


def test_where_results_cannot_be_written_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "answers").mkdir()
    refused(tmp_path / "truth", tmp_path / "file", "file is a file, expected a folder")
    refused(tmp_path / "truth", tmp_path / "file" / "deeper", "file is a file, expected a folder")
    refused(tmp_path / "truth", tmp_path / "answers", "lies in the folder of --predictions", tmp_path / "answers")
    refused(tmp_path, tmp_path / "out", "lies in the folder of --truth")


@pytest.mark.parametrize("word", ["", "--split="])
def test_an_empty_argument_is_a_variable_that_is_not_set(word: str) -> None:
    command = [sys.executable, "-m", "groundeval", "formats", *([word] if word else ["boxes_json", word])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "groundeval: an argument is empty. Is it a variable of the shell that is not set?\n"


def test_confidences_are_no_classes() -> None:
    with pytest.raises(
        InputError, match=r"confidence_png: makes confidences, but gmrp needs classes. Use one of class_"
    ):
        convert.declared("gmrp", "confidence_png", {})
    with pytest.raises(
        InputError, match=r"makes classes, but kitti_road needs confidences\. Use one of confidence_png"
    ):
        convert.declared("kitti_road", "class_png", {})


def test_every_benchmark_has_formats_and_every_format_a_benchmark() -> None:
    records = [benchmarks.record(name) for name in benchmarks.names()]
    fitting = {r.name: [f for f in formats.names() if formats.record(f).fits(r.shape, r.maps)] for r in records}
    assert all(fitting.values())
    assert set().union(*fitting.values()) == set(formats.names())


def test_the_dataset_is_what_the_download_stage_recorded_beside_it(tmp_path: Path) -> None:
    case = Case("grefcoco", tmp_path)
    record: dict[str, Any] = {"version": "demo", "generated": True}
    case.raw.with_name("raw.json").write_text(json.dumps(record))
    assert case.evaluate("nothing", tmp_path / "out")["dataset"]["version"] == "demo"
    assert json.loads((tmp_path / "out/provenance.json").read_text())["predicate"]["dataset"]["version"] == "demo"
