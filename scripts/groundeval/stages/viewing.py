"""What `inspect` was asked, and the samples and trials under one choice of the benchmark's options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, formats, options
from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.inspection import hints, madeup
from groundeval.inspection.part import Seen
from groundeval.inspection.search import Search
from groundeval.inspection.trials import Trial, tried
from groundeval.stages.agreement import Truth


@dataclass(frozen=True)
class Asked:
    """What to look at, and what is known of it."""

    path: Path
    benchmark: str | None = None
    truth: Path | None = None
    split: str | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None

    @property
    def declared(self) -> Mapping[str, options.Option]:
        """The benchmark's options."""
        return benchmarks.record(self.benchmark).options if self.benchmark else {}

    @property
    def said_own(self) -> dict[str, Any]:
        """Of what was said, what concerns the benchmark."""
        return {key: value for key, value in self.said.items() if key in self.declared}

    def own(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """The benchmark's options with their values, some of them tried out."""
        return options.resolve(self.declared, {**self.said_own, **more}, str(self.benchmark))

    @property
    def formats(self) -> list[str]:
        """Those that the benchmark can take."""
        if self.benchmark is None:
            return formats.names()
        record = benchmarks.record(self.benchmark)
        return [n for n in formats.names() if formats.record(n).fits(record.shape, record.maps)]

    def check(self) -> None:
        """An option that nothing has is an InputError."""
        known = {key for name in self.formats for key in formats.record(name).options} | set(self.declared)
        for key in self.said:
            if key not in known:
                what = f"unknown option {quoted(key)}{did_you_mean(key, known)}"
                raise InputError("--set", what, "Correct the name.")


@dataclass
class View:
    """The samples of the split under one choice of the benchmark's options, and all that is tried on them."""

    asked: Asked
    seen: Seen
    facts: hints.Facts
    manifest: pa.Table | None
    more: Mapping[str, Any] = field(default_factory=dict)  # of the benchmark's options, what is tried out

    @cached_property
    def own(self) -> dict[str, Any]:
        """The benchmark's options with their values."""
        return self.asked.own(self.more)

    @cached_property
    def truth(self) -> Truth | None:
        """The benchmark's truth, where it was given."""
        if self.asked.truth is None or self.asked.benchmark is None:
            return None
        return Truth(self.asked.benchmark, self.asked.truth, self.own)

    @cached_property
    def _narrowed(self) -> pa.Table | None:
        return None if self.manifest is None else madeup.narrowed(self.manifest, self.seen)

    def samples(self, name: str) -> pa.Table:
        """What a format is tried on."""
        return madeup.manifest(name, self.seen) if self._narrowed is None else self._narrowed

    def trials(self) -> Iterator[Trial]:
        """All formats, without what they read."""
        if self.truth is not None and self.facts.texts.get("colours") and self._narrowed is not None:
            voted = self.truth.colours(self.seen.part, self._narrowed)
            self.facts.texts["colours"] = [voted] if voted else self.facts.texts["colours"]
        for name in self.asked.formats:
            samples, declared = self.samples(name), formats.record(name).options
            said = {key: value for key, value in self.asked.said.items() if key in declared}
            for trial in Search(name, self.seen.part, samples, self.own, said, self.facts).run():
                trial.own = dict(self.more)
                if trial.usable and self.truth is not None:
                    trial.agreement = self.truth.agreement(trial, samples)
                trial.table = None
                yield trial

    def again(self, trial: Trial) -> Trial:
        """The same with what it reads."""
        found = tried(trial.format, self.seen.part, self.samples(trial.format), self.own, trial.said)
        return replace(trial, own=dict(self.more), table=found.table, options=found.options)
