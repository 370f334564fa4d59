"""A part of a source: all files of some samples, or the first records of a JSON file. What it holds is in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from groundeval.errors import InputError
from groundeval.inspection import groups, records
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

SAMPLES, FEWEST = 40, 3
BYTES = 1 << 24  # of the files of samples
RECORDS = 2000
JSON, LINES = (".json",), (".jsonl",)
_ALONE = 3  # so many JSON files are of all samples, more are one a sample
_GOLDEN_RATIO = 0.6180339887498949


class Part(Source):
    """A source of which only some files are seen; the bytes of some are cut."""

    def __init__(self, whole: Source, data: Mapping[str, bytes]) -> None:
        self.path, self.single, self.packed = whole.path, whole.single, False
        self._whole, self._data = whole, data

    def names(self, *suffixes: str) -> list[str]:
        """The files that are seen."""
        return [n for n in sorted(self._data) if not suffixes or n.lower().endswith(suffixes)]

    def where(self, name: str) -> str:
        """As the whole source says it."""
        return self._whole.where(name)

    def read(self, name: str) -> bytes:
        """The bytes that are in memory."""
        return self._data[name]


@dataclass(frozen=True)
class Seen:
    """values, faults: of the JSON files, cut, and what is wrong with others. keys: of samples -> files, of all files that
    are of one sample; ids: what all of the source could name samples by; whole: nothing was left out.
    """

    part: Part
    values: Mapping[str, Any]
    faults: Mapping[str, str]
    keys: Mapping[str, Sequence[str]]
    ids: Sequence[str]
    whole: bool

    @property
    def records(self) -> Sequence[Any]:
        """The values of files that hold records of several samples."""
        return [v for n, v in self.values.items() if n not in {f for files in self.keys.values() for f in files}]


def of(source: Source, beginnings: Collection[str]) -> Seen:
    """All JSON files, where they are few, cut to RECORDS records, and the files of up to SAMPLES samples, evenly over them.

    What cannot be read is left as it is, for the formats to complain of. beginnings: see `groups`.
    """
    texts = source.names(*JSON, *LINES)
    alone = texts if len(texts) <= _ALONE else []
    data = {name: source.read(name) for name in alone}
    values, faults = _loaded(source, data)
    ids = [i for value in values.values() for i in records.ids(value)]
    own = [n for n, v in values.items() if records.kind(v) == "record"]
    keys = groups.of([n for n in source.names() if n not in set(alone) - set(own)], beginnings)
    cut = {name: value for name in values if (value := _cut(values[name])) is not values[name]}
    data |= {name: _dumped(name, value) for name, value in cut.items()}
    data |= dict(_files(source, keys, data))
    more, wrong = _loaded(source, {n: d for n, d in data.items() if n not in alone and n.lower().endswith(JSON)})
    whole = not cut and len(data) == len(source.names())
    return Seen(Part(source, data), {**values, **cut, **more}, {**faults, **wrong}, keys, [*ids, *keys], whole)


def _files(source: Source, keys: Mapping[str, Sequence[str]], known: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The files of some samples, in an order that is even over them wherever it ends."""
    step, left = -(-len(keys) // SAMPLES), BYTES
    chosen = list(keys.values())[::step] if keys else []
    for number, place in enumerate(sorted(range(len(chosen)), key=lambda i: i * _GOLDEN_RATIO % 1)):
        if left < 0 and number >= FEWEST:
            return
        for name in chosen[place]:
            if name not in known:
                data = source.read(name)
                left -= len(data)
                yield name, data


def _loaded(source: Source, data: Mapping[str, bytes]) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, content in data.items():
        try:
            values[name] = _load(name, content, source.where(name))
        except InputError as error:
            faults[name] = error.what
    return values, faults


def _load(name: str, data: bytes, where: str) -> Any:
    if name.lower().endswith(LINES):
        return [value for _, value in jsonfile.load_lines(data, where)]
    return jsonfile.load(data, where)


def _dumped(name: str, value: Any) -> bytes:
    return b"\n".join(map(orjson.dumps, value)) if name.lower().endswith(LINES) else orjson.dumps(value)


def _cut(value: Any) -> Any:
    """The first records; of a sample that also has later ones, none."""
    if isinstance(value, dict) and len(value) > RECORDS:
        return dict(list(value.items())[:RECORDS])
    if not isinstance(value, list) or len(value) <= RECORDS:
        return value
    names = records.ids(value)
    later = set(names[RECORDS:])
    kept = [row for row, name in zip(value[:RECORDS], names, strict=False) if name not in later]
    return kept or value[:RECORDS]
