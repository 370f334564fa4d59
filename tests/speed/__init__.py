"""Benchmarks: CPU time of ours as a ratio to a named peer's, interleaved in one run, equal results asserted.

`python -m tests.speed [NAME ...]` runs them; a module bench_*.py here has `run() -> list[Result]`.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """One comparison. ratio = ours / peer (CPU seconds, medians); it should be at most `goal`."""

    name: str
    peer: str
    ours_seconds: float
    peer_seconds: float
    goal: float

    @property
    def ratio(self) -> float:
        """Ours over the peer's."""
        return self.ours_seconds / self.peer_seconds

    def line(self) -> str:
        """The comparison in one line."""
        verdict = "ok" if self.ratio <= self.goal else "MISSED"
        seconds = f"{self.ours_seconds:.3f} s against {self.peer_seconds:.3f} s of {self.peer}"
        return f"{self.name}: {self.ratio:.3f} (goal {self.goal:.3f}, {verdict}); {seconds}"


def cpu(call: Callable[[], Any], children: bool = False) -> float:
    """CPU seconds of one call: of this process, or of the child processes that it waits for."""
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    before = resource.getrusage(who)
    call()
    after = resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(
    name: str,
    peer: str,
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    goal: float,
    rounds: int = 5,
    children: bool = False,
) -> Result:
    """Interleave both, take medians."""
    pairs = [(cpu(ours, children), cpu(theirs, children)) for _ in range(rounds)]
    a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Result(name, peer, a, b, goal)


def wall() -> float:
    """A clock for progress only."""
    return time.monotonic()
