"""One page from its template: no request to anywhere, nothing runs but our own script, the same bytes for the same content."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from groundeval.report import text
from groundeval.report.collect import COUNTS
from groundeval.report.details import details

TEMPLATES = Path(__file__).with_name("templates")
FILTERS = ("visible", "number", "interval", "amount", "division", "exact", "told")


def render(template: str, **content: object) -> str:
    """A page. All but the stylesheet and the script is escaped; the policy names these two by their digests."""
    style, script = (TEMPLATES.joinpath(name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    parts = {"style": Markup(style), "script": Markup(script), "policy": _policy(style, script)}  # noqa: S704
    return _environment().get_template(template).render(**parts, counts=COUNTS, **content)


def _policy(style: str, script: str) -> str:
    """Nothing may load, be sent or be framed; only this very stylesheet applies, only this very script runs."""
    digests = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script))
    allowed = "style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:".format(*digests)
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


@cache
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
    environment.filters |= {"details": details, "breakable": _breakable}
    return environment


def _shown(value: object) -> object:
    """Whatever a template shows, its control and direction characters are made visible; templates need not remember."""
    return value if isinstance(value, Markup) else text.visible(value)


def _breakable(name: str) -> Markup:
    """A metric's name that may be broken after `_` and `/`, nowhere else."""
    return Markup("<wbr>").join(re.split(r"(?<=[_/])", text.visible(name)))
