"""Half a minute of what `python -m tests.security.fuzz` does for ten, and that it can fail."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from groundeval import formats
from groundeval.sources import zips
from tests.security import fuzz, targets

ROOT = Path(__file__).parents[2]


def test_every_reader_and_every_format() -> None:
    command = [sys.executable, "-m", "tests.security.fuzz", "--seconds", "20", "--seed", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    tried = re.search(r"(\d+) examples of (\d+) targets, nothing found", done.stdout)
    assert tried
    assert int(tried[2]) == len(targets.everything())
    assert int(tried[1]) >= fuzz.FIRST * int(tried[2])


def test_every_format_is_a_target() -> None:
    assert {name.split(":")[0] for name in targets.everything() if ":" in name} == set(formats.names())


def test_a_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that takes what it is given: the checksum of a zip's member is not looked at."""
    monkeypatch.setattr(zips.zlib, "crc32", _AnyNumber)
    with pytest.raises(AssertionError):
        fuzz._round(targets.everything()["archive .zip"], 0, 1000)


class _AnyNumber:
    """Equal to every checksum."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    def endless(data: Any) -> None:
        data.draw(st.integers())
        while True:
            np.arange(10)

    monkeypatch.setattr(fuzz, "HANG", 1)
    before = signal.signal(signal.SIGALRM, fuzz._hang)
    try:
        with pytest.raises(fuzz.HangError):
            fuzz._round(endless, 0, 1)
    finally:
        signal.signal(signal.SIGALRM, before)
