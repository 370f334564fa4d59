"""Strict JSON from a user's file: UTF-8, one value, no NaN, no key twice. Anything else is an InputError.

orjson parses. It keeps the last of doubled keys, so a count proves that there are none: every key in the text ends in
`":`, which inside a string is always `\\":`; where the text has no more such ends than the parsed tree has keys, every
key is there once. Text that upsets the count (a string that starts with a colon) is parsed again by the standard
library, whose object hook gives the definite answer.

Limits: a text whose values would take more than MOST_MEMORY, nesting deeper than about a thousand levels and lone
surrogates are refused. An integer outside 64 bits is read as the nearest float64, which no reader of ids accepts.
"""

from __future__ import annotations

import gc
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import orjson

from groundeval.errors import InputError, quoted

_FIX = "Write it as one JSON value in UTF-8."
TOO_DEEP = "nested too deeply, more than about a thousand levels"
MOST_MEMORY = 4 << 30  # bytes that the values may take
# Of memory for each: an empty list or object in its place, a number, a line's bookkeeping.
_MEMORY = {"[": 72, "{": 72, ",": 32, "\n": 256}
_BLOCK = 1 << 18  # bytes looked at in one go: they stay in the cache
_SPACED_END = re.compile(rb'"[ \t\r\n]+:')
_ESCAPED_SPACED_END = re.compile(rb'\\"[ \t\r\n]+:')
_KEY_ENDS_IN_BACKSLASH = re.compile(rb'\\\\"[ \t\r\n]*:')
_NOT_FINITE = re.compile(r"NaN|Infinity")
# A byte-order mark, or the zero bytes that plain ASCII has in UTF-16. UTF-32 goes first: its mark begins like UTF-16's.
_ENCODINGS = (
    ("UTF-8 with a byte-order mark", re.compile(rb"\xef\xbb\xbf")),
    ("UTF-32", re.compile(rb"\xff\xfe\0\0|\0\0\xfe\xff|\0\0\0[^\0]|[^\0]\0\0\0")),
    ("UTF-16", re.compile(rb"\xff\xfe|\xfe\xff|\0[^\0]|[^\0]\0")),
)


class _DoubledKeyError(ValueError):
    """Raised out of the standard library's parser; holds the keys that stand more than once in one object."""

    def __init__(self, keys: list[str]) -> None:
        super().__init__()
        self.keys = keys


@contextmanager
def collector_paused() -> Iterator[None]:
    """Without the cyclic collector, which walks a large tree over and over while something grows: most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@collector_paused()
def load(data: bytes, where: str) -> Any:
    """The value of a whole file. `where` is how messages name the file."""
    _check_text(data, where)
    tree = _parse(data, where)
    if not _surely_no_key_twice(data, [tree]):
        _refuse_doubled_keys(data, where)
    return tree


@collector_paused()
def load_lines(data: bytes, where: str) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers, from 1. Blank lines are passed over."""
    _check_text(data, where)
    values = [(number, _object(line, f"{where}, line {number}")) for number, line in _lines(data)]
    if not _surely_no_key_twice(data, [value for _, value in values]):
        for number, line in _lines(data):
            _refuse_doubled_keys(line, f"{where}, line {number}")
    return values


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(io.BytesIO(data), 1) if line.strip())


def _object(line: bytes, where: str) -> dict[str, Any]:
    found = _parse(line, where)
    if type(found) is not dict:
        raise InputError(where, "is no JSON object", "Write one object a line.")
    return found


def _check_text(data: bytes, where: str) -> None:
    for name, mark in _ENCODINGS:
        if mark.match(data):
            raise InputError(where, f"is {name}, not plain UTF-8", "Save it as UTF-8 without a byte-order mark.")
    if not data[:4096].strip() and not data.strip():
        raise InputError(where, "is empty", "Check the program that wrote it; an empty answer is [] or {}.")
    needed = sum(memory * _count(data, mark) for mark, memory in _MEMORY.items())
    if needed > MOST_MEMORY:
        what = f"has {len(data)} bytes of JSON whose values would take about {needed >> 20} MiB of memory"
        raise InputError(where, what, "Split the predictions into several files, or write them without empty values.")


def _parse(data: bytes, where: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "memory" in error.msg:
            raise MemoryError from None
        raise InputError(where, _complaint(error), _FIX) from None


def _complaint(error: orjson.JSONDecodeError) -> str:
    """What the parser found, with the cause named where the cause is a usual one."""
    if "UTF-8" in error.msg:
        return "is not UTF-8 text: another encoding, or no text at all (compressed?)"
    place = f"at line {error.lineno} column {error.colno}"
    if "depth limit" in error.msg:
        return TOO_DEEP
    literal = _NOT_FINITE.match(error.doc, error.pos)
    if literal:
        return f"not JSON: {literal.group()} {place}, which is no number in JSON"
    return f"not JSON: {error.msg} {place}"


def _surely_no_key_twice(data: bytes, trees: list[Any]) -> bool:
    """True proves that no object has a key twice; False proves nothing."""
    ends, spaced_colons = _count_ends(data)
    if spaced_colons:
        ends += len(_SPACED_END.findall(data))
    if b"\\" in data:
        if _KEY_ENDS_IN_BACKSLASH.search(data):  # it looks like a quote inside a string
            return False
        ends -= data.count(b'\\":') + len(_ESCAPED_SPACED_END.findall(data))
    return ends == _key_count(trees, data.count(b"{"))


def _count(data: bytes, mark: str) -> int:
    """How often a character stands in the text. NumPy counts commas eight times faster than bytes.count."""
    text = np.frombuffer(data, np.uint8)
    blocks = (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))
    return sum(int(np.count_nonzero(block == ord(mark))) for block in blocks)


def _count_ends(data: bytes) -> tuple[int, int]:
    """How many colons follow a quote at once, and how many a space, tab or line end (or a control character)."""
    text = np.frombuffer(data, np.uint8)
    ends = spaced = 0
    for start in range(0, len(text), _BLOCK):
        block = text[start : start + _BLOCK + 1]
        before = block[:-1][block[1:] == ord(":")]
        ends += int(np.count_nonzero(before == ord('"')))
        spaced += int(np.count_nonzero(before <= ord(" ")))
    return ends, spaced


def _key_count(values: Iterable[Any], objects: int) -> int:
    """The keys of all dictionaries below; `objects` is no less than their number, so the search may end at it.

    One pass a level and no list of all values: what costs here is fetching each of them from memory.
    """
    keys = 0
    while objects and (inner := [value for value in values if type(value) in (dict, list)]):
        dicts = [value for value in inner if type(value) is dict]
        lists = [value for value in inner if type(value) is list] if len(dicts) < len(inner) else []
        keys += sum(map(len, dicts))
        objects -= len(dicts)
        values = chain(chain.from_iterable(map(dict.values, dicts)), chain.from_iterable(lists))
    return keys


def _refuse_doubled_keys(data: bytes, where: str) -> None:
    try:
        json.loads(data, object_pairs_hook=_checked_pairs)
    except _DoubledKeyError as error:
        what = f"{len(error.keys)} keys stand more than once in one object, first {quoted(error.keys[0])}"
        raise InputError(where, what, "Keep one value a key; a JSON reader would silently keep the last.") from None
    except RecursionError:
        raise InputError(where, TOO_DEEP, _FIX) from None


def _checked_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DoubledKeyError([key for key, n in Counter(key for key, _ in pairs).items() if n > 1])
    return found
