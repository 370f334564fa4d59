"""Every format against the same damage: one clear line that names the file or the sample, never a silent number.

A damaged source either stops the run with an InputError, or makes samples missing or invalid, which stops the stage with
a line that names them, or is noted. The one exception is a changed bit in files without checksums (text, arrays, JPEG):
it may give another answer, but a well-formed one.
"""

from __future__ import annotations

import random
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from formats import damage, golden
from formats.golden import SAMPLES, Golden
from groundeval import tables
from groundeval.errors import InputError
from groundeval.sources.folder import Source
from groundeval.stages import convert

GOLDEN = golden.everything()
TIMES = {"flip": 12, "cut": 6, "other_file": 6}


@dataclass
class Outcome:
    """rows: None where the whole source was refused; line: what the user reads, or None where the run goes on."""

    rows: dict[str, Any] | None
    line: str | None
    notes: Counter[str]


def run(sample: Golden, folder: Path) -> Outcome:
    """As the stage would run it: any other exception than an InputError fails the test."""
    notes = Counter[str]()
    try:
        rows = sample.read(folder, notes)
    except InputError as error:
        return Outcome(None, error.line(), notes)
    try:
        batches = convert.convert(Source(folder), sample.format, golden.manifest(), sample.options(), Counter())
        assert sum(batch.num_rows for batch in batches) == len(SAMPLES)
    except InputError as error:
        return Outcome(rows, error.line(), notes)
    return Outcome(rows, None, notes)


def check_words(outcome: Outcome, folder: Path) -> None:
    """One line, which names the source and what in it; reasons that name the sample's file or id."""
    line = outcome.line or ""
    assert "\n" not in line
    assert str(folder) in line
    assert "Traceback" not in line
    for name, row in (outcome.rows or {}).items():
        assert row["status"] in tables.STATUSES
        if row["status"] == "invalid":
            assert name in line or "photo-" in row["reason"] or "line " in row["reason"], row["reason"]
            assert len(row["reason"]) > 20


def check(sample: Golden, kind: str, found: Outcome, clean: Outcome, folder: Path) -> None:
    if found.line is not None:
        check_words(found, folder)
        return
    if found.rows == clean.rows or found.notes != clean.notes:
        return
    if kind == "lose" and sample.said.get("absent") == "none":
        return  # the declaration says that this is an answer
    assert kind == "flip", f"{kind} gave another answer without a word"
    assert not sample.sealed, "a changed bit gave another answer without a word"


@pytest.mark.parametrize("kind", sorted(damage.KINDS))
@pytest.mark.parametrize("sample", GOLDEN, ids=lambda g: g.producer)
def test_damage_is_named(tmp_path: Path, sample: Golden, kind: str) -> None:
    clean_folder = tmp_path / "clean"
    clean_folder.mkdir()
    sample.write(clean_folder)
    clean = run(sample, clean_folder)
    assert clean.line is None
    said = 0
    for at, path in enumerate(damage.files(clean_folder)):
        for time in range(TIMES.get(kind, 1)):
            folder = tmp_path / f"{at}-{time}"
            folder.mkdir()
            sample.write(folder)
            rng = random.Random(zlib.crc32(f"{sample.producer}/{kind}/{at}/{time}".encode()))
            damage.KINDS[kind](folder / path.relative_to(clean_folder), rng)
            found = run(sample, folder)
            check(sample, kind, found, clean, folder)
            said += found.line is not None or found.notes != clean.notes
    assert said or sample.said.get("absent") == "none", f"{kind} was not seen at all"
