"""Put runs on leaderboards, in order, with the benchmark's baselines and published rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from groundeval import benchmarks
from groundeval.benchmarks import Record
from groundeval.metrics.ratios import Metric
from groundeval.report import published, ties
from groundeval.report.board import Board, Column, Row
from groundeval.report.collect import Run
from groundeval.report.evidence import Evidence


def boards(runs: Sequence[Run], evidences: Sequence[Evidence] = ()) -> list[Board]:
    """The leaderboards of these runs, by benchmark and split. The order in which the runs are given changes nothing.

    evidences: of some or all of the runs, in any order. Where every run of a board has one, its ranks know of ties.
    """
    known = {evidence.run.identity: evidence for evidence in evidences}
    ordered = sorted(runs, key=lambda run: run.identity)
    found = [ties.ranked(_board(list(group)), known) for _, group in groupby(ordered, key=lambda run: run.identity[:5])]
    shared = Counter((board.record.name, board.split) for board in found)
    return [replace(board, siblings=shared[board.record.name, board.split] - 1) for board in found]


def _board(runs: Sequence[Run]) -> Board:
    first = runs[0]
    record = benchmarks.record(first.benchmark, f"results of {first.model}")
    rows = [Row("run", run.model, run.setting, run.metrics, run) for run in runs]
    theirs = list(_published(record, runs))
    columns = [_column(name, record, [*rows, *theirs]) for name in record.columns]
    lower = any(c.lower for c in columns if c.headline)
    ordered = sorted(rows, key=lambda row: _rank(row.metrics.get(record.headline), lower))
    settings = {None, *(run.setting for run in runs)}
    near = [r for r in theirs if r.split == first.split and (settings == {None} or r.setting in settings)]
    far = sorted((r for r in theirs if r not in near), key=_first_seen([r.setting for r in theirs]))
    baselines = list(_baselines(runs))
    return Board(record, first.version, first.split, first.dataset, columns, ordered, baselines, near, far)


def _first_seen(settings: Sequence[str | None]) -> Callable[[Row], int]:
    return lambda row: settings.index(row.setting)


def _rank(metric: Metric | None, lower: bool) -> tuple[bool, float]:
    if metric is None or metric.value is None:
        return True, 0.0
    return False, metric.value if lower else -metric.value


def _column(name: str, record: Record, rows: Iterable[Row]) -> Column:
    found = next((row.metrics[name] for row in rows if name in row.metrics), None)
    unit, lower = (found.unit, found.direction == "lower") if found else (None, False)
    return Column(name, record.columns[name], unit, lower, name == record.headline)


def _baselines(runs: Sequence[Run]) -> Iterator[Row]:
    """Each trivial predictor once: it is scored from the truth, so runs agree. Where they do not, each is shown."""
    for name in sorted({name for run in runs for name in run.baselines}):
        distinct: list[tuple[Mapping[str, Metric], Run]] = []
        for run in runs:
            if name in run.baselines and all(run.baselines[name] != seen for seen, _ in distinct):
                distinct.append((run.baselines[name], run))
        for metrics, run in distinct:
            yield Row("baseline", name if len(distinct) == 1 else f"{name} (as of {run.label})", None, metrics)


def _published(record: Record, runs: Sequence[Run]) -> Iterator[Row]:
    """The rows of this split and of splits that the benchmark lacks; in one without settings, a setting is a note."""
    units = {name: metric.unit for run in runs for name, metric in run.metrics.items()}
    settled = "setting" in record.options or any(run.setting is not None for run in runs)
    for row in published.read(record.name):
        if row.split == runs[0].split or row.split not in record.splits:
            setting, notes = (row.setting, [row.note]) if settled else (None, [row.note, row.setting])
            note = "; ".join(filter(None, notes)) or None
            metrics = published.in_units(row.metrics, units)
            yield Row("published", row.method, setting, metrics, note=note, source=row.source, split=row.split)
