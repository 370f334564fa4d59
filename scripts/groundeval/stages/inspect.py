"""inspect: what a user's prediction files are, which formats and options they fit, and the command to try.

It advises. A fit says that files can be read so, not that they are meant so; only the user knows what is meant.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, formats, options, tables
from groundeval.errors import InputError
from groundeval.inspection import contents, trials
from groundeval.inspection import part as parts
from groundeval.inspection.trials import Trial
from groundeval.sources.folder import Source
from groundeval.stages import aggregate, score, split

SHOWN, REMARKS = 12, 3
DRAWN = 3
_UNKNOWN = 1000  # height and width of a sample where no truth says them


@dataclass(frozen=True)
class Asked:
    """What to look at, and what is known of it."""

    path: Path
    benchmark: str | None = None
    truth: Path | None = None
    split: str | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None

    @property
    def own(self) -> dict[str, Any]:
        """The benchmark's options with their values."""
        if self.benchmark is None:
            return {}
        declared = benchmarks.record(self.benchmark).options
        known = {key: value for key, value in self.said.items() if key in declared}
        return options.resolve(declared, known, self.benchmark)


def run(asked: Asked) -> None:
    """Print what was found; write overlay.png to `out`."""
    for line in _lines(asked):
        print("".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in line), flush=True)


def _lines(asked: Asked) -> Iterator[str]:
    source = Source(asked.path)
    part, values, faults = parts.of(source)
    yield from contents.told(source, part, values, faults)
    found = contents.names(part, values)
    manifest = _manifest(asked) if asked.truth else None
    if manifest is not None:
        yield from contents.matched(found, manifest["sample_id"].to_pylist(), manifest["image_id"].to_pylist())
    else:
        yield "ids and sizes are not checked; give --benchmark, --truth and --split"
    known = manifest if manifest is not None else _made_up(found, contents.sizes(part, values))
    tried = [t for name in _names(asked) for t in trials.run(name, part, known, asked.own, asked.said)]
    fitting = _ranked([t for t in tried if t.fits], asked, manifest)
    yield from _told(tried, fitting, asked)
    if fitting and asked.out is not None:
        yield _drawn(fitting[0], asked, known)


def _manifest(asked: Asked) -> pa.Table:
    if asked.benchmark is None or asked.truth is None:
        raise InputError("--truth", "is given without --benchmark", "Say which benchmark it is.")
    splits = benchmarks.record(asked.benchmark).splits
    name = asked.split or splits[0]
    return split.manifest(asked.benchmark, asked.truth, name, asked.own, Counter())[0]


def _made_up(found: list[str], sizes: Mapping[str, tuple[int, int]]) -> pa.Table:
    """A manifest of the ids and sizes that the files name, so that formats can be tried without a truth."""
    pairs = [(i, sizes.get(i, (_UNKNOWN, _UNKNOWN))) for i in sorted(set(found))]
    rows = [{"sample_id": i, "image_id": i, "height": h, "width": w, "tags": {}} for i, (h, w) in pairs]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def _names(asked: Asked) -> list[str]:
    shape = benchmarks.record(asked.benchmark).shape if asked.benchmark else None
    return [n for n in formats.names() if shape in (None, formats.record(n).shape)]


def _ranked(fitting: list[Trial], asked: Asked, manifest: pa.Table | None) -> list[Trial]:
    """Those that agree most with the truth first, then those with the fewest remarks."""
    if manifest is not None and asked.benchmark is not None:
        known: dict[tuple[int, ...], pa.Table | None] = {}  # the truth of the same samples is read once
        for trial in fitting:
            trial.agreement = _agreement(trial, asked, manifest, known)
    return sorted(fitting, key=lambda t: (-(t.agreement or 0), sum(t.notes.values()), t.format, len(t.said)))


