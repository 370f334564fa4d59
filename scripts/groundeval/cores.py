"""One run on several cores: the same results in the same order, whatever their number.

The work is done by forked processes, since decoding holds Python's lock: each has what the work reads (the names of a
folder, a parsed file) without being sent it. What is in flight is bounded, so memory is a few parts for each core.
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

A = TypeVar("A")
B = TypeVar("B")
_AHEAD = 2  # parts in flight for each core
_FEW = 64
_state: dict[str, Any] = {"cores": 1}


def available() -> int:
    """The cores that this process may use."""
    from multiprocessing.process import current_process

    if current_process().daemon:  # it may have no children
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def several() -> bool:
    """Does `mapped` use more than one?"""
    return bool(_state["cores"] > 1)


def worth(rows: int) -> int:
    """As many as are to be used, for so many samples: for a few, one."""
    return int(_state["cores"]) if rows >= _FEW else 1


@contextmanager
def using(count: int) -> Iterator[None]:
    """`mapped`, where it begins within, uses that many cores; outside it uses one."""
    before, _state["cores"] = _state["cores"], count
    try:
        yield
    finally:
        _state["cores"] = before


def mapped(work: Callable[[A], B], items: Iterable[A], notes: Counter[str], part: int = 1) -> Iterator[B]:
    """work(item) of each item, in order, `part` items at a time. `notes`: what work counts into beside its result."""
    if not several():
        yield from map(work, items)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    with ProcessPoolExecutor(_state["cores"], multiprocessing.get_context("fork"), _begin, (work, notes)) as pool:
        waiting: deque[Future[tuple[list[B], Counter[str]]]] = deque()
        try:
            for some in _parts(items, part):
                waiting.append(pool.submit(_do, some))
                if len(waiting) > _AHEAD * _state["cores"]:
                    yield from _done(waiting, notes)
            while waiting:
                yield from _done(waiting, notes)
        except BrokenProcessPool:
            raise MemoryError from None  # what else kills a process of ours
        finally:
            pool.shutdown(cancel_futures=True)


def _parts(items: Iterable[A], size: int) -> Iterator[list[A]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _done(waiting: deque[Future[tuple[list[B], Counter[str]]]], notes: Counter[str]) -> list[B]:
    results, counted = waiting.popleft().result()
    notes.update(counted)
    return results


def _begin(work: Callable[[Any], Any], notes: Counter[str]) -> None:
    """In a new process: its copies of both, and one process alone answers Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _state.update(cores=1, work=work, notes=notes)


def _do(some: list[Any]) -> tuple[list[Any], Counter[str]]:
    _state["notes"].clear()
    return [_state["work"](item) for item in some], Counter(_state["notes"])
