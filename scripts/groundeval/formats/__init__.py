"""The prediction formats: one module each, found by its name.

A module has
    FORMAT                               what it reads, makes and must be told
    read(source, manifest, options, notes)   batches of `tables.predictions_schema(FORMAT.shape)`, one row for each row
        of the manifest, in its order. A sample that the source says nothing of is "missing"; one that cannot be used is
        "invalid", with the reason; what concerns the whole source (an unknown id, a doubled one, broken JSON) raises
        InputError. `notes` is a Counter of things worth reporting that are no fault ("polygons of zero area dropped").
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.options import Option

if TYPE_CHECKING:
    from groundeval.tables import Shape


@dataclass(frozen=True)
class Format:
    """What a prediction format is."""

    name: str
    shape: Shape
    reads: str  # one line: which files
    options: Mapping[str, Option] = field(default_factory=dict)
    example: str = ""  # a few lines of such a file or folder
    traps: str = ""  # what goes wrong with it in practice


def names() -> list[str]:
    """Every format's name, sorted; modules that start with an underscore are shared parts."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def module(name: str, where: str = "format") -> ModuleType:
    """The module of one format; an unknown name is an InputError with the nearest ones."""
    if name not in names():
        raise InputError(where, f"unknown format {quoted(name)}{did_you_mean(name, names())}", "Correct the name.")
    return importlib.import_module(f"{__name__}.{name}")


def record(name: str, where: str = "format") -> Format:
    """What one format is."""
    found: Format = module(name, where).FORMAT
    return found
