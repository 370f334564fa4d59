"""The in-toto Statement of a run: subjects are its output files, the predicate is all that went into them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundeval.digests import file_sha256
from groundeval.errors import InputError

FILE = "provenance.json"
TYPE = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:groundeval:provenance:v1"
PARTS = ("run", "parameters", "dataset", "inputs", "scorer", "software", "tree")
AGAIN = "Make it again with `groundeval provenance` or `groundeval evaluate`."


def make(folder: Path, subjects: Sequence[str], predicate: Mapping[str, Any], kind: str = PREDICATE) -> dict[str, Any]:
    """The Statement about files of `folder`, named relative to it."""
    named = [{"name": name, "digest": {"sha256": file_sha256(folder / name)}} for name in sorted(subjects)]
    return {"_type": TYPE, "subject": named, "predicateType": kind, "predicate": dict(predicate)}


def read(path: Path) -> dict[str, Any]:
    """A run's Statement. InputError: it is absent, or is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        check(found)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", AGAIN) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"not a run's provenance ({error})", AGAIN) from None
    return found


def check(found: Mapping[str, Any], kind: str = PREDICATE, parts: Sequence[str] = PARTS) -> None:
    """ValueError, KeyError or TypeError unless it is a Statement of that kind with these parts."""
    for key, expected in (("_type", TYPE), ("predicateType", kind)):
        if found[key] != expected:
            raise ValueError(f"{key} is {found[key]!r}, expected {expected!r}")
    digests(found)
    if absent := [part for part in parts if part not in found["predicate"]]:
        raise ValueError(f"the predicate lacks {', '.join(absent)}")
    if strange := [part for part in PARTS if not isinstance(found["predicate"].get(part, {}), dict)]:
        raise ValueError(f"the predicate's {', '.join(strange)} is no mapping")


def digests(found: Mapping[str, Any]) -> dict[str, str]:
    """Subject name -> sha256."""
    return {str(subject["name"]): str(subject["digest"]["sha256"]) for subject in found["subject"]}


def predicate(path: Path) -> dict[str, Any]:
    """The predicate of a run's Statement."""
    found: dict[str, Any] = read(path)["predicate"]
    return found
