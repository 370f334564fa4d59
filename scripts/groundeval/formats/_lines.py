"""What the formats of one JSON object a line share: the records, each with its line and its sample's id."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from groundeval.errors import InputError
from groundeval.sources import ids, jsonfile
from groundeval.sources.folder import Source

DROPPED = "records dropped as sampler padding"


class Line(NamedTuple):
    """One record. number: its line, from 1."""

    number: int
    sample_id: str
    record: dict[str, Any]


def read(source: Source, fix: str, drop: bool, notes: Counter[str]) -> list[Line]:
    """All records of the one .jsonl file. InputError where one has no sample_id, or repeats another (see ids)."""
    name = source.only(".jsonl")
    where = source.where(name)
    found = jsonfile.load_lines(source.read(name), where)
    for number, record in found:
        if type(record.get("sample_id")) not in (str, int):
            raise InputError(f"{where}, line {number}", "is no object with a sample_id", fix)
    lines = [Line(number, str(record["sample_id"]), record) for number, record in found]
    kept = ids.without_repeats([line.sample_id for line in lines], [line.record for line in lines], where, drop)
    notes.update({DROPPED: len(lines) - len(kept)} if len(kept) < len(lines) else {})
    return [lines[at] for at in kept]
