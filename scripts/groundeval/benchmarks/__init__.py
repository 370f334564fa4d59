"""The benchmarks: one folder each, found by its name.

A folder has
    __init__.py   RECORD: what the benchmark is, as constants
    truth.py      manifest(raw, split, options) and truth(raw, manifest, options): official files -> tables
    protocol.py   counts(...), metrics(...), baselines(...): integers of each sample, then ratios
    demo.py       write(folder, seed): a small dataset in the official layout; predict(...): three demo models
    published.yaml   rows that were published elsewhere
    README.md     the card: formula, units, traps, what is missing
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
class Record:
    """What a benchmark is. Everything here is read without importing its code."""

    name: str
    title: str
    version: str  # changes whenever a number can change
    shape: Shape
    splits: tuple[str, ...]
    headline: str  # a metric's name
    columns: Mapping[str, str]  # metric -> what to know of it in one line; the leaderboard's columns, in order
    kinds: tuple[str, ...] = ()  # of the manifest's `kind`
    options: Mapping[str, Option] = field(default_factory=dict)
    layout: str = ""  # what a folder in the official layout holds, for help and error messages


def names() -> list[str]:
    """Every benchmark's name, sorted."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)


def record(name: str, where: str = "benchmark") -> Record:
    """The record of one benchmark; an unknown name is an InputError with the nearest ones."""
    if name not in names():
        raise InputError(where, f"unknown benchmark {quoted(name)}{did_you_mean(name, names())}", "Correct the name.")
    found: Record = importlib.import_module(f"{__name__}.{name}").RECORD
    return found


def part(name: str, module: str) -> ModuleType:
    """One of a benchmark's modules (truth, protocol, demo), imported only when a stage needs it."""
    return importlib.import_module(f"{__name__}.{record(name).name}.{module}")
