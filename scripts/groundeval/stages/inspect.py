"""inspect: what a user's prediction files are, which formats and options they fit, and the command to try.

It advises. A fit says that files can be read so, not that they are meant so; only the user knows what is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, formats
from groundeval.errors import InputError
from groundeval.inspection import advice, choices, contents, hints, madeup, rank
from groundeval.inspection import part as parts
from groundeval.inspection.trials import Trial, tried
from groundeval.sources.folder import Source
from groundeval.stages import split
from groundeval.stages.viewing import Asked as Asked
from groundeval.stages.viewing import View

DRAWN = 3
_WHOLE = 1 << 26  # bytes of a JSON file that is read to its end with the format that fits


def run(asked: Asked) -> None:
    """Print what was found; write overlay.png to `out`."""
    for line in _lines(asked):
        print("".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in line), flush=True)


def _lines(asked: Asked) -> Iterator[str]:
    asked.check()
    source = Source(asked.path)
    if not source.names():
        raise InputError(asked.path, "is empty: there is no file in it", "Name the folder that the model wrote into.")
    manifest = _manifest(asked, asked.own({})) if asked.truth else None
    seen = parts.of(source, madeup.known(manifest))
    found = contents.look(seen)
    yield from contents.told(source, seen, found)
    facts = hints.of(seen, found)
    if manifest is not None:
        mapping = any("map" in formats.record(name).options for name in asked.formats)
        through = [*facts.texts["map"], *facts.texts["annotations"]]
        yield from contents.matched(seen.ids, manifest, through, mapping)
    else:
        yield "ids and sizes are not checked; give --benchmark, --truth and --split"
    views = [View(asked, seen, facts, manifest)]
    trials = list(views[0].trials())
    if not any(t.fits for t in trials):
        views += _other_views(views[0])
        read = {trial.digest for trial in trials}
        trials += [t for view in views[1:] for t in view.trials() if t.usable and t.digest not in read]
    fitting, partly = (rank.by_convention([t for t in trials if kind(t)]) for kind in (_fits, _partly))
    yield from advice.told(trials, fitting, partly)
    if best := fitting or partly:
        view = next(v for v in views if v.more == best[0][0].own)
        yield from _proposed(best, view, source)


def _fits(trial: Trial) -> bool:
    return trial.fits


def _partly(trial: Trial) -> bool:
    return trial.partly


def _manifest(asked: Asked, own: Mapping[str, Any]) -> pa.Table:
    if asked.benchmark is None or asked.truth is None:
        raise InputError("--truth", "is given without --benchmark", "Say which benchmark it is.")
    name = asked.split or benchmarks.record(asked.benchmark).splits[0]
    return split.manifest(asked.benchmark, asked.truth, name, own, Counter())[0]


def _other_views(view: View) -> list[View]:
    """The samples under each other choice of one of the benchmark's options, where they are others."""
    found: list[View] = []
    for key, option in view.asked.declared.items() if view.manifest is not None else ():
        for value in option.choices if key not in view.asked.said else ():
            try:
                manifest = _manifest(view.asked, view.asked.own({key: value}))
            except InputError:
                continue
            if not any(manifest.equals(v.manifest) for v in [view, *found]):
                found.append(View(view.asked, view.seen, view.facts, manifest, {key: value}))
    return found


def _proposed(groups: list[list[Trial]], view: View, source: Source) -> Iterator[str]:
    """The command of the best, what it leaves to the user to choose, and a picture of it."""
    asked = view.asked
    best = view.again(choices.with_threshold(groups[0], asked.said))
    absent: int | None = None
    if view.manifest is not None:
        view, absent = _most_complete(view, _answered(best, view, source))
        best = view.again(choices.with_absent(best, absent or 0))
    same = advice.others(groups)
    yield from advice.to_try(best, same, asked.path, asked.benchmark, asked.truth, asked.split, asked.said_own)
    yield from (f"  {line}" for line in choices.told(best, absent, view.manifest.num_rows if view.manifest else 0))
    if asked.out is not None:
        yield _drawn(best, view)


def _answered(best: Trial, view: View, source: Source) -> set[str]:
    """The samples that have an answer, usable or not, in the whole source."""
    assert view.manifest is not None
    texts = len(view.seen.part.names()) == len(source.names())
    table, manifest = best.table, view.samples(best.format)
    if texts and not view.seen.whole and sum(len(source.read(n)) for n in source.names()) <= _WHOLE:
        manifest = view.manifest
        table = tried(best.format, source, manifest, view.own, best.said).table
    elif not view.seen.whole:
        return madeup.speaks_of(manifest=view.manifest, seen=view.seen)
    statuses = [] if table is None else table["status"].to_pylist()
    return {i for i, s in zip(manifest["sample_id"].to_pylist(), statuses, strict=False) if s != "missing"}


def _most_complete(view: View, answered: set[str]) -> tuple[View, int]:
    """The choice of the benchmark's options that leaves the fewest samples without an answer; how many."""

    def absent(of: View) -> int:
        assert of.manifest is not None
        names = set(of.manifest["sample_id"].to_pylist())
        return len(names - answered) if answered <= names else of.manifest.num_rows

    first = absent(view)
    if not first or view.more:
        return view, first
    best = min([view, *_other_views(view)], key=absent)
    return (best, absent(best)) if absent(best) < first else (view, first)


def _drawn(best: Trial, view: View) -> str:
    from groundeval.inspection import overlay

    assert view.asked.out is not None
    assert best.table is not None
    rows = [i for i, status in enumerate(best.table["status"].to_pylist()) if status == "answered"][:DRAWN]
    if not rows:
        return "no picture: no sample has an answer other than none"
    samples = view.samples(best.format).take(rows)
    truth = view.truth.of(samples) if view.truth is not None else None
    dataset = overlay.Dataset(samples, truth, view.asked.benchmark, view.asked.truth, best.options)
    path = view.asked.out / "overlay.png"
    photos = overlay.write(path, dataset, best.table.take(rows))
    ids = ", ".join(samples["sample_id"].to_pylist())
    read = f"{ids}, read as {best.format} {advice.options(best)}"
    return f"{path}: {read}; {photos} of {len(rows)} over their photo; {overlay.LEGEND}"
