"""Matching the ids of a prediction source with the manifest's. Nothing is dropped, nothing is guessed."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence

from groundeval.errors import InputError, first_of, quoted


def check(found: Sequence[str], expected: Sequence[str], where: str) -> None:
    """Raise InputError where an id is unknown or stands twice. Ids that are merely absent are the caller's to mark."""
    distinct = set(found)
    unknown = distinct.difference(expected)
    if unknown:
        _refuse_unknown([i for i in found if i in unknown], expected, where)
    if len(distinct) != len(found):
        doubled = [i for i, n in Counter(found).items() if n > 1]
        what = f"{len(doubled)} of {len(distinct)} ids stand more than once, {first_of(doubled)}"
        raise InputError(where, what, "Keep one answer a sample.")


def _refuse_unknown(unknown: Sequence[str], expected: Sequence[str], where: str) -> None:
    first = unknown[0]
    what = f"{len(set(unknown))} ids are not samples of this split, first {quoted(first)}"
    near = difflib.get_close_matches(first[:200], expected, n=3, cutoff=0.6) if len(expected) <= 20000 else []
    hint = "the nearest are " + ", ".join(map(quoted, near)) if near else f"a sample here is {quoted(expected[0])}"
    raise InputError(where, f"{what}; {hint}", "Check the ids and the split.")
