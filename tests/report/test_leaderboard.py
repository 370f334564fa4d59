"""The table in the terminal."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from groundeval.report.leaderboard import print_terminal
from report import made_up
from tests.benchmarks.case import Case


def printed(runs: list[dict[str, Any]], width: int = 100, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    print_terminal(runs, Console(file=file, width=width, color_system=None))
    file.flush()
    return raw.getvalue().decode(encoding)


def line(text: str, start: str) -> list[str]:
    """The words of the first line that starts so, without the lines of the table."""
    found = next(row for row in text.splitlines() if row.startswith(start))
    return found.replace("│", " ").replace("|", " ").split()


def test_runs_stand_side_by_side_with_baselines_and_counts() -> None:
    text = printed([made_up.run("worse", 1), made_up.run("better", 7)])
    assert line(text, "acc") == ["acc", "0.8750", "0.1250", "0.2500"]
    assert line(text, "P@50") == ["P@50", "(%)", "33.33", "33.33", "-"]
    assert line(text, "expected") == ["expected", "8", "8"]
    assert text.index("better") < text.index("worse") < text.index("baseline")


def test_ranks_are_shown_with_what_they_know_of_ties() -> None:
    text = printed([made_up.run("worse", 1), made_up.run("better", 7)])
    assert line(text, "rank") == ["rank", "1", "2"]
    assert "ties unknown: the counts of samples do not stand beside every run" in " ".join(text.split())
    assert "rank" not in printed([made_up.run("alone")])


def test_runs_with_counts_share_ranks(tmp_path: Path) -> None:
    case = Case("grefcoco", tmp_path)
    content, files = case.evaluate("almost", tmp_path / "a"), [tmp_path / name / "metrics.json" for name in "ab"]
    files[1].parent.mkdir()
    files[1].write_bytes(files[0].read_bytes())
    made_up.copy_tables(files[0].parent, files[1].parent, model="twin")
    shown = io.StringIO()
    print_terminal([content, {**content, "model": "twin"}], Console(file=shown, width=100), files)
    assert line(shown.getvalue(), "rank") == ["rank", "1-2", "1-2"]
    assert "cannot be told apart" in " ".join(shown.getvalue().split())


def test_a_single_run_shows_its_ratios_and_notes() -> None:
    text = printed([made_up.run("one")])
    assert line(text, "acc") == ["acc", "0.6250", "[0.2500,", "0.9000]", "5", "/", "8", "0.2500"]
    assert "note: areas of zero dropped (2)" in text


def test_an_incomplete_run_is_marked() -> None:
    counts = made_up.COUNTS | {"answered": 3, "missing": 1, "invalid": 2}
    text = printed([made_up.run("cut", status="incomplete", counts=counts), made_up.run("whole")])
    assert "cut is incomplete: 3 of 8 samples have no usable answer" in text
    assert line(text, "invalid") == ["invalid", "2", "0"]


def test_a_value_that_does_not_exist_has_its_reason() -> None:
    void = made_up.run("void", metrics={"acc": made_up.metric(0, 0)})
    assert "void, acc: n/a: nothing to divide by" in printed([void, made_up.run("a")])
    assert "n/a: nothing to divide by" in printed([void])


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_no_row_is_lost(width: int) -> None:
    names = [f"model-{i}" for i in range(9)]
    text = printed([made_up.run(name) for name in names], width)
    assert max(map(len, text.splitlines())) <= width
    assert all(name in text for name in names)
    assert text.count("0.6250") == len(names)


@pytest.mark.parametrize("width", range(36, 80, 3))
def test_as_many_models_stand_side_by_side_as_fit_without_breaking_a_name(width: int) -> None:
    text = printed([made_up.run(f"model-{i}") for i in range(9)], width)
    tables = text.count("acc ")
    assert text.count("error, lower is better") == tables
    assert tables >= 10 * len(" | 0.6250") / (width - len("error, lower is better"))


def test_a_terminal_without_unicode_is_served() -> None:
    assert "0.6250" in printed([made_up.run("a")], encoding="ascii")


def test_text_of_others_is_no_markup_and_no_control_sequence() -> None:
    text = printed([made_up.run("a", notes={"[red]x[/red] \x1b[2J \u202e": 1}, options={"setting": "[bold]y"})])
    assert "[red]x[/red] \\x1b[2J \\u202e" in text
    assert "[bold]y" in text
    assert "\x1b" not in text
