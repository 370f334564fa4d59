"""The order of the readings that are possible, and which of them the files do not tell apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from groundeval.inspection.trials import Trial

_DOUBTFUL = re.compile(r"\?| write it, read as ")  # remarks of formats that something else may be meant
_NEAR = 0.98  # of the best agreement: as 999 and 1000 for the width of an image


def by_convention(trials: Sequence[Trial]) -> list[list[Trial]]:
    """The best first. Trials that differ in their score threshold alone are together."""
    top = max((t.agreement or 0 for t in trials), default=0)
    groups: dict[tuple[Any, ...], list[Trial]] = {}
    for trial in sorted(trials, key=lambda t: (_likely(t, top), -(t.agreement or 0), *_plain(t))):
        groups.setdefault(trial.convention, []).append(trial)
    return list(groups.values())


def equals(groups: Sequence[list[Trial]]) -> list[list[Trial]]:
    """Of conventions in their order the first, and those that nothing here tells from it."""
    top = max((t.agreement or 0 for group in groups for t in group), default=0)
    return [group for group in groups if _likely(group[0], top) == _likely(groups[0][0], top)]


def _likely(trial: Trial, top: float) -> tuple[Any, ...]:
    """Smaller is better: all answers usable, as near to the truth as any, and little that speaks against it."""
    amiss = trial.statuses["invalid"] / max(1, trial.usable + trial.statuses["invalid"])
    doubtful = sum(bool(_DOUBTFUL.search(note)) for note in trial.notes)
    return amiss, (trial.agreement or 0) < _NEAR * top, len(trial.doubts) + doubtful


def _plain(trial: Trial) -> tuple[int, int]:
    """Of two that read the same, the one with fewer remarks and options."""
    return sum(trial.notes.values()), len(trial.own) + len(trial.said)
