"""Which files belong to one sample, so that a part of a folder has all files of each sample that it has any of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from groundeval import formats

_LARGEST = 64  # files of one sample: more are samples that differ in a number only
_CUT = re.compile(r"[_/.\-]")


def of(names: Iterable[str], beginnings: Collection[str]) -> dict[str, list[str]]:
    """Key of a sample -> its files, in their order. beginnings: see `madeup.known`; without any, by what formats say."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_key(name, beginnings), []).append(name)
    return _split(found, beginnings)


def stem(name: str) -> str:
    """A file's path without its suffix."""
    return str(PurePosixPath(name).with_suffix(""))


def _key(name: str, beginnings: Collection[str]) -> str:
    """The longest beginning that is known, else the name by a format of several files a sample, else the stem."""
    whole = stem(name)
    cuts = [len(whole), *(match.start() for match in reversed(list(_CUT.finditer(whole))))] if beginnings else []
    found = next((whole[:cut] for cut in cuts if whole[:cut] in beginnings), None)
    return found or next((m["name"] for p in _several() if (m := p.fullmatch(name))), whole)


def _several() -> Sequence[re.Pattern[str]]:
    layouts = [getattr(formats.module(name), "LAYOUT", None) for name in formats.names()]
    return [re.compile(layout.answer) for layout in layouts if layout is not None and layout.several]


def _split(found: Mapping[str, list[str]], beginnings: Collection[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for key, names in found.items():
        if len(names) > _LARGEST and key not in beginnings:
            out |= {stem(name): [name] for name in names}
        else:
            out[key] = names
    return out
