"""Leaderboards in the terminal: metrics down and models across, so that long names fit in a narrow one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from groundeval.report import evidence
from groundeval.report.assemble import boards
from groundeval.report.board import Board, Row
from groundeval.report.collect import COUNTS, parse
from groundeval.report.text import amount, division, interval, number, visible


def print_terminal(
    runs: Sequence[Mapping[str, Any]], console: Console | None = None, files: Sequence[Path] = ()
) -> None:
    """Print the main columns of runs (the content of their metrics.json), with trivial baselines and counts.

    A single run of a board is shown with numerators and denominators. files: their metrics.json, so that ranks know of
    ties from the tables beside them.
    """
    console, parsed = console or Console(), [parse(run) for run in runs]
    found = [evidence.load(*pair) for pair in zip(files, parsed, strict=False)]
    for board in boards(parsed, [one for one in found if one is not None]):
        for part in _parts(board, console):
            console.print(part)


def _parts(board: Board, console: Console) -> Iterator[RenderableType]:
    yield Text(f"\n{visible(board.record.title)}, {visible(board.split)}", style="bold")
    dataset = visible(board.dataset.get("version") or "unknown")
    yield Text(f"dataset {dataset}, headline {board.record.headline}", style="dim")
    rows = [*board.runs, *board.baselines]
    while rows:
        count = _fitting(board, rows, console)
        yield _table(board, rows[:count])
        yield Text("")
        rows = rows[count:]
    yield from _remarks(board)


def _fitting(board: Board, rows: Sequence[Row], console: Console) -> int:
    """How many of the rows stand side by side without wrapping; at least one."""
    unlimited = console.options.update(max_width=10_000)
    for count in range(len(rows), 1, -1):
        if Measurement.get(console, unlimited, _table(board, rows[:count])).maximum <= console.width:
            return count
    return 1


def _table(board: Board, rows: Sequence[Row]) -> Table:
    table = Table(show_edge=False, pad_edge=False, header_style="")
    table.add_column("", overflow="fold")
    single = len(board.runs) == 1
    for row in rows:
        table.add_column(_head(row), justify="right", overflow="fold")
        if single and row.run is not None:
            table.add_column(Text("95 %\ninterval", style="dim"), justify="right", overflow="fold")
            table.add_column(Text("numerator /\ndenominator", style="dim"), justify="right", overflow="fold")
    if not single:
        table.add_row("rank", *(Text(row.rank) for row in rows))
    for column in board.columns:
        cells = [cell for row in rows for cell in _value(row, column.name, single)]
        table.add_row(column.heading, *cells, style="bold" if column.headline else "")
    if any(row.run is not None for row in rows):
        table.add_section()
        for name in COUNTS:
            table.add_row(name, *[cell for row in rows for cell in _count(row, name, single)])
    return table


def _head(row: Row) -> Text:
    head = Text(visible(row.name), style="bold" if row.run else "italic")
    if row.setting is not None:
        head.append(f"\n{visible(row.setting)}", style="not bold")
    if row.run is None:
        head.append(f"\n{row.kind}", style="dim")
    elif row.run.mark is not None:
        head.append("\n" + row.run.mark.replace(": ", "\n"), style="bold yellow")
    return head


def _value(row: Row, name: str, single: bool) -> list[Text]:
    metric = row.metrics.get(name)
    more = [Text(said(metric), style="dim not bold") for said in (interval, division)]
    return [Text(number(metric), style="" if row.run else "italic"), *(more if single and row.run is not None else [])]


def _count(row: Row, name: str, single: bool) -> list[Text]:
    if row.run is None:
        return [Text("")]
    count = row.run.counts[name]
    bad = name in ("missing", "invalid") and count > 0
    return [Text(amount(count), style="bold yellow" if bad else ""), *([Text("")] * 2 if single else [])]


def _remarks(board: Board) -> Iterator[Text]:
    runs = [row.run for row in board.runs if row.run is not None]
    for run in runs:
        if run.status == "incomplete":
            unusable = run.counts["missing"] + run.counts["invalid"]
            what = f"{unusable} of {run.counts['expected']} samples have no usable answer; they count as wrong"
            yield Text(f"{visible(run.label)} is incomplete: {what}.", style="yellow")
    if len(runs) == 1:
        yield from (Text(f"note: {visible(n)} ({amount(c)})", style="dim") for n, c in sorted(runs[0].notes.items()))
        return
    if board.ties_note:
        yield Text(visible(board.ties_note), style="dim")
    for run in runs:
        for column in board.columns:
            metric = run.metrics.get(column.name)
            if metric is not None and metric.value is None:
                yield Text(f"{visible(run.label)}, {column.name}: {division(metric)}", style="dim")
