"""Pages of made-up runs, and what is in one."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from groundeval.report import site
from groundeval.report.assemble import boards
from groundeval.report.collect import parse

VOID = {"meta", "wbr", "br", "input"}
EVIL = "<script>alert(1)</script> \"'><img src=x onerror=alert(1)> =HYPERLINK(1) \u202e\u200f"
SEEN = EVIL.replace("\u202e\u200f", "\\u202e\\u200f")


class Page(HTMLParser):
    """Tags with their attributes, and the text of each cell; an unclosed or misplaced tag is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self.html = html
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
        if "script" not in self.open and "style" not in self.open:
            self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def row(self, start: str) -> list[str]:
        """The first row whose name starts so, without the rank before it."""
        named = (row[1:] if re.fullmatch(r"[\d-]*", row[0]) else row for row in self.rows if row)
        return next(row for row in named if row[0].startswith(start))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def made(*runs: dict[str, Any]) -> dict[str, str]:
    """All files of the report of these runs, which have no tables."""
    return site.build(boards([parse(run) for run in runs]), [], {}, Path("no such tree")).files


def board(*runs: dict[str, Any]) -> Page:
    """The page of the one leaderboard of these runs."""
    (name,) = (name for name in made(*runs) if re.fullmatch(r"toy[^.]*\.html", name))
    return Page(made(*runs)[name])


def index(*runs: dict[str, Any]) -> Page:
    """The index of these runs."""
    return Page(made(*runs)["index.html"])
