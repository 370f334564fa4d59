"""The report's check: each byte of each file, and what cannot be checked where the dataset is not at hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from groundeval.stages import verify
from groundeval.stages.report import report
from groundeval.verify.check import Check
from groundeval.verify.runs import Run
from report import tree

GALLERY, SAMPLES = "grefcoco-val.gallery.html", "grefcoco-val.samples.html"
PAGES = ["index.html", "grefcoco-val.html", GALLERY, SAMPLES, "leaderboard.csv", "leaderboard.md", "leaderboard.tex"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("verified")
    files = tree.grefcoco(root, [f"{n}:{n}" for n in range(100, 130)], ["a text"] * 30, ["one", "two"])
    report(files, root / "results" / "report", root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "tree"))


def checked(root: Path) -> Check:
    runs = [Run(path.parent, root) for path in sorted(root.glob("results/*/*/*/metrics.json"))]
    return verify.report(runs, root / "results" / "report", root)


def flip(path: Path) -> None:
    """Another digit, near the end of the file if there is one."""
    data = path.read_bytes()
    place = max(data.rfind(digit) for digit in (b"0", b"1", b"5"))
    path.write_bytes(data[:place] + b"7" + data[place + 1 :])


def test_the_report_is_what_the_runs_give(root: Path) -> None:
    found = checked(root)
    assert (found.verdict, found.failed, found.unchecked) == ("PASS", [], [])


@pytest.mark.parametrize("name", PAGES)
def test_a_number_edited_anywhere_fails(root: Path, name: str) -> None:
    flip(root / "results/report" / name)
    (failed,) = checked(root).failed
    assert failed.startswith(f"{name}, line ")


def test_all_plots_are_checked(root: Path) -> None:
    for path in (root / "results/report/plots").iterdir():
        flip(path)
    assert len(checked(root).failed) == len(list((root / "results/report/plots").iterdir()))


def test_a_file_more_or_less_fails(root: Path) -> None:
    (root / "results/report/more.html").write_text("", encoding="utf-8")
    (root / "results/report" / GALLERY).unlink()
    failed = checked(root).failed
    assert failed[0] == 'first "more.html" is of no report'
    assert GALLERY in failed[1]


def test_a_link_fails_whatever_it_leads_to(root: Path) -> None:
    page = root / "results/report/index.html"
    page.rename(root / "elsewhere.html")
    page.symlink_to(root / "elsewhere.html")
    assert checked(root).failed == ["index.html is a link: its bytes stand elsewhere and may change"]


def test_without_the_dataset_the_other_pages_are_still_checked(root: Path) -> None:
    shutil.rmtree(root / "data")
    found = checked(root)
    assert found.failed == []
    assert [said.split(":")[0] for said in found.unchecked] == [GALLERY, SAMPLES]
    assert "data/splits/grefcoco/val.parquet is not here" in found.unchecked[0]
    for name in ("index.html", "grefcoco-val.html"):
        flip(root / "results/report" / name)
    assert [said.split(",")[0] for said in checked(root).failed] == ["grefcoco-val.html", "index.html"]


def test_a_report_made_without_the_dataset_is_checked_whole_without_it(root: Path) -> None:
    shutil.rmtree(root / "data")
    report(sorted(root.glob("results/*/*/*/metrics.json")), root / "results/report", root)
    assert checked(root).unchecked == []
    flip(root / "results/report" / "grefcoco-val.html")
    assert checked(root).failed


def test_without_the_truth_the_samples_are_still_checked(root: Path) -> None:
    shutil.rmtree(root / "data/truth")
    assert [said.split(":")[0] for said in checked(root).unchecked] == [GALLERY]
    flip(root / "results/report" / SAMPLES)
    assert [said.split(",")[0] for said in checked(root).failed] == [SAMPLES]
