"""All that a leaderboard's main columns do not show: every other metric, one table for each family of names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundeval.metrics.ratios import Metric
from groundeval.report.board import Board
from groundeval.report.collect import Run


@dataclass(frozen=True)
class Line:
    """One label of a family: its value in each run, and the denominator where all runs share it."""

    label: str
    values: Sequence[Metric | None]
    denominator: int | float | None


@dataclass(frozen=True)
class Detail:
    """A table: labels down, runs across. family is "" for names without a `/`."""

    family: str
    metric: str
    runs: Sequence[Run]
    lines: Sequence[Line]

    @property
    def shared(self) -> bool:
        """Does any line have one denominator for all runs?"""
        return any(line.denominator is not None for line in self.lines)

    @property
    def unit(self) -> str | None:
        """The unit of the values, where they share one."""
        units = {value.unit for line in self.lines for value in line.values if value is not None}
        return units.pop() if len(units) == 1 else None

    @property
    def title(self) -> str:
        """What the table shows."""
        return f"{self.family}: {self.metric}" if self.family and self.metric else self.family or "other metrics"


def details(board: Board) -> list[Detail]:
    """The tables of a board, in the order in which its runs name their metrics, names without a `/` first.

    `by_kind/multi/set_accuracy` is the line `multi` of the table `by_kind: set_accuracy`; `IoU/sky` the line `sky` of
    `IoU`. A label may itself hold a `/`.
    """
    runs = [row.run for row in board.runs if row.run is not None]
    main = {column.name for column in board.columns}
    names = dict.fromkeys(name for run in runs for name in run.metrics if name not in main)
    tables: dict[tuple[str, str], list[Line]] = {}
    for name in names:
        family, label, metric = parts(name)
        tables.setdefault((family, metric), []).append(_line(label, [run.metrics.get(name) for run in runs]))
    found = [Detail(family, metric, runs, lines) for (family, metric), lines in tables.items()]
    return sorted(found, key=lambda detail: detail.family != "")


def parts(name: str) -> tuple[str, str, str]:
    """Family, label and metric of a flat name."""
    first, _, rest = name.partition("/")
    if not rest:
        return "", name, ""
    label, _, metric = rest.rpartition("/")
    return (first, label, metric) if label else (first, rest, "")


def _line(label: str, values: Sequence[Metric | None]) -> Line:
    found = {value.denominator for value in values if value is not None}
    return Line(label, values, found.pop() if len(found) == 1 else None)
