"""The stage: three files, the same bytes for the same runs, nothing left behind by an error."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from groundeval.errors import InputError
from groundeval.report.collect import COUNTS
from groundeval.stages.report import report
from report import made_up

GOLDEN = Path(__file__).with_name("golden")
FILES = ["index.html", "leaderboard.csv", "leaderboard.md"]


def runs() -> list[dict[str, Any]]:
    counts = made_up.COUNTS | {"answered": 4, "missing": 2}
    return [
        made_up.run("worse", 1, status="incomplete", counts=counts),
        made_up.run("better", 7, options={"boxes": "xyxy"}),
        made_up.run("sent", status="package", metrics={}, split="test", baselines={}),
    ]


def lines(out: Path) -> list[dict[str, str]]:
    with out.joinpath("leaderboard.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["leaderboard.csv", "leaderboard.md"])
def test_small_runs_give_the_kept_files(tmp_path: Path, name: str) -> None:
    report(made_up.write(tmp_path, *runs()), tmp_path / "out")
    assert (tmp_path / "out" / name).read_text(encoding="utf-8") == (GOLDEN / name).read_text(encoding="utf-8")


def test_neither_the_order_of_files_nor_a_second_time_changes_a_byte(tmp_path: Path) -> None:
    files = made_up.write(tmp_path, *runs())
    assert report(files, tmp_path / "a") == tmp_path / "a" / "index.html"
    report(files[::-1], tmp_path / "b")
    report(files, tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == FILES
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in FILES)


def test_csv_rounds_nothing_and_has_every_value_of_every_row(tmp_path: Path) -> None:
    content = runs()
    report(made_up.write(tmp_path, *content), tmp_path / "out")
    found = {(r["split"], r["model"], r["metric"]): r for r in lines(tmp_path / "out") if r["kind"] == "run"}
    for run in content:
        for name, metric in run["metrics"].items():
            row = found.pop((run["split"], run["model"], name))
            assert row["value"] == ("" if metric["value"] is None else repr(metric["value"]))
            assert (row["numerator"], row["denominator"]) == (str(metric["numerator"]), str(metric["denominator"]))
            assert {name: int(row[name]) for name in COUNTS} == run["counts"]
    assert list(found) == [("test", "sent", "")]


def test_csv_has_a_published_row_once(tmp_path: Path) -> None:
    report(made_up.write(tmp_path, made_up.run("a"), made_up.run("a", version="4")), tmp_path / "out")
    found = [(r["model"], r["metric"]) for r in lines(tmp_path / "out") if r["kind"] == "published"]
    assert found == [("Theirs", "acc"), ("Theirs", "P@50")]


def test_csv_is_safe_in_a_spreadsheet_and_leaves_negative_numbers(tmp_path: Path) -> None:
    metrics = {"acc": made_up.metric(-1, 8), "=1+1": made_up.metric(1, 3)}
    content = made_up.run("=HYPERLINK(0)", metrics=metrics, format="@x", options={"setting": "-\u202e"})
    report(made_up.write(tmp_path, content), tmp_path / "out")
    first, second = (r for r in lines(tmp_path / "out") if r["kind"] == "run")
    assert (first["value"], first["numerator"]) == ("-0.125", "-1")
    assert (first["model"], first["format"], first["setting"]) == ("'=HYPERLINK(0)", "'@x", "'-\\u202e")
    assert second["metric"] == "'=1+1"


def test_nothing_is_written_where_a_file_is_wrong(tmp_path: Path) -> None:
    files = made_up.write(tmp_path, *runs())
    files[1].write_text("{", encoding="utf-8")
    with pytest.raises(InputError):
        report(files, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_runs_and_a_file_in_the_way_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no runs"):
        report([], tmp_path / "out")
    files = made_up.write(tmp_path, *runs())
    with pytest.raises(InputError, match="a file where"):
        report(files, files[0])
