"""The first difference between what stands in a file and what it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from groundeval import tables
from groundeval.errors import quoted

ABSENT = object()


def json_files(path: Path, right: Path) -> str | None:
    """`metrics/gIoU/value is 62.3, should be 61.9`, or None."""
    found, wanted = (json.loads(p.read_bytes()) for p in (path, right))
    if difference := next(_json(found, wanted, ""), None):
        return f"{path.name}: {difference}"
    if path.read_bytes() != right.read_bytes():
        return f"{path.name}: the same content in other bytes, which no stage writes"
    return None


def _json(found: Any, wanted: Any, where: str) -> Iterator[str]:
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in dict.fromkeys([*wanted, *found]):
            yield from _json(found.get(key, ABSENT), wanted.get(key, ABSENT), f"{where}/{key}" if where else str(key))
    elif found != wanted or type(found) is not type(wanted):
        yield f"{where or 'all of it'} is {_shown(found)}, should be {_shown(wanted)}"


def _shown(value: Any) -> str:
    return "absent" if value is ABSENT else quoted(value) if isinstance(value, str) else repr(value)


def table_files(path: Path, right: Path) -> str | None:
    """`samples.parquet: intersection of "a-cup-handle" is 12, should be 13`, or None. What tables say of themselves counts."""
    about = next(_json(tables.meta(path), tables.meta(right), "its own description: "), None)
    return f"{path.name}: {about.replace(': /', ': ')}" if about else _rows(path, right)


def _rows(path: Path, right: Path) -> str | None:
    found, wanted = tables.stream(path), tables.stream(right)
    for a, b in zip_longest(found, wanted):
        if a is None or b is None or a.num_rows != b.num_rows:
            return f"{path.name}: {_count(path)} rows, should be {_count(right)}"
        if not a.schema.equals(b.schema):
            return f"{path.name}: its columns are {a.schema.names}, should be {b.schema.names}"
        if not a.equals(b):
            return f"{path.name}: {_cell(a, b)}"
    return None


def _count(path: Path) -> int:
    return sum(batch.num_rows for batch in tables.stream(path))


def _cell(a: Any, b: Any) -> str:
    names = a.schema.names
    for row in range(a.num_rows):
        for name in names:
            left, right = a.column(name)[row].as_py(), b.column(name)[row].as_py()
            if left != right:
                sample = quoted(b.column(names[0])[row].as_py())
                return f"{name} of {sample} is {_short(left)}, should be {_short(right)}"
    return "a value that is no number differs"


def _short(value: Any, longest: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text)} characters)"


def text_files(path: Path, right: Path) -> str | None:
    """`leaderboard.csv, line 7, is "...", should be "..."`, or None."""
    if path.read_bytes() == right.read_bytes():
        return None
    lines = [p.read_text(encoding="utf-8", errors="replace").splitlines() for p in (path, right)]
    for number, (a, b) in enumerate(zip_longest(*lines), 1):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a or "", b or "", strict=False)) if x != y), 0)
            start = max(0, at - 20)
            return f"{path.name}, line {number}, is {_part(a, start)}, should be {_part(b, start)}"
    return f"{path.name}: its line ends differ"


def _part(line: str | None, start: int) -> str:
    return "absent" if line is None else quoted(line[start:], 70)
