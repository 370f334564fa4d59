"""What a leaderboard is: the runs that may be compared, with trivial baselines and published rows kept apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from groundeval.benchmarks import Record
from groundeval.metrics.ratios import Metric, Unit
from groundeval.report.collect import Run


@dataclass(frozen=True)
class Row:
    """One line of a leaderboard. Only a run has counts, a format and options."""

    kind: Literal["run", "baseline", "published"]
    name: str
    setting: str | None
    metrics: Mapping[str, Metric]
    run: Run | None = None
    note: str | None = None
    source: str | None = None
    split: str | None = None  # of a published row
    rank: str = ""  # of a run that has a headline: "1", or "2-3" in a group of ties


@dataclass(frozen=True)
class Column:
    """One main metric. unit is None where no row has the metric."""

    name: str
    help: str
    unit: Unit | None
    lower: bool  # is lower better
    headline: bool

    @property
    def heading(self) -> str:
        """The name with its unit, and the direction where lower is better."""
        unit = " (%)" if self.unit == "percent" else ""
        return f"{self.name}{unit}{', lower is better' if self.lower else ''}"


@dataclass(frozen=True)
class Board:
    """One benchmark, split and truth. Runs over another version of either are on another board: they do not compare."""

    record: Record
    version: str
    split: str
    dataset: Mapping[str, str | None]
    columns: Sequence[Column]
    runs: Sequence[Row]  # by headline, best first, those without a value last
    baselines: Sequence[Row]
    published: Sequence[Row]  # on this split, under a setting that one of the runs has, if any says so
    elsewhere: Sequence[Row]  # published under another setting, or on a split of their authors' own
    ties: Sequence[Sequence[Row]] = ()  # the runs that share a rank, best group first; groups of two or more
    ties_note: str = ""  # how ties were told, or why they could not be
    siblings: int = 0  # boards of the same benchmark and split, over another version or truth

    @property
    def sources(self) -> list[str]:
        """Where the published rows come from, each source once."""
        return list(dict.fromkeys(row.source for row in self.rows if row.source))

    @property
    def rows(self) -> list[Row]:
        """All of them: runs, baselines, published."""
        return [*self.runs, *self.baselines, *self.published, *self.elsewhere]

    @property
    def has_setting(self) -> bool:
        """Does a run, or a published row, say under which setting it was made?"""
        return any(row.setting is not None for row in self.rows)

    def unlisted(self, row: Row) -> dict[str, Metric]:
        """What the row has beside the main columns."""
        main = {column.name for column in self.columns}
        return {name: metric for name, metric in row.metrics.items() if name not in main}
