r"""Leaderboards as LaTeX tables with booktabs, to be read into a paper by `\input`.

Rows stand as in a paper: published ones in their order, then runs, then the trivial baselines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from groundeval.report.board import Board, Row
from groundeval.report.text import ABSENT, interval, number, visible

# What LaTeX takes for a command, what has another glyph in its old fonts, and what `\\` takes for an option.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}
INCOMPLETE = r"$^{\dagger}$"


def escaped(text: object) -> str:
    """Text that LaTeX prints as it stands; control and direction characters are made visible before."""
    each = "".join(SPECIAL.get(c, c) for c in visible(text))
    return re.sub(r"([-',])(?=\1)", r"\1{}", each)  # else two of them are one other sign


def table(board: Board) -> Iterator[str]:
    """The lines of one board's `tabular`."""
    lead = ["Method", *(["Setting"] if board.has_setting else [])]
    yield f"% {visible(board.record.title)}, {visible(board.split)}, dataset {visible(board.dataset.get('version'))}"
    for source in board.sources:
        yield f"% published rows: {visible(source)}"
    yield rf"\begin{{tabular}}{{{'l' * len(lead)}{'r' * len(board.columns)}}}"
    yield r"\toprule"
    yield _line([*lead, *(escaped(column.heading) for column in board.columns)])
    best = _best(board)
    scored = [row for row in board.runs if row.run is not None and row.run.status != "package"]
    for rows in (board.published, scored, board.baselines):
        if rows:
            yield r"\midrule"
            yield from (_row(board, row, best) for row in rows)
    yield r"\bottomrule"
    yield r"\end{tabular}"
    if any(_incomplete(row) for row in scored):
        yield rf"\par\smallskip{{\footnotesize {INCOMPLETE} incomplete: samples without a usable answer count as wrong}}"


def _incomplete(row: Row) -> bool:
    return row.run is not None and row.run.status == "incomplete"


def _best(board: Board) -> float | None:
    """The best headline of published rows and runs; what looks at nothing is no contender."""
    rows = [row.metrics.get(board.record.headline) for row in (*board.published, *board.runs)]
    values = [metric.value for metric in rows if metric is not None and metric.value is not None]
    lower = any(column.lower for column in board.columns if column.headline)
    return (min if lower else max)(values, default=None)


def _row(board: Board, row: Row, best: float | None) -> str:
    mark = INCOMPLETE if _incomplete(row) else ""
    setting = [escaped(row.setting or ABSENT)] if board.has_setting else []
    cells = [_cell(row, column.name, column.headline, best) for column in board.columns]
    return _line([escaped(row.name) + mark, *setting, *cells])


def _cell(row: Row, name: str, headline: bool, best: float | None) -> str:
    metric = row.metrics.get(name)
    shown = number(metric).replace(ABSENT, "--")
    if not headline or metric is None or metric.value is None:
        return shown
    bold = rf"\textbf{{{shown}}}" if metric.value == best and row.kind != "baseline" else shown
    ends = interval(metric)
    return rf"{bold} {{\scriptsize {{{ends}}}}}" if ends else bold


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
