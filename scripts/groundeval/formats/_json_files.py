"""What the formats with one JSON file a sample share: finding the files, whose answers they are, and joining their masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError
from groundeval.formats import _files, _masks, _names
from groundeval.metrics import masks
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

# content of a file (an object), height, width, how messages name it -> counts of each of its masks
Masks = Callable[[dict[str, Any], int, int, str], list[bytes]]
Matcher = Callable[[Mapping[str, str]], _names.Matched]  # name -> file


def batches(
    source: Source,
    layout: _files.Layout,
    manifest: pa.Table,
    options: Mapping[str, Any],
    notes: Counter[str],
    read: Masks,
    matcher: Matcher | None = None,
) -> Iterator[pa.RecordBatch]:
    """One row a sample, with the union of its file's masks; without any it says that nothing is there."""
    files = {n: p[0] for n, p in _files.find(source, layout, notes, [options.get("map")]).items()}
    matched = matcher(files) if matcher else _names.match(files, manifest, options, source)

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        name = matched.answer(sample_id, source)
        if name is None:
            return None
        file = files[name]
        found = read(load(source, file), height, width, source.where(file))
        if len(found) > 1:
            notes["masks joined from several instances"] += 1
        return masks.union(found, height, width)

    yield from _masks.batches(manifest, counts, notes)


def load(source: Source, file: str) -> dict[str, Any]:
    """The object in a file; InputError for anything else."""
    content = jsonfile.load(source.read(file), source.where(file))
    if not isinstance(content, dict):
        raise InputError(source.where(file), "holds no JSON object", "Write one object a file.")
    return content


def listed(content: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """A list that a file must have."""
    found = content.get(key)
    if not isinstance(found, list):
        raise InputError(where, f"has no list {key}", "Check which program wrote it.")
    return found


def check_size(content: Mapping[str, Any], height: str, width: str, size: tuple[int, int], where: str) -> None:
    """InputError unless a file says, under the two keys, that it is of its image's size."""
    found = content.get(height), content.get(width)
    if type(found[0]) is not int or type(found[1]) is not int:
        raise InputError(where, f"has no {height} and {width}", "Check which program wrote it.")
    _masks.check_size((found[0], found[1]), size, where)
