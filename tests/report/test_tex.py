"""Leaderboards for a paper: rows, order, what is bold, and names that LaTeX would take for commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundeval.report.assemble import boards
from groundeval.report.collect import parse
from groundeval.report.export import as_csv, as_markdown, as_tex
from groundeval.report.tex import escaped
from report import made_up

GOLDEN = Path(__file__).with_name("golden")
EVIL = r"\input{/etc/passwd} a_b & 5% #1 $x$ ~ ^ {} [8pt] * -- `` '' <script>|</script>"
UNESCAPED = re.compile(r"(?<!\\)[&%$#_{}~^]")


def tex(*runs: dict[str, Any]) -> str:
    return as_tex(boards([parse(run) for run in runs]))


def rows(text: str) -> list[list[str]]:
    return [line.removesuffix(r" \\").split(" & ") for line in text.splitlines() if line.endswith(r" \\")]


def test_published_rows_stand_first_in_their_order_then_runs_then_baselines(folder: Path) -> None:
    listed = "".join(
        f"  - {{method: {m}, split: val, metrics: {{acc: {v}}}}}\n" for m, v in (("Z", 10), ("A", 99), ("M", 20))
    )
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows:\n{listed}", encoding="utf-8")
    text = tex(made_up.run("worse", 1), made_up.run("better", 7))
    assert [row[0] for row in rows(text)] == ["Method", "Z", "A", "M", "better", "worse", "empty"]
    assert re.findall(r"\\textbf\{(.*?)\}", text) == ["0.9900"]


def test_the_best_is_bold_also_where_less_is_better_and_never_a_baseline() -> None:
    metric = {name: made_up.metric(n, 8, direction="lower") for name, n in (("bad", 7), ("good", 1))}
    runs = [made_up.run(name, metrics={"acc": of}) for name, of in metric.items()]
    baselines = {"empty": {"acc": made_up.metric(0, 8, direction="lower")}}
    text = tex(*({**run, "baselines": baselines} for run in runs))
    assert re.findall(r"\\textbf\{(.*?)\}", text) == ["0.1250"]


def test_an_incomplete_run_is_marked_and_one_that_is_not_scored_has_no_row() -> None:
    text = tex(made_up.run("cut", status="incomplete"), made_up.run("sent", status="package", metrics={}))
    assert r"cut$^{\dagger}$" in text
    assert r"{\footnotesize $^{\dagger}$ incomplete" in text
    assert "sent" not in text
    assert "dagger" not in tex(made_up.run("whole"))


def test_specials_are_escaped_everywhere() -> None:
    run = made_up.run(EVIL, options={"setting": EVIL}, version=EVIL)
    run["dataset"] = {"version": "a\n\\evil", "truth": "ab"}
    text = tex(run)
    (row,) = [row for row in rows(text) if row[0].startswith(r"\textbackslash{}input")]
    assert row[0] == row[1] == escaped(EVIL)
    assert len(row) == 5
    assert "\n\\evil" not in text


@given(st.text(max_size=40))
def test_escaped_text_has_no_command_of_its_own(text: str) -> None:
    made = escaped(text)
    plain = re.sub(r"\\text[a-z]+\{\}|\\[&%$#_{}]|\{[\[\]*]\}|(?<=[-',])\{\}", "", made)
    assert not UNESCAPED.search(plain)
    assert "\\" not in plain
    assert not re.search(r"--|''|,,|``", made)
    assert made.isprintable()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", " ="])
def test_a_cell_that_a_spreadsheet_would_run_is_text(start: str) -> None:
    evil = f'{start}HYPERLINK("http://x","y")'
    run = made_up.run(evil, options={"setting": evil}, notes={evil: 1})
    run["metrics"] |= {evil: made_up.metric(-1, 8)}
    text = as_csv(boards([parse(run)]))
    for cell in re.findall(r"(?:^|,)(\"(?:[^\"]|\"\")*\"|[^,\n]*)", text, re.M):
        bare = cell.strip('"')
        assert not bare.startswith(("=", "+", "@", "\t", "\r", "＝", "＋", "－", "＠"))
        assert not bare.startswith("-") or re.fullmatch(r"-[\d.]+", bare)
    assert "-0.125" in text


def test_markup_in_names_is_text_in_markdown() -> None:
    evil = "<img src=x onerror=alert(1)> [a](javascript:b) `c` | d"
    text = as_markdown(boards([parse(made_up.run(evil))]))
    assert "<img" not in text
    assert not re.search(r"(?<!\\)\[a(?<!\\)\]|(?<!\\)`|[^ \\]\| d", text)


def test_small_runs_give_the_kept_table() -> None:
    counts = made_up.COUNTS | {"answered": 4, "missing": 2}
    text = tex(made_up.run("worse", 1, status="incomplete", counts=counts), made_up.run("better", 7))
    assert text == (GOLDEN / "leaderboard.tex").read_text(encoding="utf-8")
