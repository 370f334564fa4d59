"""How far a long work is, with an estimate of the time that is left: a bar on the terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 30.0  # seconds to the first line; then a quarter of the time so far, so that a long log stays short
settings = {"bars": True}  # of jobs that run side by side each would draw over the others'


@contextmanager
def counted(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """`total` samples; gives the function that is told how many more are done. What is done soon is not spoken of."""
    if not (settings["bars"] and sys.stderr.isatty()):
        yield _Lines(name, total).advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda count: bar.advance(task, count)


class _Lines:
    """Lines in a log."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, total, 0
        self._begun = self._said = time.monotonic()

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._said < max(EVERY, (now - self._begun) / 4) or self._done >= self._total:
            return
        self._said = now
        left = (now - self._begun) * (self._total - self._done) / self._done
        time_left = f"{left / 60:.0f} min" if left >= 120 else f"{left:.0f} s"
        print(f"{self._name}: {self._done} of {self._total}, about {time_left} left", file=sys.stderr, flush=True)


@contextmanager
def shown(name: str, start: int, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar for bytes, `start` of `total` done; gives the function that advances it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total, completed=start)
        yield lambda count: bar.advance(task, count)
