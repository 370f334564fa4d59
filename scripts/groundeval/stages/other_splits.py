"""Ids that are not samples of this split: are they another's?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, tables
from groundeval.errors import InputError, quoted
from groundeval.sources.ids import UnknownIdsError
from groundeval.stages import split

Manifests = Iterable[tuple[str, pa.Table]]


@contextmanager
def told(others: Callable[[], Manifests]) -> Iterator[None]:
    """Let an UnknownIdsError raised inside say of which of the other splits the ids are. They are read only then."""
    try:
        yield
    except UnknownIdsError as error:
        distinct = set(error.unknown)
        for name, manifest in others():
            theirs = distinct.intersection(manifest["sample_id"].to_pylist())
            if theirs:
                raise _of(error, name, [i for i in error.unknown if i in theirs]) from None
        raise


def _of(error: UnknownIdsError, name: str, theirs: list[str]) -> InputError:
    what = f"{len(theirs)} of the {len(error.unknown)} ids that are no samples of this split are {name} ids"
    return InputError(error.file, f"{what}, first {quoted(theirs[0])}", "Take them out, or name that split.")


def official(benchmark: str, raw: Path, this: str, options: Mapping[str, Any]) -> Manifests:
    """The manifests of a benchmark's other splits that a folder in the official layout has."""
    for name in benchmarks.record(benchmark).splits:
        if name != this:
            try:
                yield name, split.manifest(benchmark, raw, name, options, Counter())[0]
            except InputError:
                continue


def beside(manifest: Path) -> Manifests:
    """The manifests that the split stage wrote beside this one."""
    for path in sorted(manifest.parent.glob("*.parquet")):
        if path != manifest:
            yield path.stem, tables.read(path)
