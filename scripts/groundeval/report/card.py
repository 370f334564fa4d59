"""A benchmark's card, written in Markdown, as HTML that can neither act nor call out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from groundeval.report.text import visible

HIGHEST = 3  # level of a heading: the card is a part of the page


def html(benchmark: str) -> Markup | None:
    """The card of a benchmark without its title; None where it has none. Raw HTML stays text, images are not shown."""
    file = resources.files(f"groundeval.benchmarks.{benchmark}") / "README.md"
    return rendered(file.read_text(encoding="utf-8")) if file.is_file() else None


def rendered(text: str) -> Markup:
    """Markdown as HTML. Links lead to https: alone; all else that looks like one is text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "autolink"])
    seen = "\n".join(map(visible, text.split("\n")))
    tokens = [changed for token in _without_title(parser.parse(seen)) for changed in _changed(token)]
    return Markup(parser.renderer.render(list(_in_regions(tokens)), parser.options, {}))  # noqa: S704 - the renderer escapes all text


def _without_title(tokens: Sequence[Token]) -> Sequence[Token]:
    return tokens[3:] if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1" else tokens


def _changed(token: Token) -> list[Token]:
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(6, max(HIGHEST, int(token.tag[1]) + 1))}"
    elif token.type in ("th_open", "td_open"):
        token.attrs = {"class": "n"} if "right" in str(token.attrs.get("style", "")) else {}
        if token.tag == "th":
            token.attrs["scope"] = "col"
    elif token.type in ("fence", "code_block"):
        return [_html('<div class="scroll" tabindex="0">\n'), token, _html("</div>\n")]
    elif token.type == "inline" and token.children:
        token.children = list(_linked(token.children))
    return [token]


def _linked(children: Sequence[Token]) -> list[Token]:
    """Without the links that lead anywhere but to https:."""
    kept, dropped = [], False
    for token in children:
        if token.type == "link_open":
            dropped = not str(token.attrs.get("href", "")).startswith("https://")
            token.attrs["rel"] = "noopener noreferrer"
        if not (dropped and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def _in_regions(tokens: Sequence[Token]) -> Iterator[Token]:
    """A table scrolls sideways by itself; the keyboard reaches it, and it has a name."""
    count = 0
    for token in tokens:
        if token.type == "table_open":
            count += 1
            yield _html(f'<div class="scroll" role="region" aria-label="Table {count} of the card" tabindex="0">\n')
        yield token
        if token.type == "table_close":
            yield _html("</div>\n")


def _html(content: str) -> Token:
    """A piece of our own HTML between the tokens."""
    return Token("html_block", "", 0, content=content)
