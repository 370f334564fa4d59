"""What the trials come to, in lines for the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundeval.inspection import rank
from groundeval.inspection.trials import Trial

SHOWN, REMARKS = 12, 3
_LONGEST = 400  # characters of a reason

Groups = Sequence[Sequence[Trial]]


def told(tried: Sequence[Trial], fitting: Groups, partly: Groups) -> Iterator[str]:
    """What fits, in the order given, what fits in part, and one reason a format why others do not."""
    yield f"\nfits: {sum(map(len, fitting))} of {len(tried)} tried"
    yield from (line for group in fitting[:SHOWN] for line in _fit(group))
    if len(fitting) > SHOWN:
        yield f"  ... and {len(fitting) - SHOWN} more"
    if partly:
        yield "fits in part"
        for group in partly[:REMARKS]:
            yield from _fit(group)
            yield f"      {group[0].reason()[:_LONGEST]}"
    yield "does not fit"
    shown = {group[0].format for group in partly[:REMARKS]}
    for name in dict.fromkeys(t.format for t in tried):
        failed = [t for t in tried if t.format == name and not t.fits and name not in shown]
        if failed:
            nearest = max(failed, key=lambda t: (t.usable, t.statuses["invalid"]))
            yield f"  {name} {options(nearest)}: {nearest.reason()[:_LONGEST]}"
            yield from ([f"      and {len(failed) - 1} more choices of its options"] if len(failed) > 1 else [])


def _fit(group: Sequence[Trial]) -> Iterator[str]:
    trial = group[0]
    counts = ", ".join(f"{n} {status}" for status, n in sorted(trial.statuses.items()) if status != "missing")
    agree = "" if trial.agreement is None else f"; against the truth, on these alone: {trial.agreement:.4g}"
    others = ", ".join(f"{t.said['score_threshold']}: {t.agreement:.4g}" for t in group[1:] if t.agreement is not None)
    yield f"  {trial.format} {options(trial)}: {counts}{agree}{f' (score_threshold {others})' if others else ''}"
    yield from (f"      doubt: {doubt}" for doubt in trial.doubts)
    yield from (f"      remark: {note} ({n})" for note, n in trial.notes.most_common(REMARKS))


def to_try(
    best: Trial,
    same: Groups,
    path: object,
    benchmark: str | None,
    truth: object,
    split: str | None,
    own: Mapping[str, Any],
) -> Iterator[str]:
    """The command of the best. same: conventions that fit as well; own: what was said of the benchmark's options."""
    sets = [word for key, value in {**own, **best.own, **best.said}.items() for word in ("--set", f"{key}={value}")]
    words = ["groundeval", "evaluate", benchmark or "BENCHMARK", "--truth", str(truth or "DIR")]
    words += ["--split", split or "SPLIT", "--predictions", str(path), "--format", best.format, *sets]
    more = ["--allow-incomplete"] if best.partly else []
    if same:
        yield f"\n{len(same)} others fit as well, the files cannot tell which is meant:"
        yield from (f"  {group[0].format} {options(group[0])}" for group in same[:SHOWN])
    yield f"\nto try, if it is what is meant:\n  {shlex.join([*words, *more, '--out', 'OUT'])}"


def others(groups: Sequence[list[Trial]]) -> Groups:
    """Conventions that fit as well as the first."""
    return rank.equals(groups)[1:]


def options(trial: Trial) -> str:
    """`boxes=xyxy unit=px`."""
    said = {**trial.own, **trial.said}
    return " ".join(shlex.quote(f"{key}={value}") for key, value in said.items()) or "(no options)"
