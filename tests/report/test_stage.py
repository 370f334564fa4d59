"""The stage: one folder, the same bytes for the same runs, nothing left behind by an error or by an earlier report."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from typing import Any

import pytest

from groundeval.errors import InputError
from groundeval.report import gallery, sampletable
from groundeval.report.collect import COUNTS
from groundeval.stages.report import report, show
from report import made_up, tree

GOLDEN = Path(__file__).with_name("golden")
LIMIT, PAGE_LIMIT = 25_000_000, 5_000_000  # bytes of a report of six benchmarks, and of one page
PAGES = ["index.html", *(f"toy-{split}{end}.html" for split in ("test", "val") for end in ("", ".gallery", ".samples"))]
FILES = sorted([*PAGES, "leaderboard.csv", "leaderboard.md", "leaderboard.tex"])


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
    made = report(files, tmp_path / "a")
    assert (made.index, made.names) == (tmp_path / "a" / "index.html", FILES)
    report(files[::-1], tmp_path / "b")
    report(files, tmp_path / "b")
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == sorted([*FILES, "plots"])
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "benchmarks", "run0", "run1", "run2"]


def test_pages_of_boards_that_are_no_more_vanish(tmp_path: Path) -> None:
    files = made_up.write(tmp_path, *runs())
    report(files, tmp_path / "out")
    report(files[:2], tmp_path / "out")
    assert not [path.name for path in (tmp_path / "out").iterdir() if "toy-test" in path.name]


@pytest.mark.parametrize("name", ["notes.txt", "mine/index.html"])
def test_a_folder_that_is_no_report_is_left_alone(tmp_path: Path, name: str) -> None:
    files = made_up.write(tmp_path, *runs())
    report(files, tmp_path / "out")
    strange = tmp_path / "out" / name
    strange.parent.mkdir(exist_ok=True)
    strange.write_text("mine", encoding="utf-8")
    for out in (tmp_path / "out", tmp_path / "run0"):
        with pytest.raises(InputError, match="something else than a report"):
            report(files, out)
    assert strange.read_text(encoding="utf-8") == "mine"
    page = tmp_path / "other" / "index.html"
    page.parent.mkdir()
    page.write_text("a page", encoding="utf-8")
    with pytest.raises(InputError, match="something else than a report"):
        report(files, page.parent)


def test_only_gallery_and_samples_need_the_dataset_and_say_what_they_lack(tmp_path: Path) -> None:
    files = tree.grefcoco(tmp_path, [f"{n}:{n}" for n in range(100, 130)], ["text"] * 30, ["one", "two"])
    whole = report(files, tmp_path / "whole", tmp_path)
    part = report(files, tmp_path / "part", tmp_path / "nothing")
    assert whole.names == part.names
    assert not any(whole.lacking.values())
    different = [
        n for n in whole.names if (tmp_path / "whole" / n).read_bytes() != (tmp_path / "part" / n).read_bytes()
    ]
    assert different == [name for name, lacking in part.lacking.items() if lacking]
    assert different == ["grefcoco-val.gallery.html", "grefcoco-val.samples.html"]
    assert "data/splits/grefcoco/val.parquet is not here" in (tmp_path / "part" / different[0]).read_text()


def test_a_large_split_keeps_to_its_limits(tmp_path: Path) -> None:
    rng = Random(1)
    ids = sorted(f"{rng.randrange(10_000, 60_000)}:{number}" for number in range(14_229))
    texts = [" ".join(rng.choice(("the", "man", "left", "zebra", "behind", "café")) for _ in range(7)) for _ in ids]
    files = tree.grefcoco(tmp_path, ids, texts, [f"a model with a name {number}" for number in range(8)])
    made = report(files, tmp_path / "out", tmp_path)
    sizes = {name: (tmp_path / "out" / name).stat().st_size for name in made.names}
    assert max(sizes.values()) < PAGE_LIMIT
    assert sum(sizes.values()) < LIMIT / 6
    assert "All 14,229 samples" in (tmp_path / "out" / "grefcoco-val.samples.html").read_text(encoding="utf-8")
    assert sampletable.LIMIT + 500_000 < PAGE_LIMIT
    assert gallery.LIMIT + 500_000 < PAGE_LIMIT


def test_it_opens_in_the_browser_if_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    seen: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: seen.append(address) or len(seen) == 1)
    made = report(made_up.write(tmp_path, *runs()), tmp_path / "out")
    show(made, in_browser=False)
    show(made, in_browser=True)
    assert seen == [made.index.as_uri()]
    said = capsys.readouterr()
    assert said.out.splitlines() == [str(made.index)] * 2
    assert "no run has a samples.parquet" in said.err
    with pytest.raises(InputError, match="no browser"):
        show(made, in_browser=True)


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
