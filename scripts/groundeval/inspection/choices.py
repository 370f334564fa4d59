"""What the files cannot tell of the best reading, and only the user knows: thresholds, absent answers, texts that say none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from groundeval import formats
from groundeval.inspection.hints import NUMBERS
from groundeval.inspection.trials import Trial

_THRESHOLDS = (0, 0.3, 0.5, 0.7, 0.9)


def with_threshold(group: Sequence[Trial], said: Mapping[str, Any]) -> Trial:
    """Of trials that differ in their score threshold alone, the one of the official code: a choice by what agrees most
    with the truth would be a result tuned on its own test."""
    order = {value: place for place, value in enumerate(NUMBERS["score_threshold"])}
    if "score_threshold" in said:
        return group[0]
    return min(group, key=lambda t: order.get(t.said.get("score_threshold", ""), len(order)))


def with_absent(trial: Trial, absent: int) -> Trial:
    """Where samples have no answer and the format can take that for "none", that."""
    option = formats.record(trial.format).options.get("absent")
    if not absent or option is None or "none" not in option.choices or "absent" in trial.said:
        return trial
    return replace(trial, said={**trial.said, "absent": "none"})


def told(trial: Trial, absent: int | None, samples: int) -> Iterator[str]:
    """A line for each such choice. trial: with its table; absent: samples without an answer, None: not known."""
    said = trial.said
    if "score_threshold" in said and trial.table is not None:
        yield f"score_threshold is your choice, no file tells it; {_left(trial)}"
    for key, value in trial.own.items():
        yield f"{key}={value}: with it the samples and texts of the split are those that the files are of"
    if absent and said.get("absent") == "none":
        yield (
            f"absent=none takes the {absent} of {samples} samples without an answer for an explicit none: only if your "
            "model was asked and found nothing there; if answers were lost, write them"
        )
    elif absent:
        yield (
            f"{absent} of {samples} samples have no answer, which stops a run: write an explicit empty answer where the "
            "model found nothing; --allow-incomplete counts them as wrong"
        )
    if said.get("none_text"):
        yield f'none_text: only if "{said["none_text"]}" says that nothing is there, and is no refusal'
    if said.get("colours"):
        yield "colours: which colour is which class is read off the truth, or made up without one: check it"
    if trial.partly:
        yield "--allow-incomplete counts the answers that cannot be used as wrong; better correct them as said above"


def _left(trial: Trial) -> str:
    """How many samples have a box at a few thresholds."""
    assert trial.table is not None
    scores = [np.array(s) for s in trial.table["scores"].to_pylist() if s is not None]
    counts = ", ".join(f"{t:g}: {sum(bool((s >= t).any()) for s in scores)}" for t in _THRESHOLDS)
    return f"samples here with a box at or above {counts}"
