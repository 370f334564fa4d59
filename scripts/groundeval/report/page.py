"""The report as one page: no script, no request to anywhere, the same bytes for the same runs."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from groundeval.report import text
from groundeval.report.board import Board
from groundeval.report.collect import COUNTS
from groundeval.report.curves import plots
from groundeval.report.details import details

TEMPLATES = Path(__file__).with_name("templates")
FILTERS = ("visible", "number", "interval", "amount", "division", "exact", "told")


def render(boards: Sequence[Board]) -> str:
    """The page of these leaderboards. All but the stylesheet is escaped; the policy names that by its digest."""
    style = TEMPLATES.joinpath("style.css").read_text(encoding="utf-8")
    template = _environment().get_template("index.html")
    sections = list(zip(boards, anchors(boards), strict=True))
    return template.render(sections=sections, style=Markup(style), policy=_policy(style), counts=COUNTS)  # noqa: S704


def _policy(style: str) -> str:
    """Nothing may load, run, be sent or be framed; only this very stylesheet applies."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    environment.filters |= {name: getattr(text, name) for name in FILTERS}
    environment.filters |= {"details": details, "breakable": _breakable, "plots": plots}
    return environment


def _shown(value: object) -> object:
    """Whatever a template shows, its control and direction characters are made visible; templates need not remember."""
    return value if isinstance(value, Markup) else text.visible(value)


def _breakable(name: str) -> Markup:
    """A metric's name that may be broken after `_` and `/`, nowhere else."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/])", text.visible(name)))


def anchors(boards: Sequence[Board]) -> list[str]:
    """A distinct id for each board: `grefcoco-val`, with a number where several share the name."""
    seen: Counter[str] = Counter()
    found = []
    for board in boards:
        name = re.sub(r"[^a-z0-9]+", "-", f"{board.record.name}-{board.split}".lower())
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}--{seen[name]}")
    return found
