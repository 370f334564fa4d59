"""What the trials come to, in lines for the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundeval.inspection.trials import Trial

SHOWN, REMARKS = 12, 3
_LONGEST = 400  # characters of a reason


def told(tried: Sequence[Trial], fitting: Sequence[Trial]) -> Iterator[str]:
    """What fits, in the order given, and one reason a format why it does not."""
    yield f"\nfits: {len(fitting)} of {len(tried)} tried"
    for trial in fitting[:SHOWN]:
        counts = ", ".join(f"{n} {status}" for status, n in sorted(trial.statuses.items()) if status != "missing")
        agree = "" if trial.agreement is None else f"; against the truth, on these alone: {trial.agreement:.4g}"
        yield f"  {trial.format} {options(trial)}: {counts}{agree}"
        yield from (f"      remark: {note} ({n})" for note, n in trial.notes.most_common(REMARKS))
    if len(fitting) > SHOWN:
        yield f"  ... and {len(fitting) - SHOWN} more"
    yield "does not fit"
    for name in dict.fromkeys(t.format for t in tried):
        failed = [t for t in tried if t.format == name and not t.fits]
        if failed:
            yield f"  {name} {options(failed[0])}: {failed[0].reason()[:_LONGEST]}"
            yield from ([f"      and {len(failed) - 1} more choices of its options"] if len(failed) > 1 else [])


def to_try(
    fitting: Sequence[Trial],
    path: object,
    benchmark: str | None,
    truth: object,
    split: str | None,
    own: Mapping[str, Any],
) -> Iterator[str]:
    """The command of the first that fits. own: what was said of the benchmark's options."""
    best = [t for t in fitting if t.agreement == fitting[0].agreement]
    also = f" ({len(best) - 1} others fit as well: the files cannot tell which is meant)" if len(best) > 1 else ""
    sets = [word for key, value in {**own, **best[0].said}.items() for word in ("--set", f"{key}={value}")]
    words = ["groundeval", "evaluate", benchmark or "BENCHMARK", "--truth", str(truth or "DIR")]
    words += ["--split", split or "SPLIT", "--predictions", str(path), "--format", best[0].format, *sets]
    yield f"\nto try, if it is what is meant{also}:\n  {shlex.join([*words, '--out', 'OUT'])}"


def options(trial: Trial) -> str:
    """`boxes=xyxy unit=px`."""
    return " ".join(f"{key}={value}" for key, value in trial.said.items()) or "(no options)"