def _agreement(
    trial: Trial, asked: Asked, manifest: pa.Table, known: dict[tuple[int, ...], pa.Table | None]
) -> float | None:
    """The benchmark's headline over the samples that have an answer: to tell conventions apart, not a result."""
    rows = _answered(trial)
    samples, answers = manifest.take(rows), _rows(trial, rows)
    if (key := tuple(rows)) not in known:
        known[key] = _truth(asked, samples)
    truth, benchmark = known[key], str(asked.benchmark)
    if truth is None:
        return None
    counted, histograms, _ = score.score(benchmark, samples, truth.to_batches(), answers.to_batches(), trial.options)
    said = {"benchmark": benchmark, "split": asked.split or "", "dataset": None}
    content = aggregate.aggregate(counted, histograms, score.about(said, trial.format, trial.options, {}, "", ""))
    value: float | None = content["metrics"][benchmarks.record(benchmark).headline]["value"]
    return value


def _answered(trial: Trial) -> list[int]:
    """The rows of the manifest that have an answer."""
    assert trial.table is not None
    return [i for i, s in enumerate(trial.table["status"].to_pylist()) if s in ("answered", "none")]


def _rows(trial: Trial, rows: list[int]) -> pa.Table:
    assert trial.table is not None
    return trial.table.take(rows)


def _truth(asked: Asked, samples: pa.Table) -> pa.Table | None:
    if asked.truth is None or asked.benchmark is None:
        return None
    batches = benchmarks.part(asked.benchmark, "truth").truth(asked.truth, samples, asked.own, Counter())
    return pa.Table.from_batches(batches)


def _told(tried: list[Trial], fitting: list[Trial], asked: Asked) -> Iterator[str]:
    yield f"\nfits: {len(fitting)} of {len(tried)} tried"
    for trial in fitting[:SHOWN]:
        counts = ", ".join(f"{n} {status}" for status, n in sorted(trial.statuses.items()) if status != "missing")
        agree = "" if trial.agreement is None else f"; against the truth, on these alone: {trial.agreement:.4g}"
        yield f"  {trial.format} {_options(trial)}: {counts}{agree}"
        yield from (f"      remark: {note} ({n})" for note, n in trial.notes.most_common(REMARKS))
    if len(fitting) > SHOWN:
        yield f"  ... and {len(fitting) - SHOWN} more"
    yield "does not fit"
    for name in dict.fromkeys(t.format for t in tried):
        failed = [t for t in tried if t.format == name and not t.fits]
        if failed:
            yield f"  {name} {_options(failed[0])}: {failed[0].reason()[:400]}"
            yield from ([f"      and {len(failed) - 1} more choices of its options"] if len(failed) > 1 else [])
    if fitting:
        best = [t for t in fitting if t.agreement == fitting[0].agreement]
        also = f" ({len(best) - 1} others fit as well: the files cannot tell which is meant)" if len(best) > 1 else ""
        yield f"\nto try, if it is what is meant{also}:\n  {_command(fitting[0], asked)}"


def _drawn(trial: Trial, asked: Asked, manifest: pa.Table) -> str:
    from groundeval.inspection import overlay

    assert asked.out is not None
    assert trial.table is not None
    statuses = trial.table["status"].to_pylist()
    rows = [i for i, status in enumerate(statuses) if status == "answered"][:DRAWN]
    if not rows:
        return "no picture: no sample has an answer other than none"
    path, samples = asked.out / "overlay.png", manifest.take(rows)
    overlay.write(path, samples, _rows(trial, rows), _truth(asked, samples))
    ids = ", ".join(samples["sample_id"].to_pylist())
    return f"{path}: {ids}, read as {trial.format} {_options(trial)}; prediction red, truth green, both yellow"


def _options(trial: Trial) -> str:
    return " ".join(f"{key}={value}" for key, value in trial.said.items()) or "(no options)"


def _command(trial: Trial, asked: Asked) -> str:
    sets = [word for key, value in {**asked.said, **trial.said}.items() for word in ("--set", f"{key}={value}")]
    words = ["groundeval", "evaluate", asked.benchmark or "BENCHMARK", "--truth", str(asked.truth or "DIR")]
    words += ["--split", asked.split or "SPLIT", "--predictions", str(asked.path), "--format", trial.format, *sets]
    return shlex.join([*words, "--out", "OUT"])
