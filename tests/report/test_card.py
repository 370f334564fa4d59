"""Cards: Markdown as HTML that can neither act nor call out."""

from __future__ import annotations

import re

import pytest

from groundeval import benchmarks
from groundeval.report import card
from report.pages import EVIL, SEEN, Page


@pytest.mark.parametrize("name", [name for name in benchmarks.names() if name != "toy"])
def test_every_card_is_well_formed_without_its_title(name: str) -> None:
    html = card.html(name)
    assert html is not None
    found = Page(html)
    assert not found.named("h1")
    assert not found.named("h2")
    assert found.named("h3")
    assert not [attrs for _, attrs in found.tags if "style" in attrs]
    assert len([a for a in found.named("div") if a.get("role") == "region"]) == len(found.named("table"))
    assert all(attrs["href"].startswith("https://") for attrs in found.named("a") if attrs["href"])


def test_a_benchmark_without_a_card_has_none() -> None:
    assert card.html("toy") is None


def test_raw_html_and_direction_characters_are_text() -> None:
    found = Page(card.rendered(f"# T\n\n{EVIL}\n\n<div onclick=x>\n\n| a |\n|--:|\n| {EVIL} |\n"))
    assert not {tag for tag, _ in found.tags} & {"script", "img"}
    assert [tag for tag, _ in found.tags].count("div") == 1
    assert found.text.count(SEEN) == 2
    assert "<div onclick=x>" in found.text
    assert {"class": "n"} in found.named("td")


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "protocol.py", "http://x.org", "//x.org"])
def test_only_https_is_linked(link: str) -> None:
    assert "<a" not in card.rendered(f"[see]({link})\n\n![see]({link})\n\n<{link}>")
    assert "see" in card.rendered(f"[see]({link})")


def test_https_is_linked_and_headings_stand_below_the_page_s_own() -> None:
    html = card.rendered("# T\n\n## One\n\n[a](https://x.org)\n\n##### Five\n")
    assert 'href="https://x.org"' in html
    assert re.findall(r"<(h\d)>", html) == ["h3", "h6"]
