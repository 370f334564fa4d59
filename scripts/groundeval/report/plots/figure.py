"""What all plots share: a figure, its style, and SVG that a page with a strict policy can hold.

Of matplotlib's SVG, styles become attributes (a policy without inline styles would drop them), ids belong to the plot,
black becomes the page's own colour. Bytes depend on nothing but what is drawn and the version of matplotlib.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from groundeval.report.text import spreadsheet, visible

# Ten hues that stand out from white and from near-black alike, and five ways to draw a line.
COLOURS = (
    *("#3b7dd8", "#c9602c", "#2a9461", "#b0509f", "#8f7a12"),
    *("#c8455b", "#2a8fa0", "#7a68c9", "#8c6a4f", "#6f7f8c"),
)
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = "osD^vP<>X*"
INK = "#010203"  # stands for the page's own colour
WIDEST = 30  # signs of a name in a plot; csv has it whole

_FOREIGN = ("backend", "interactive", "toolbar", "webagg", "savefig.directory", "tk.", "timezone", "date.epoch")
_COLOURED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "groundeval",
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.family": "DejaVu Sans",  # which matplotlib brings, so that sizes are the same everywhere
    "font.size": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.15,
    "legend.frameon": False,
    **dict.fromkeys(_COLOURED, INK),
}


@dataclass(frozen=True)
class Plot:
    """One figure. svg: an inline element, without script or outside reference; text and axes have the page's colour."""

    name: str  # a slug, distinct among the plots of a board
    title: str
    caption: str
    svg: str
    csv: str


@contextmanager
def styled() -> Iterator[None]:
    """Our style, whatever a user's own settings of matplotlib are."""
    default: Any = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith(_FOREIGN)}
    with warnings.catch_warnings(), mpl.rc_context(default | _STYLE):
        warnings.filterwarnings("ignore", message=".*[Gg]lyph", category=UserWarning)  # the browser has its own fonts
        yield


def figure(height: float = 3.4, columns: int = 1, rows: int = 1, width: float = 5.2) -> tuple[Figure, list[Axes]]:
    """A figure and its axes, row by row; sizes in inches of 72 units."""
    drawn = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(drawn)
    return drawn, list(drawn.subplots(rows, columns, squeeze=False).flat)


def share(axes: Axes, x: bool = True, y: bool = True) -> None:
    """Axes from 0 to 1, with room for a mark at either end."""
    axes.set(**{f"{name}lim": (-0.02, 1.02) for name, wanted in (("x", x), ("y", y)) if wanted})


def look(i: int) -> tuple[str, Any]:
    """Colour and dashes of the i-th model."""
    return COLOURS[i % len(COLOURS)], DASHES[(i // 2) % len(DASHES)]


def legend(drawn: Figure, labels: Mapping[int, str], markers: bool = False) -> None:
    """Names below the axes, by the number of their looks. They are set last: matplotlib takes a leading `_` for "none"."""
    handles = [_handle(i, markers) for i in labels]
    names = [shown(label) for label in labels.values()]
    columns = 1 if max(map(len, names)) > 24 else 2 if max(map(len, names)) > 14 else 3
    blank = ["-"] * len(names)
    made = drawn.legend(handles, blank, loc="outside lower center", ncols=min(columns, len(names)))
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(name)


def _handle(i: int, marker: bool) -> Line2D:
    colour, dash = look(i)
    if marker:
        return Line2D([], [], color=colour, linestyle="none", marker=MARKERS[i], markersize=5)
    return Line2D([], [], color=colour, linestyle=dash)


def shown(label: str) -> str:
    """A name as plots show it: visible, and not too long."""
    text = visible(label)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The numbers of a plot as csv, nothing rounded, safe in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([spreadsheet(cell) for cell in row] for row in (head, *rows))
    return out.getvalue()


def slug(text: str) -> str:
    """Lower-case letters and digits, joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def svg(drawn: Figure, name: str, title: str) -> str:
    """The figure as an inline element, its ids starting with the plot's name."""
    out = io.BytesIO()
    drawn.savefig(out, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    root = ET.fromstring(out.getvalue())  # noqa: S314 - our own
    used = set(re.findall(r"#([A-Za-z][\w-]*)(?=[\")])", out.getvalue().decode()))
    _clean(root, name, used)
    kept = {"viewBox": root.get("viewBox", ""), "role": "img", "aria-label": title, "stroke-linejoin": "round"}
    root.attrib.clear()
    root.attrib.update(kept)
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _clean(element: ET.Element, name: str, used: set[str]) -> None:
    element.tag = element.tag.rpartition("}")[2]
    element.text, element.tail = (element.text or "").strip() or None, None
    element.attrib = dict(_attributes(element, name, used))
    for child in list(element):
        if child.tag.rpartition("}")[2] in ("metadata", "style"):
            element.remove(child)
        else:
            _clean(child, name, used)
    for child in [c for c in element if c.tag == "defs" and not len(c)]:
        element.remove(child)


def _attributes(element: ET.Element, name: str, used: set[str]) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        plain = key.rpartition("}")[2]
        if plain == "style":
            pairs = (part.partition(":") for part in value.split(";") if part.strip())
            yield from ((k.strip(), _own(v.strip(), name)) for k, _, v in pairs if k.strip() != "font-family")
        elif plain == "id":
            yield from [("id", f"{name}-{value}")] if value in used else []
        elif value.startswith("rotate(-0 "):
            continue
        elif plain in ("d", "x", "y", "width", "height", "transform", "points"):
            yield plain, re.sub(r"-?\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}", re.sub(r"\s+", " ", value.strip()))
        else:
            yield plain, _own(value, name)


def _own(value: str, name: str) -> str:
    """A value with our ids and the page's colour; fonts are the page's too."""
    if value == INK:
        return "currentColor"
    return re.sub(r"#(?=[A-Za-z][\w-]*\)?$)(?![0-9a-f]{6}$)", f"#{name}-", value)
