"""A part of a source: some files of a folder, or the first records of a JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from groundeval.errors import InputError
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

FILES = 40
RECORDS = 2000
JSON = (".json",)
LINES = (".jsonl",)


class Part(Source):
    """A source of which only some files are seen; the bytes of some are replaced."""

    def __init__(self, whole: Source, seen: Sequence[str], replaced: dict[str, bytes]) -> None:
        self.path, self.single = whole.path, whole.single
        self._whole, self._seen, self._replaced = whole, sorted(seen), replaced

    def names(self, *suffixes: str) -> list[str]:
        """The files that are seen."""
        return [n for n in self._seen if n.lower().endswith(suffixes)] if suffixes else list(self._seen)

    def where(self, name: str) -> str:
        """As the whole source says it."""
        return self._whole.where(name)

    def read(self, name: str) -> bytes:
        """The replaced bytes, or the file's."""
        return self._replaced[name] if name in self._replaced else self._whole.read(name)


def of(source: Source) -> tuple[Part, dict[str, Any], dict[str, str]]:
    """Up to FILES files of JSON and FILES others, evenly over the names; the JSON's values, and what is wrong with them.

    JSON is cut to RECORDS records. What cannot be read is left as it is, for the formats to complain of.
    """
    names = source.names()
    texts = [n for n in names if n.lower().endswith((*JSON, *LINES))]
    rest = [n for n in names if n not in set(texts)]
    seen = [*_spread(texts), *_spread(rest)]
    replaced: dict[str, bytes] = {}
    values: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name in _spread(texts):
        try:
            values[name] = _cut(_load(source, name))
        except InputError as error:
            faults[name] = error.what
            continue
        rows = values[name]
        lines = name.lower().endswith(LINES)
        replaced[name] = b"\n".join(map(orjson.dumps, rows)) if lines else orjson.dumps(rows)
    return Part(source, seen, replaced), values, faults


def _spread(names: Sequence[str]) -> list[str]:
    step = -(-len(names) // FILES)
    return list(names[::step]) if names else []


def _load(source: Source, name: str) -> Any:
    data, where = source.read(name), source.where(name)
    if name.lower().endswith(LINES):
        return [value for _, value in jsonfile.load_lines(data, where)]
    return jsonfile.load(data, where)


def _cut(value: Any) -> Any:
    """Whole records alone: the rows of one sample stay together only by chance."""
    if isinstance(value, dict) and len(value) > RECORDS:
        return dict(list(value.items())[:RECORDS])
    return value[:RECORDS] if isinstance(value, list) else value
