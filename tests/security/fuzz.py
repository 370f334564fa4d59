"""Fuzzing of every reader and every format: `python -m tests.security.fuzz [--seconds N] [--seed S] [WORD ...]`.

No crash, no hang, no memory over the cap, never a score from a damaged file without a word. Targets take turns, with more
examples in each round, until the time is up; every one has at least one round. Prints what was tried; exit code 1, with
the smallest example, where something is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

if __name__ == "__main__":  # pytest puts it there by itself
    sys.path.insert(0, str(Path(__file__).parents[1]))

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.security import targets

ROOM = 2 << 30  # bytes of address space that the run may add
HANG = 20  # seconds for one example
FIRST = 10  # examples of a target in the first round; each further round has twice as many


class HangError(BaseException):
    """An example that does not end. No reader may catch it as damage."""


def main(words: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only targets whose name has one of these")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=None, help="the first round's; by default the time")
    given_ = parser.parse_args(words)
    chosen = {n: t for n, t in targets.everything().items() if not given_.words or any(w in n for w in given_.words)}
    return run(chosen, given_.seconds, given_.seed if given_.seed is not None else time.time_ns() % 1_000_000)


def run(chosen: dict[str, targets.Target], seconds: float, first: int) -> int:
    """Fuzz for so many seconds; 1 where something is wrong."""
    _limit()
    end, tried = time.monotonic() + seconds, Counter[str]()
    for number in itertools.count():
        for name, target in chosen.items():
            if number and time.monotonic() > end:
                print(f"{sum(tried.values())} examples of {len(tried)} targets, nothing found")
                return 0
            try:
                tried[name] += _round(target, first + number, min(FIRST << number, 1000))
            except BaseException:
                traceback.print_exc()
                print(f"FOUND: {name}; again with --seed {first + number} {name!r}")
                return 1
    return 1


def _round(target: targets.Target, number: int, examples: int) -> int:
    tried = 0

    @seed(number)
    @settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck), phases=PHASES
    )
    @given(st.data())
    def round_(data: Any) -> None:
        nonlocal tried
        tried += 1
        signal.alarm(HANG)
        try:
            target(data)
        finally:
            signal.alarm(0)

    round_()
    return tried


PHASES = (Phase.generate, Phase.shrink)


def _limit() -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, _hang)


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise HangError(f"an example took more than {HANG} seconds")


if __name__ == "__main__":
    sys.exit(main())
