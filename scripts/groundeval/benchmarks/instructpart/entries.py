"""The annotation file: a list of {image_path, part_list: [{object, part, affordance, action, instruction[6]}]}."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from groundeval.errors import InputError, first_of, quoted
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

INSTRUCTIONS = 6
_FIX = "Use the official annotation file."


@dataclass(frozen=True)
class Entry:
    """One sample. Its id is the name of its mask: several entries share a photo, so the photo's name is no id."""

    sample_id: str
    image_id: str
    object: str
    part: str
    affordance: str
    instructions: tuple[str, ...]


def read(path: Path) -> list[Entry]:
    """All entries in the file's order. A malformed or doubled one is an InputError."""
    content = jsonfile.load(Source(path).read(path.name), str(path))
    if not isinstance(content, list):
        raise InputError(path, "is not a list of entries", _FIX)
    found = [_entry(item, f"{path}, entry {number}") for number, item in enumerate(content, 1)]
    doubled = [i for i, n in Counter(e.sample_id for e in found).items() if n > 1]
    if doubled:
        what = f"{len(doubled)} of {len(found) - len(doubled)} samples stand more than once, {first_of(doubled)}"
        raise InputError(path, what, _FIX)
    return found


def _entry(item: Any, where: str) -> Entry:
    if not isinstance(item, dict):
        raise InputError(where, "is not an object", _FIX)
    parts, stem = item.get("part_list"), PurePosixPath(_text(item, "image_path", where)).stem
    if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
        raise InputError(where, "its part_list does not hold exactly one part", _FIX)
    name, part, affordance = (_text(parts[0], key, where) for key in ("object", "part", "affordance"))
    sample_id = f"{stem}-{name}-{part}".replace(" ", "_")
    return Entry(sample_id, stem, name, part, affordance, _instructions(parts[0], where))


def _text(item: dict[str, Any], key: str, where: str) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise InputError(where, f"its {key} is {quoted(value)}, not a text", _FIX)
    return value


def _instructions(part: dict[str, Any], where: str) -> tuple[str, ...]:
    found = part.get("instruction")
    if not isinstance(found, list) or len(found) != INSTRUCTIONS or not all(isinstance(t, str) for t in found):
        raise InputError(where, f"its instruction is not a list of {INSTRUCTIONS} texts", _FIX)
    return tuple(found)
