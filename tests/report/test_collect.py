"""Files that are no runs, and what tells runs apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundeval.errors import InputError
from groundeval.report.collect import load
from report import made_up


def test_a_run_keeps_all_that_its_file_says(tmp_path: Path) -> None:
    content = made_up.run("a", options={"setting": "task", "resize": False})
    (run,) = load(made_up.write(tmp_path, content))
    assert (run.model, run.split, run.setting, run.label) == ("a", "val", "task", "a (task)")
    assert run.counts == made_up.COUNTS
    assert run.metrics["by_kind/none/acc"].reason == "nothing to divide by"
    assert {n: m.value for n, m in run.metrics.items()} == {n: m["value"] for n, m in content["metrics"].items()}


def test_entries_of_a_later_version_are_no_error(tmp_path: Path) -> None:
    content = made_up.run("a", provenance={"commit": "x"})
    content["metrics"]["acc"] |= {"low": 0.1, "high": 0.9}
    assert load(made_up.write(tmp_path, content))[0].metrics["acc"].value == 5 / 8


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"status": "done"}, "status 'done'"),
        ({"counts": {"expected": 1}}, "answered is absent"),
        ({"metrics": {"acc": {"value": "1", "unit": "fraction", "numerator": 1, "denominator": 1}}}, "not numbers"),
        ({"metrics": {"acc": {"value": True, "unit": "fraction", "numerator": 1, "denominator": 1}}}, "not numbers"),
        ({"metrics": {"acc": {"value": 1, "unit": "permille", "numerator": 1, "denominator": 1}}}, "permille"),
        ({"metrics": [1]}, "not a run's metrics"),
        ({"metrics": {"acc": {"value": float("nan"), "unit": "percent", "numerator": 0, "denominator": 0}}}, "NaN"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    (file,) = made_up.write(tmp_path, made_up.run("a", **change))
    with pytest.raises(InputError, match=what) as caught:
        load([file])
    assert caught.value.file == str(file)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_what_is_no_json_object_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "metrics.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match="not a run's metrics"):
        load([file])


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load([tmp_path / "metrics.json"])


def test_the_same_run_twice_is_refused_and_another_threshold_is_another_run(tmp_path: Path) -> None:
    first, other = made_up.run("a"), made_up.run("a", options={"score_threshold": 0.5})
    assert len(load(made_up.write(tmp_path, first, other))) == 2
    with pytest.raises(InputError, match="run0"):
        load(made_up.write(tmp_path, first, json.loads(json.dumps(first))))
