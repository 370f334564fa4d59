"""Every format, with every choice of what must be declared, tried by really reading a part of the files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

import pyarrow as pa

from groundeval import formats, options, tables
from groundeval.errors import InputError
from groundeval.options import REQUIRED, Option
from groundeval.sources.folder import Source

MOST = 64  # choices of one format
_SCORES, _LEVELS = ("0", "0.5"), ("0", "0.5", "127")  # to try where a number must be declared


@dataclass
class Trial:
    """One format with one choice of options. `why`: what stops it; `table`: what was read."""

    format: str
    said: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    table: pa.Table | None = None
    notes: Counter[str] = field(default_factory=Counter)
    agreement: float | None = None  # with the truth, in the benchmark's headline

    @property
    def statuses(self) -> Counter[str]:
        """Status -> number of samples."""
        return Counter(self.table["status"].to_pylist() if self.table else [])

    @property
    def fits(self) -> bool:
        """Something was read, and nothing of it was invalid."""
        return not self.why and self.statuses["answered"] + self.statuses["none"] > 0 and not self.statuses["invalid"]

    def reason(self) -> str:
        """Why it does not fit."""
        if self.why or self.table is None:
            return self.why
        if not self.statuses["invalid"]:
            return "no sample has an answer"
        reasons = [r for r in self.table["reason"].to_pylist() if r]
        return f"{self.statuses['invalid']} answers cannot be used, the first: {reasons[0] if reasons else ''}"


def run(
    name: str, source: Source, manifest: pa.Table, own: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Iterator[Trial]:
    """All trials of one format. own: the benchmark's options; fixed: what the user declared."""
    declared = formats.record(name).options
    said = {key: value for key, value in fixed.items() if key in declared}
    for choice in islice(_choices(declared, said), MOST):
        trial = _tried(name, source, manifest, own, {**said, **choice})
        yield trial
        for key in _asked(declared, trial):
            values = (v for v in _values(key, declared[key]) if v != declared[key].default)
            yield from (_tried(name, source, manifest, own, {**trial.said, key: value}) for value in values)


def _asked(declared: Mapping[str, Option], trial: Trial) -> list[str]:
    """Options that were not declared and that the complaint names."""
    words = set(re.findall(r"\w+", "" if trial.fits else trial.reason()))
    return [key for key in declared if key in words and key not in trial.said]


def _choices(declared: Mapping[str, Option], said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of values for what must be declared and is not. A text cannot be tried out."""
    needed = {key: o for key, o in declared.items() if o.default is REQUIRED and key not in said}
    values = [_values(key, option) for key, option in needed.items()]
    return (dict(zip(needed, chosen, strict=True)) for chosen in product(*values))


def _values(key: str, option: Option) -> tuple[str, ...]:
    more = {"flag": ("true", "false"), "number": _numbers(key), "integer": ("0", "1"), "text": ()}
    return option.choices if option.kind == "choice" else more[option.kind]


def _numbers(key: str) -> tuple[str, ...]:
    return _SCORES if "score" in key else _LEVELS


def _tried(name: str, source: Source, manifest: pa.Table, own: Mapping[str, Any], said: dict[str, Any]) -> Trial:
    trial, record = Trial(name, said), formats.record(name)
    try:
        trial.options = {**own, **options.resolve(record.options, said, f"format {name}")}
        batches = formats.module(name).read(source, manifest, trial.options, trial.notes)
        trial.table = pa.Table.from_batches(batches, tables.predictions_schema(record.shape))
    except InputError as error:
        trial.why = error.line().removeprefix(f"{error.file}: ")
    except KeyError as error:  # an option of the benchmark
        trial.why = f"needs {error.args[0]} of the benchmark; give --benchmark"
    return trial
