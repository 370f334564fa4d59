"""inspect: what a user's prediction files are, which formats and options they fit, and the command to try.

It advises. A fit says that files can be read so, not that they are meant so; only the user knows what is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, formats, options, tables
from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.inspection import advice, contents, trials
from groundeval.inspection import part as parts
from groundeval.inspection.trials import Trial
from groundeval.sources.folder import Source
from groundeval.stages import aggregate, score, split

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
    def declared(self) -> Mapping[str, options.Option]:
        """The benchmark's options."""
        return benchmarks.record(self.benchmark).options if self.benchmark else {}

    @property
    def said_own(self) -> dict[str, Any]:
        """Of what was said, what concerns the benchmark."""
        return {key: value for key, value in self.said.items() if key in self.declared}

    @property
    def own(self) -> dict[str, Any]:
        """The benchmark's options with their values."""
        return options.resolve(self.declared, self.said_own, str(self.benchmark))


def run(asked: Asked) -> None:
    """Print what was found; write overlay.png to `out`."""
    for line in _lines(asked):
        print("".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in line), flush=True)


def _lines(asked: Asked) -> Iterator[str]:
    _check_said(asked)
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
    yield from advice.told(tried, fitting)
    if fitting:
        yield from advice.to_try(fitting, asked.path, asked.benchmark, asked.truth, asked.split, asked.said_own)
    if fitting and asked.out is not None:
        yield _drawn(fitting[0], asked, known)


def _check_said(asked: Asked) -> None:
    known = {key for name in _names(asked) for key in formats.record(name).options} | set(asked.declared)
    for key in asked.said:
        if key not in known:
            raise InputError("--set", f"unknown option {quoted(key)}{did_you_mean(key, known)}", "Correct the name.")


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
    protocol = benchmarks.part(benchmark, "protocol")
    measured = protocol.metrics(aggregate.arrays(counted), histograms, trial.options)
    value: float | None = measured[benchmarks.record(benchmark).headline].value
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
    return f"{path}: {ids}, read as {trial.format} {advice.options(trial)}; prediction red, truth green, both yellow"
