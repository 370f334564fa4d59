"""The prediction formats: one module each, found by its name.

A module has
    FORMAT                               what it reads, makes and must be told
    read(source, manifest, options, notes)   batches of `tables.predictions_schema(FORMAT.shape)`, one row for each row
        of the manifest, in its order. A sample that the source says nothing of is "missing"; one that cannot be used is
        "invalid", with the reason; what concerns the whole source (an unknown id, a doubled one, broken JSON) raises
        InputError. `notes` is a Counter of things worth reporting that are no fault ("polygons of zero area dropped").
A user's own format is no module here but `module.py:function`; see `_adapter`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.options import Option

if TYPE_CHECKING:
    from groundeval.tables import Shape


ADAPTER = re.compile(r"(?P<file>.+\.py):(?P<function>[A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Format:
    """What a prediction format is."""

    name: str
    shape: Shape
    reads: str  # one line: which files
    options: Mapping[str, Option] = field(default_factory=dict)
    example: str = ""  # a few lines of such a file or folder
    traps: str = ""  # what goes wrong with it in practice
    maps: Literal["classes", "confidences"] | None = None  # what the values of shape "map" are; an adapter's are either

    def fits(self, shape: str, maps: str | None) -> bool:
        """Whether a benchmark that scores such answers can take what this format makes."""
        return self.shape == shape and (None in (self.maps, maps) or self.maps == maps)


def names() -> list[str]:
    """Every format's name, sorted; modules that start with an underscore are shared parts."""
    return list(_found())


@cache
def _found() -> tuple[str, ...]:
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")))


def module(name: str, where: str = "format") -> ModuleType | Any:
    """The module of one format, or a user's adapter; an unknown name is an InputError with the nearest ones."""
    if ADAPTER.fullmatch(name):
        return importlib.import_module(f"{__name__}._adapter").Adapter(name)
    if name not in names():
        raise InputError(where, f"unknown format {quoted(name)}{did_you_mean(name, names())}", "Correct the name.")
    return importlib.import_module(f"{__name__}.{name}")


def record(name: str, where: str = "format", shape: Shape | None = None) -> Format:
    """What one format is. `shape` is what a user's adapter is wanted for; no other format depends on it."""
    found = module(name, where)
    said: Format = found.record(shape) if ADAPTER.fullmatch(name) else found.FORMAT
    return said


def adapter_file(name: str) -> str | None:
    """The user's file of `module.py:function`, None for any other format."""
    match = ADAPTER.fullmatch(name)
    return match["file"] if match else None


def module_name(name: str) -> str:
    """Which module below groundeval reads a format."""
    return "formats._adapter" if ADAPTER.fullmatch(name) else f"formats.{name}"


def shown(name: str) -> str:
    """A format's name for a record that must be the same on every machine: an adapter without its folder."""
    match = ADAPTER.fullmatch(name)
    return f"{PurePosixPath(match['file']).name}:{match['function']}" if match else name
