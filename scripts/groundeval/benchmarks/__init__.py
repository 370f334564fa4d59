"""The benchmarks: one folder each, found by its name.

A folder has
    __init__.py   RECORD: what the benchmark is, as constants
    truth.py      manifest(raw, split, options) and truth(raw, manifest, options): official files -> tables
    protocol.py   counts(...), metrics(...), baselines(...): integers of each sample, then ratios; terms(...): the same
                  as functions of sums over samples, for intervals and comparisons; by_sample(samples, options): figures
                  of each sample from 0 to 1, the first of which ranks them; confusion(...) and band(...), of class
                  maps and of curves, for plots; CONSTANTS: what the protocol fixes, and
                  which of it is a choice or an inference; every result records them
    demo.py       write(folder, seed): a small dataset in the official layout; predict(...): three demo models
    picture.py    of maps only: layers(...): a sample's truth and answer as classes to be drawn
    published.yaml   rows that were published elsewhere
    README.md     the card: formula, units, traps, what is missing
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.options import Option

if TYPE_CHECKING:
    from groundeval.tables import Shape

SPLIT = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


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
    without_truth: tuple[str, ...] = ()  # splits of which only an official server can say a number
    own_splits: bool = False  # whether a split may be a user's own list, splits/NAME.txt of the data
    maps: Literal["classes", "confidences"] | None = None  # what the values of shape "map" are
    layout: str = ""  # what a folder in the official layout holds, for help and error messages
    images: tuple[str, ...] = ()  # where in that folder a sample's image may be, such as rgb/{image_id}.png

    def has_split(self, name: str) -> bool:
        """Whether a split of that name can be asked for; one of a user's own is looked for in the data."""
        return name in self.splits or (self.own_splits and SPLIT.fullmatch(name) is not None)


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
