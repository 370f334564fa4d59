"""Which options of a format are tried: every choice of what must be declared, then what its complaints could be cured by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

import pyarrow as pa

from groundeval import formats
from groundeval.inspection import hints, likely
from groundeval.inspection.hints import Facts
from groundeval.inspection.trials import Trial, tried
from groundeval.options import REQUIRED, Option
from groundeval.sources.folder import Source

MOST = 120  # trials of one format
_OF_ABSENT = "absent"  # says nothing of the answers that are there; see choices
_CHANGES = 2  # options that are changed one after the other


@dataclass
class Search:
    """One format's trials. own: the benchmark's options with their values; said: what the user declared of the format's."""

    name: str
    source: Source
    manifest: pa.Table
    own: Mapping[str, Any]
    said: Mapping[str, Any]
    facts: Facts
    cures: dict[str, list[str]] = field(default_factory=dict)  # complaint -> options that brought a trial further

    def run(self) -> Iterator[Trial]:
        """All trials, at most MOST."""
        return islice(self._all(), MOST)

    @property
    def _declared(self) -> Mapping[str, Option]:
        return formats.record(self.name).options

    def _all(self) -> Iterator[Trial]:
        needed = {k: o for k, o in self._declared.items() if o.default is REQUIRED and k not in self.said}
        values = {key: hints.values(key, option, self.facts) for key, option in needed.items()}
        if lacking := [key for key, found in values.items() if not found]:
            why = f"needs {lacking[0]}, {needed[lacking[0]].help}; none is here"
            yield Trial(self.name, dict(self.said), why=why)
            return
        for chosen in product(*values.values()):
            trial = self._tried({**self.said, **dict(zip(values, chosen, strict=True))})
            yield trial
            yield from self._changed(trial, _CHANGES)

    def _changed(self, trial: Trial, changes: int) -> Iterator[Trial]:
        """Of a trial that does not fit, those with one more option, where they come further; then again of the best."""
        if trial.fits or not changes:
            return
        complaint, named = trial.reason(), self._named(trial)
        every = [k for k in self._declared if k not in trial.said and k != _OF_ABSENT]
        keys = [k for k in every if k in {*named, *self.cures.get(complaint, every)}]
        cured = [(k, t) for k in keys for t in self._values(trial, k) if _is_further(t, trial, k in named)]
        self.cures.setdefault(complaint, list(dict.fromkeys(key for key, _ in cured)))
        further = [t for _, t in cured]
        yield from further
        if further and not any(t.fits for t in further):
            yield from self._changed(max(further, key=_progress), changes - 1)

    def _values(self, trial: Trial, key: str) -> Iterator[Trial]:
        option = self._declared[key]
        for value in hints.values(key, option, self.facts):
            if option.parse(key, value, self.name) != option.default:
                yield self._tried({**trial.said, key: value})

    def _named(self, trial: Trial) -> list[str]:
        """Options that were not declared and that the complaint names."""
        words = set(re.findall(r"\w+", trial.reason()))
        return [key for key in self._declared if key in words and key not in trial.said]

    def _tried(self, said: dict[str, Any]) -> Trial:
        trial = tried(self.name, self.source, self.manifest, self.own, said)
        trial.doubts = list(likely.doubts(self.name, trial.options, self.facts))
        return trial


def _progress(trial: Trial) -> tuple[int, int]:
    return trial.usable, -trial.statuses["invalid"]


def _is_further(trial: Trial, before: Trial, named: bool) -> bool:
    """More answers; or another complaint, after a change that the complaint asked for."""
    return trial.usable > before.usable or (named and trial.usable == before.usable and trial.why != before.why)
