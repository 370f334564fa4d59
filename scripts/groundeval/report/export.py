"""The leaderboards as csv (long: one line a value, nothing rounded) and as Markdown (wide: one line a row)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence

from groundeval.report import tex
from groundeval.report.board import Board, Row
from groundeval.report.collect import COUNTS
from groundeval.report.text import ABSENT, interval, markdown, number, spreadsheet, told

FIELDS = (
    *(
        "benchmark",
        "split",
        "setting",
        "model",
        "kind",
        "rank",
        "rank_to",
        "metric",
        "value",
        "unit",
        "numerator",
        "denominator",
    ),
    *("low", "high", "interval_method"),
    *(*COUNTS, "status", "version", "format", "options", "note", "dataset", "truth", "tree"),
)


def as_csv(boards: Iterable[Board]) -> str:
    """Every value of every row. A row without any value has one line with no metric, so that it is seen.

    A published row that belongs to several boards stands once.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    lines = (line for board in boards for row in board.rows for line in _lines(board, row))
    for cells in dict.fromkeys(tuple(spreadsheet(line.get(name)) for name in FIELDS) for line in lines):
        writer.writerow(cells)
    return out.getvalue()


def _lines(board: Board, row: Row) -> Iterator[dict[str, object]]:
    said: dict[str, object] = {"benchmark": board.record.name, "split": row.split or board.split}
    first, _, last = row.rank.partition("-")  # a spreadsheet would take "2-3" for a day in March
    said |= {"setting": row.setting, "model": row.name, "kind": row.kind, "rank": first, "rank_to": last or first}
    if row.kind != "published":  # on which release others measured is not known
        dataset = {"dataset": board.dataset.get("version"), "truth": board.dataset.get("truth")}
        said |= {"version": board.version, **dataset}
    said["note"] = "; ".join(filter(None, (row.note, row.source)))
    if row.run is not None:
        options = json.dumps(row.run.options, sort_keys=True, ensure_ascii=False, default=str)
        said |= row.run.counts
        said |= {"status": row.run.status, "format": row.run.format, "options": options, "tree": row.run.tree}
    if not row.metrics:
        yield said
    for name, metric in row.metrics.items():
        parts: dict[str, object] = {"numerator": metric.numerator, "denominator": metric.denominator}
        low, high = metric.interval or (None, None)
        parts |= {"low": low, "high": high, "interval_method": metric.interval_method}
        note = said["note"] or metric.reason
        yield {**said, "metric": name, "value": metric.value, "unit": metric.unit, **parts, "note": note}


def as_tex(boards: Iterable[Board]) -> str:
    r"""One `tabular` a board, for a document that loads the package booktabs."""
    tables = ("\n".join(tex.table(board)) for board in boards)
    return "\n\n".join([r"% needs \usepackage{booktabs}", *tables]) + "\n"


def as_markdown(boards: Iterable[Board]) -> str:
    """One section a board."""
    return "\n".join("\n".join(_section(board)) for board in boards)


def _section(board: Board) -> Iterator[str]:
    yield f"## {markdown(board.record.title)}, {markdown(board.split)}"
    yield ""
    version, dataset = markdown(board.version), markdown(board.dataset.get("version") or "unknown")
    yield f"Headline: {markdown(board.record.headline)}. Benchmark version {version}, dataset {dataset}."
    yield ""
    head = [
        "rank",
        "model",
        "kind",
        *(["setting"] if board.has_setting else []),
        *(column.heading for column in board.columns),
    ]
    tail = [*COUNTS, "format", "options"]
    yield _table_line([markdown(cell) for cell in (*head, *tail)])
    right = ["---:"] * (len(board.columns) + len(COUNTS))
    yield _table_line(["---"] * (len(head) - len(board.columns)) + right + ["---"] * 2)
    for row in board.rows:
        yield _table_line(_cells(board, row))
    yield ""
    if board.ties_note:
        yield markdown(board.ties_note)
        yield ""
    for source in board.sources:
        yield f"Source of the published rows: {markdown(source)}"
        yield ""


def _cells(board: Board, row: Row) -> list[str]:
    kind = row.kind if row.run is None or row.run.mark is None else f"{row.kind}, **{row.run.mark}**"
    setting = [markdown(row.setting or ABSENT)] if board.has_setting else []
    said = [row.metrics.get(column.name) for column in board.columns]
    values = [" ".join(filter(None, (number(metric), interval(metric)))) for metric in said]
    return [row.rank or ABSENT, markdown(row.name), kind, *setting, *values, *_of_run(row)]


def _of_run(row: Row) -> list[str]:
    if row.run is None:
        return [ABSENT] * (len(COUNTS) + 2)
    counts = [str(row.run.counts[name]) for name in COUNTS]
    return [*counts, markdown(row.run.format), markdown(told(row.run.options))]


def _table_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
