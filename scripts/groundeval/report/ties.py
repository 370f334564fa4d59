"""Ranks of a leaderboard that know of ties: paired bootstrap of the headline, corrected for all pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from groundeval import benchmarks
from groundeval.metrics import bootstrap, intervals, paired, terms
from groundeval.report.board import Board, Row
from groundeval.report.evidence import Evidence

BY_ORDER = "Ranks are the bare order of the values, ties unknown: {why}."
BY_PAIRS = (
    "Runs share a rank where their {headline} cannot be told apart: paired over the same samples, whole images drawn, "
    "p corrected (Holm) over {pairs}. A group reaches down to the last run that is not told from its best."
)
NO_COUNTS = "the counts of samples do not stand beside every run"
OTHER_SAMPLES = "the runs are not over the same samples"
NO_TERMS = "the headline is no function of sums over samples"

Known = Mapping[tuple[str, ...], Evidence]


def ranked(board: Board, known: Known) -> Board:
    """The board with a rank for each run that has a headline, and its groups of ties (see metrics.paired.groups)."""
    rows = [row for row in board.runs if _value(board, row) is not None]
    if not rows:
        return board
    found = [known[row.run.identity] for row in rows if row.run is not None and row.run.identity in known]
    groups, note = ([[0]], "") if len(rows) == 1 else _groups(board, rows, found)
    ranks = _ranks(groups)
    runs = [replace(row, rank=ranks[i] if i < len(rows) else "") for i, row in enumerate(board.runs)]
    ties = [[runs[i] for i in group] for group in groups if len(group) > 1]
    return replace(board, runs=runs, ties=ties, ties_note=note)


def _value(board: Board, row: Row) -> float | None:
    """The headline as a share."""
    metric = row.metrics.get(board.record.headline)
    return None if metric is None or metric.value is None else metric.value / intervals.scale(metric.unit)


def _groups(board: Board, rows: Sequence[Row], found: Sequence[Evidence]) -> tuple[list[list[int]], str]:
    alone, ids = [[i] for i in range(len(rows))], [one.arrays["sample_id"] for one in found]
    if len(found) < len(rows):
        return alone, BY_ORDER.format(why=NO_COUNTS)
    if any(not np.array_equal(ids[0], other) for other in ids[1:]):
        return alone, BY_ORDER.format(why=OTHER_SAMPLES)
    of = [_terms(board, one) for one in found]
    known = [one for one in of if one is not None]
    if len(known) < len(of):
        return alone, BY_ORDER.format(why=NO_TERMS)
    shares = [_value(board, row) or 0.0 for row in rows]
    clusters = bootstrap.labels(found[0].arrays["image_id"])
    pairs = paired.pairs(board.record.headline, known, clusters, shares)
    said = "one pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    groups = paired.groups(range(len(rows)), [pair for pair in pairs if pair.tie])
    return groups, BY_PAIRS.format(headline=board.record.headline, pairs=said)


def _terms(board: Board, one: Evidence) -> terms.Terms | None:
    protocol = benchmarks.part(board.record.name, "protocol")
    return terms.of(protocol.terms(one.arrays, one.histograms, one.run.options), board.record.headline)


def _ranks(groups: Sequence[Sequence[int]]) -> list[str]:
    """The rank of each run: its place, or the places of its group."""
    spans = ((group[0] + 1, group[-1] + 1, len(group)) for group in groups)
    return [f"{first}" if first == last else f"{first}-{last}" for first, last, count in spans for _ in range(count)]
