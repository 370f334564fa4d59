"""The page: what it holds, that it is well-formed, and that nothing in it can act or call out."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from groundeval.report.assemble import boards
from groundeval.report.collect import parse
from groundeval.report.page import render
from report import made_up

VOID = {"meta", "wbr"}
EVIL = "<script>alert(1)</script> \"'><img src=x onerror=alert(1)> =HYPERLINK(1) \u202e\u200f"


class Page(HTMLParser):
    """Tags with their attributes, and the text of each cell; an unclosed or misplaced tag is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def row(self, start: str) -> list[str]:
        return next(row for row in self.rows if row and row[0].startswith(start))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def page(*runs: dict[str, Any]) -> Page:
    return Page(render(boards([parse(run) for run in runs])))


def test_the_leaderboard_has_runs_baselines_and_published_rows_with_counts() -> None:
    found = page(made_up.run("worse", 1), made_up.run("better", 7))
    firsts = [row[0] for row in found.rows[:7]]
    assert [first.split()[0] for first in firsts] == [
        "Model",
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
    found = page(made_up.run("a"), made_up.run("b", 7))
    assert ["acc", "7 / 8", "5 / 8", "2 / 8"] in found.rows
    assert ["cup/saucer", "0.5000", "0.5000", "2"] in found.rows
    assert ["none", "n/a", "n/a", "0"] in found.rows
    assert ["a", "areas of zero dropped", "2"] in found.rows
    told = "0.625 fraction = 5 / 8; 95 %: 0.25 to 0.9; interval: by hand"
    assert {"title": told, "class": "n headline"} in found.named("td")


def test_incomplete_and_unscored_runs_are_marked() -> None:
    counts = made_up.COUNTS | {"answered": 5, "missing": 1}
    found = page(
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
    assert page(made_up.run("a", options={"setting": "task"})).row("a")[1] == "task"
    assert page(made_up.run("a")).row("Model")[1] == "acc"


def test_a_published_row_of_another_split_says_so_with_all_its_values(folder: Path) -> None:
    rows = "[{method: M, split: half of val, note: old, metrics: {acc: 1, by_kind/multi/acc: 2, b/c: 3}}]"
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows: {rows}", encoding="utf-8")
    row = page(made_up.run("a")).row("M published")
    assert row[:2] == ["M published", "0.0100"]
    assert " ".join(row[-1].split()) == "Split: half of val. by_kind/multi/acc 0.0200, b/c 3.00 %. old"


def test_each_published_row_names_its_source_where_there_are_several(folder: Path) -> None:
    rows = "[{method: M, split: val, source: other, metrics: {acc: 1}}, {method: N, split: val, metrics: {acc: 1}}]"
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows: {rows}", encoding="utf-8")
    found = page(made_up.run("a"))
    assert [" ".join(found.row(f"{name} published")[-1].split()) for name in "MN"] == ["Source: other", "Source: S"]


def test_text_of_others_is_shown_as_text() -> None:
    run = made_up.run(EVIL, format=EVIL, options={"setting": EVIL}, notes={EVIL: 1}, version=EVIL, split=EVIL)
    run["metrics"] |= {f"by_text/{EVIL}/acc": made_up.metric(0, 0, reason=EVIL)}
    run["metrics"]["acc"] = made_up.metric(0, 0, reason=EVIL)
    run["baselines"] = {EVIL: {"acc": made_up.metric(1, 2)}}
    run["dataset"] = {"version": EVIL, "truth": EVIL}
    found = page(run)
    assert not {tag for tag, _ in found.tags} & {"script", "img", "link", "iframe", "object", "base", "form", "svg"}
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name == "style"]
    shown = EVIL.replace("\u202e\u200f", "\\u202e\\u200f")
    assert sum(shown in text for text in found.texts) >= 8
    assert not set("".join(found.texts)) & {"\u202e", "\u200f"}


def test_nothing_is_fetched_and_the_policy_lets_nothing_but_the_stylesheet_in(folder: Path) -> None:
    source = "source: https://example.org/table\nunit: percent\nrows:\n  - {method: M, split: val, metrics: {acc: 1}}\n"
    (folder / "toy" / "published.yaml").write_text(source, encoding="utf-8")
    html = render(boards([parse(made_up.run("a")), parse(made_up.run("a", split="test"))]))
    found = Page(html)
    links = [v for _, attrs in found.tags for k, v in attrs.items() if k in ("href", "src", "srcset", "action", "data")]
    assert links == ["#toy-test", "#toy-val"]
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.S)
    assert not re.search(r"url\(|@import|https?:", style)
    (policy,) = [m["content"] for m in found.named("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_tables_can_be_read_by_a_machine_that_reads_aloud() -> None:
    found = page(made_up.run("a"), made_up.run("b", split="test"))
    assert len(found.named("caption")) == len(found.named("table")) > 4
    assert all("scope" in attrs for attrs in found.named("th"))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["aria-labelledby"] for _, attrs in found.tags if "aria-labelledby" in attrs} <= set(ids)


def test_boards_that_do_not_compare_say_so() -> None:
    found = page(made_up.run("a"), made_up.run("a", version="4"))
    assert sum("do not compare" in text for text in found.texts) == 2


def test_intervals_are_shown_and_told_in_the_tooltip() -> None:
    html = render(boards([parse(made_up.run("one"))]))
    assert '<small class="interval">[0.2500, 0.9000]</small>' in html
    assert "0.625 fraction = 5 / 8; 95 %: 0.25 to 0.9; interval: by hand" in html
