"""One format with one choice of its options, tried by really reading a part of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from groundeval import formats, options, tables
from groundeval.digests import TableDigest
from groundeval.errors import InputError
from groundeval.sources.folder import Source


@dataclass
class Trial:
    """What came of it. own: options of the benchmark, beside the format's `said`; why: what stops it; unread: files that
    it would pass over; digest: of `table`, which is what was read, and is let go where it is not needed any more.
    """

    format: str
    said: dict[str, Any]
    own: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    why: str = ""
    statuses: Counter[str] = field(default_factory=Counter)
    complaint: str = ""  # of the first answer that cannot be used
    notes: Counter[str] = field(default_factory=Counter)
    doubts: list[str] = field(default_factory=list)  # of the inspection
    digest: str = ""
    table: pa.Table | None = None
    agreement: float | None = None  # with the truth, in the benchmark's headline

    @property
    def usable(self) -> int:
        """Samples that have an answer."""
        return self.statuses["answered"] + self.statuses["none"]

    @property
    def fits(self) -> bool:
        """Something was read, and nothing of it was invalid."""
        return self.usable > 0 and not self.statuses["invalid"]

    @property
    def partly(self) -> bool:
        """Something was read, but not all."""
        return self.usable > 0 and self.statuses["invalid"] > 0

    @property
    def convention(self) -> tuple[Any, ...]:
        """All that was chosen but the score threshold, which is no property of the files."""
        said = {**self.own, **self.said}
        return (self.format, *((key, value) for key, value in said.items() if key != "score_threshold"))

    def reason(self) -> str:
        """Why it does not fit."""
        if self.why:
            return self.why
        if self.statuses["invalid"]:
            answers = self.usable + self.statuses["invalid"]
            return f"{self.statuses['invalid']} of {answers} answers cannot be used, the first: {self.complaint}"
        beside = "; ".join(f"{note} ({n})" for note, n in self.notes.items())
        reads = formats.record(self.format).reads
        return f"no file or record is an answer; it reads {reads}{f'; {beside}' if beside else ''}"


def tried(name: str, source: Source, manifest: pa.Table, own: Mapping[str, Any], said: dict[str, Any]) -> Trial:
    """own: the benchmark's options with their values."""
    trial, record = Trial(name, said), formats.record(name)
    try:
        trial.options = {**own, **options.resolve(record.options, said, f"format {name}")}
        batches = formats.module(name).read(source, manifest, trial.options, trial.notes)
        trial.table = pa.Table.from_batches(batches, tables.predictions_schema(record.shape))
    except InputError as error:
        trial.why = error.line().removeprefix(f"{error.file}: ")
    except KeyError as error:  # an option of the benchmark
        trial.why = f"needs {error.args[0]} of the benchmark; give --benchmark"
    if trial.table is not None:
        trial.statuses = Counter(trial.table["status"].to_pylist())
        reasons = zip(trial.table["status"].to_pylist(), trial.table["reason"].to_pylist(), strict=True)
        trial.complaint = next((reason or "" for status, reason in reasons if status == "invalid"), "")
        digest = TableDigest()
        digest.add(trial.table)
        trial.digest = digest.hexdigest()
    return trial
