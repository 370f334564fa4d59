"""Matching the ids of a prediction source with the manifest's. Nothing is dropped, nothing is guessed."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from groundeval.errors import InputError, first_of, quoted


class UnknownIdsError(InputError):
    """Ids that are not samples of the split; `unknown` has each once."""

    def __init__(self, file: str, what: str, fix: str, unknown: Sequence[str]) -> None:
        super().__init__(file, what, fix)
        self.unknown = unknown

    def __reduce__(self) -> tuple[type[UnknownIdsError], tuple[Any, ...]]:
        return type(self), (self.file, self.what, self.fix, self.unknown)


def check(found: Sequence[str], expected: Sequence[str], where: str) -> None:
    """Raise UnknownIdsError, or InputError where an id stands twice. Absent ids are the caller's to mark."""
    distinct = set(found)
    unknown = distinct.difference(expected)
    if unknown:
        _refuse_unknown([i for i in found if i in unknown], len(distinct - unknown), expected, where)
    if len(distinct) != len(found):
        doubled = [i for i, n in Counter(found).items() if n > 1]
        what = f"{len(doubled)} of {len(distinct)} ids stand more than once, {first_of(doubled)}"
        raise InputError(where, what, "Keep one answer a sample.")


def without_repeats(found: Sequence[str], records: Sequence[Any], where: str, drop: bool) -> list[int]:
    """Positions of the records to read: the first of each id. `records` are the answers, without their place.

    Records that repeat an earlier one exactly look like the padding of a distributed sampler, which fills up the last
    batch with samples that it had: an InputError, unless `drop` says to leave the copies out. The same id with another
    answer is an InputError always.
    """
    first: dict[str, int] = {}
    for at, name in enumerate(found):
        first.setdefault(name, at)
    copies = [at for at, name in enumerate(found) if first[name] != at]
    differing = [found[at] for at in copies if records[at] != records[first[found[at]]]]
    if differing:
        what = f"{len(set(differing))} ids stand more than once, with different answers, {first_of(differing)}"
        raise InputError(where, what, "Keep one answer a sample.")
    if copies and not drop:
        what = f"{len(copies)} records repeat an earlier one exactly, {first_of(found[at] for at in copies)}"
        fix = "Write each sample once, or --set drop_padding=true, which the result records."
        raise InputError(where, f"{what}: this looks like sampler padding", fix)
    return list(first.values())


def _refuse_unknown(unknown: Sequence[str], known: int, expected: Sequence[str], where: str) -> None:
    first, distinct = unknown[0], list(dict.fromkeys(unknown))
    what = f"{len(distinct)} ids are not samples of this split, first {quoted(first)}"
    near = difflib.get_close_matches(first[:200], expected, n=3, cutoff=0.6) if len(expected) <= 20000 else []
    hint = "the nearest are " + ", ".join(map(quoted, near)) if near else f"a sample here is {quoted(expected[0])}"
    split = "" if known else "; none of the ids is: are they another split's?"
    raise UnknownIdsError(where, f"{what}; {hint}{split}", "Check the ids and the split.", distinct)
