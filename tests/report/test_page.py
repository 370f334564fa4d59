"""The pages: what they hold, that they are well-formed, and that nothing in them can act or call out."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from report import made_up
from report.pages import EVIL, SEEN, Page, board, index, made


def test_the_leaderboard_has_runs_baselines_and_published_rows_with_counts() -> None:
    found = board(made_up.run("worse", 1), made_up.run("better", 7))
    firsts = [next(cell for cell in row if len(cell) > 3) for row in found.rows[:7]]
    assert [first.split()[0] for first in firsts] == [
        "Rank",
        "better",
        "worse",
        "Trivial",
        "empty",
        "Published",
        "Theirs",
    ]
    assert found.row("better")[1:] == [
        "0.8750 [0.2500, 0.9000]",
        "33.33",
        "0.2500",
        "8",
        "6",
        "2",
        "0",
        "0",
        "boxes_json boxes=xywh unit=px",
    ]
    assert found.row("Theirs")[:4] == ["Theirs published", "0.6210", "58.20", "-"]
    assert found.row("empty")[:3] == ["empty baseline", "0.2500", "-"]


def test_numerators_denominators_and_other_metrics_are_there() -> None:
    found = board(made_up.run("a"), made_up.run("b", 7))
    assert ["acc", "7 / 8", "5 / 8", "2 / 8"] in found.rows
    assert ["cup/saucer", "0.5000", "0.5000", "2"] in found.rows
    assert ["none", "n/a", "n/a", "0"] in found.rows
    assert ["a", "areas of zero dropped", "2"] in found.rows
    told = "0.625 fraction = 5 / 8; 95 %: 0.25 to 0.9; interval: by hand"
    assert {"title": told, "class": "n headline"} in found.named("td")


def test_incomplete_and_unscored_runs_are_marked() -> None:
    counts = made_up.COUNTS | {"answered": 5, "missing": 1}
    found = board(
        made_up.run("cut", status="incomplete", counts=counts),
        made_up.run("sent", status="package", metrics={}),
        made_up.run("whole"),
    )
    assert found.row("cut")[0] == "cut incomplete"
    assert found.row("sent")[0] == "sent not scored: no public truth"
    assert found.row("sent")[1:4] == ["-", "-", "-"]
    assert found.row("whole")[0] == "whole"
    assert [a["class"] for a in found.named("tr") if "class" in a] == ["incomplete", "package"]


def test_a_setting_is_a_column_where_a_run_has_one() -> None:
    assert board(made_up.run("a", options={"setting": "task"})).row("a")[1] == "task"
    assert board(made_up.run("a")).row("Rank")[1:3] == ["Model", "acc"]


def test_a_published_row_of_another_split_says_so_with_all_its_values(folder: Path) -> None:
    rows = "[{method: M, split: half of val, note: old, metrics: {acc: 1, by_kind/multi/acc: 2, b/c: 3}}]"
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows: {rows}", encoding="utf-8")
    row = board(made_up.run("a")).row("M published")
    assert row[:2] == ["M published", "0.0100"]
    assert " ".join(row[-1].split()) == "Split: half of val. by_kind/multi/acc 0.0200, b/c 3.00 %. old"


def test_each_published_row_names_its_source_where_there_are_several(folder: Path) -> None:
    rows = "[{method: M, split: val, source: other, metrics: {acc: 1}}, {method: N, split: val, metrics: {acc: 1}}]"
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows: {rows}", encoding="utf-8")
    found = board(made_up.run("a"))
    assert [" ".join(found.row(f"{name} published")[-1].split()) for name in "MN"] == ["Source: other", "Source: S"]


def test_text_of_others_is_shown_as_text() -> None:
    run = made_up.run(EVIL, format=EVIL, options={"setting": EVIL}, notes={EVIL: 1}, version=EVIL, split=EVIL)
    run["metrics"] |= {f"by_text/{EVIL}/acc": made_up.metric(0, 0, reason=EVIL)}
    run["metrics"]["acc"] = made_up.metric(0, 0, reason=EVIL)
    run["baselines"] = {EVIL: {"acc": made_up.metric(1, 2)}}
    run["dataset"] = {"version": EVIL, "truth": EVIL}
    pages = {name: Page(text) for name, text in made(run).items() if name.endswith(".html")}
    for found in pages.values():
        assert not {tag for tag, _ in found.tags} & {"img", "link", "iframe", "object", "base", "form"}
        assert len(found.named("script")) == 1
        assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name == "style"]
        assert SEEN in found.text
        assert not set(found.html) & {"\u202e", "\u200f"}
    assert max(sum(SEEN in text for text in found.texts) for found in pages.values()) >= 8


def test_nothing_is_fetched_and_the_policy_lets_nothing_but_our_own_in(folder: Path) -> None:
    source = "source: https://example.org/table\nunit: percent\nrows:\n  - {method: M, split: val, metrics: {acc: 1}}\n"
    (folder / "toy" / "published.yaml").write_text(source, encoding="utf-8")
    files = made(made_up.run("a"), made_up.run("a", split="test"))
    assert [name for name in files if name.endswith(".html")] == [
        *("index.html", "toy-test.html", "toy-test.gallery.html", "toy-test.samples.html"),
        *("toy-val.html", "toy-val.gallery.html", "toy-val.samples.html"),
    ]
    for name, html in files.items():
        found = Page(html)
        links = [v for _, a in found.tags for k, v in a.items() if k in ("href", "src", "srcset", "action", "data")]
        ids = {f"#{attrs['id']}" for _, attrs in found.tags if "id" in attrs}
        assert {str(link) for link in links} <= {*files, *ids, "leaderboard.csv", "leaderboard.md", "leaderboard.tex"}
        (style,), (script,) = (re.findall(f"<{tag}>(.*?)</{tag}>", html, re.S) for tag in ("style", "script"))
        assert not re.search(r"url\(|@import|https?:|\beval\b|innerHTML|fetch|import\(", style + script), name
        digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
        (policy,) = [m["content"] for m in found.named("meta") if m.get("http-equiv") == "Content-Security-Policy"]
        allowed = "style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:".format(*digests)
        assert policy == f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


@pytest.mark.parametrize("make", [board, index])
def test_tables_can_be_read_by_a_machine_that_reads_aloud(make: type) -> None:
    found = make(made_up.run("a"), made_up.run("b"))
    assert len(found.named("caption")) == len(found.named("table")) > 0
    assert all("scope" in attrs for attrs in found.named("th"))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["aria-labelledby"] for _, attrs in found.tags if "aria-labelledby" in attrs} <= set(ids)


def test_boards_that_do_not_compare_say_so() -> None:
    runs = made_up.run("a"), made_up.run("a", version="4")
    assert sum("do not compare" in text for text in index(*runs).texts) == 2
    assert sum("do not compare" in html for html in made(*runs).values()) == 3


def test_intervals_are_shown_and_told_in_the_tooltip() -> None:
    for html in (index(made_up.run("one")).html, board(made_up.run("one")).html):
        assert '<small class="interval">[0.2500, 0.9000]</small>' in html
        assert "0.625 fraction = 5 / 8; 95 %: 0.25 to 0.9; interval: by hand" in html


def test_the_index_has_the_headline_of_runs_baselines_and_published_rows_that_have_it(folder: Path) -> None:
    rows = "[{method: M, split: val, metrics: {acc: 50}}, {method: N, split: val, metrics: {P@50: 1}}]"
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows: {rows}", encoding="utf-8")
    found = index(made_up.run("worse", 1), made_up.run("better", 7))
    firsts = ["".join(row[1].split()[:1]) for row in found.rows]
    assert firsts == ["Model", "better", "worse", "empty", "M"]
    assert found.row("better")[1:] == ["0.8750 [0.2500, 0.9000]", "8 of 8"]
    assert found.row("M published")[1] == "0.5000"


def test_a_run_without_tables_has_pages_that_say_so() -> None:
    files = made(made_up.run("a"))
    for end in ("gallery", "samples"):
        assert "no run has a samples.parquet beside its metrics.json" in Page(files[f"toy-val.{end}.html"]).text


def test_each_number_has_the_commands_that_make_it_again() -> None:
    found = board(made_up.run("a", options={"boxes": "xy wh", "none": None, "sure": True}))
    assert "groundeval evaluate toy --truth DIR --split val --predictions FILE --format boxes_json" in found.text
    assert "--set 'boxes=xy wh' --set sure=true --model a --out OUT" in found.text
    traced = re.findall(r"groundeval trace OUT --metric (\S+)", found.text)
    assert traced == ["acc", "P@50", "error"]


def test_boards_that_share_a_name_have_pages_of_their_own() -> None:
    files = made(made_up.run("a"), made_up.run("a", version="4"), made_up.run("a", split="Val!"))
    assert [name for name in files if re.fullmatch("toy-val-?-?[0-9]?.html", name)] == [
        "toy-val-.html",
        "toy-val.html",
        "toy-val--2.html",
    ]
