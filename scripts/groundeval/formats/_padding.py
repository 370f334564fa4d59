"""Repeated answers of distributed inference: its sampler fills up the last batch with samples that it had before."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from numpy.typing import NDArray

from groundeval.formats._coordinates import Floats, Rows
from groundeval.options import Option

OPTION = Option(
    "flag",
    "leave out what repeats an earlier answer of the same sample exactly (padding by a distributed sampler)",
    False,
)
KEPT = "boxes that repeat all boxes of their sample: looks like sampler padding; kept, drop_padding=true drops them"
DROPPED = "boxes dropped as sampler padding"
_ODD = np.uint64(0x9E3779B97F4A7C15)


def left(
    row: Rows, boxes: Floats, scores: Floats | None, sizes: Floats | None, drop: bool, notes: Counter[str]
) -> tuple[Rows, Floats, Floats | None, Floats | None]:
    """The four columns, without the repeats where `drop` says so; a note of them either way."""
    again = repeats(row, boxes, scores)
    if again is None:
        return row, boxes, scores, sizes
    notes[DROPPED if drop else KEPT] += int(again.sum())
    keep = ~again if drop else np.ones(len(row), np.bool_)
    scores, sizes = (None if column is None else column[keep] for column in (scores, sizes))
    return row[keep], boxes[keep], scores, sizes


def repeats(row: Rows, boxes: Floats, scores: Floats | None) -> NDArray[np.bool_] | None:
    """Which boxes repeat an earlier one, of the samples in which every box stands equally often, at least twice; or None.

    row [n] is whose box it is. A sample with one repeated box among others is no padding: that is the model's answer.
    """
    columns = [
        row.astype(np.uint64),
        *boxes.T.copy().view(np.uint64),
        *([] if scores is None else [scores.view(np.uint64)]),
    ]
    codes = np.zeros(len(row), np.uint64)
    for column in columns:  # equal boxes have equal codes; the reverse is checked below
        codes = (codes ^ column) * _ODD
        codes ^= codes >> np.uint64(29)
    ordered = np.sort(codes)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return None
    again = np.isin(codes, twice)
    found = np.zeros(len(row), np.bool_)
    suspects = np.flatnonzero(np.isin(row, row[again])).tolist()
    members: dict[int, list[int]] = defaultdict(list)
    for at in suspects:
        members[int(row[at])].append(at)
    for places in members.values():
        found[_later(places, boxes, scores)] = True
    return found if found.any() else None


def _later(places: list[int], boxes: Floats, scores: Floats | None) -> list[int]:
    """The places of a sample's repeats, where all of its boxes stand equally often."""
    answers = [(*boxes[at].tolist(), None if scores is None else float(scores[at])) for at in places]
    times = set(Counter(answers).values())
    if len(times) != 1 or times == {1}:
        return []
    seen: set[tuple[float | None, ...]] = set()
    later = []
    for at, answer in zip(places, answers, strict=True):
        if answer in seen:
            later.append(at)
        seen.add(answer)
    return later
