"""verify: can these results be believed? Offline, level by level, from structure down to the raw dataset."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from groundeval import plan
from groundeval.errors import InputError, first_of
from groundeval.provenance import results
from groundeval.stages import convert, recompute
from groundeval.stages import report as report_stage
from groundeval.verify import compare, content, independent, objects, signature, structure
from groundeval.verify.check import Check
from groundeval.verify.runs import METRICS, REPORT, Run, find

LEVELS: Sequence[Callable[[Run], Check]] = (
    structure.check,
    content.check,
    recompute.metrics,
    recompute.samples,
    recompute.predictions,
    recompute.truth,
)
DEFAULT = 3


@dataclass(frozen=True)
class Asked:
    """What to verify, and what with."""

    results: Path
    level: int = DEFAULT
    key: Path | None = None
    root: Path | None = None
    truth: Path | None = None
    predictions: Path | None = None
    stores: Sequence[Path] = ()
    independent: int = 0  # samples a run, 0 for none
    seed: int = 0
    runs: list[Run] = field(default_factory=list)


def run(asked: Asked) -> bool:
    """Print every verdict; True where nothing failed. InputError where there is nothing to verify."""
    if not 0 <= asked.level < len(LEVELS):
        raise InputError("--level", f"{asked.level} is no level", f"Say 0 to {len(LEVELS) - 1}.")
    failed = total = 0
    for heading, checks in _sections(asked):
        print(heading)
        for found in checks:
            print("\n".join(found.lines()), flush=True)
            total, failed = total + 1, failed + bool(found.failed)
    print(f"{'FAIL' if failed else 'PASS'}: {total} checks, {failed} failed")
    return not failed


def _sections(asked: Asked) -> Iterator[tuple[str, Iterator[Check]]]:
    found = find(asked.results, asked.root)
    for one in found:
        yield one.folder.as_posix(), _of_run(one, asked)
    yield asked.results.as_posix(), _of_all(found, asked)


def _of_run(run: Run, asked: Asked) -> Iterator[Check]:
    alone = asked.truth is not None and asked.predictions is not None and _is_alone(run)
    for level in LEVELS[: min(asked.level, 2 if alone else asked.level) + 1]:
        yield level(run)
    if alone and asked.level > 2 and asked.truth and asked.predictions:
        yield recompute.whole(run, asked.truth, asked.predictions)
    if asked.independent:
        yield independent.check(run, asked.independent, asked.seed)


def _is_alone(run: Run) -> bool:
    try:
        return not run.piped
    except InputError:
        return False


def _of_all(runs: Sequence[Run], asked: Asked) -> Iterator[Check]:
    """What concerns the folder of results as a whole: the plan, the report, DVC's stores, the signature."""
    roots = {run.root.resolve() for run in runs}
    root = roots.pop() if len(roots) == 1 else None
    if root is not None and asked.results.resolve() == root / "results" and (root / "params.yaml").is_file():
        yield planned(runs, root)
    if (asked.results / "report").is_dir() and asked.level >= 2:
        yield report(runs, asked.results / "report")
    cache = [root / objects.CACHE] if root is not None and asked.level >= 1 else []
    for store in [*(c for c in cache if c.is_dir()), *asked.stores]:
        yield objects.check(store)
    if asked.key is not None:
        yield signature.check(asked.results, asked.key)
    elif (asked.results / results.SIGNATURE).exists():
        found = Check("signature")
        found.unchecked.append("the results are signed; give --key")
        yield found


def planned(runs: Sequence[Run], root: Path) -> Check:
    """The runs and their parameters are those of params.yaml."""
    found = Check("params.yaml")
    with found.guarded("params.yaml"):
        wanted = plan.load(root / "params.yaml")
        here = {run.folder.resolve().relative_to(root).as_posix(): run for run in runs}
        there = {run.folder: run for run in wanted.runs}
        absent, extra = sorted(there.keys() - here.keys()), sorted(here.keys() - there.keys())
        found.expect(not absent, f"{len(absent)} runs of params.yaml have no results, {first_of(absent)}")
        found.expect(not extra, f"{len(extra)} results are of no run in params.yaml, {first_of(extra)}")
        for name in sorted(here.keys() & there.keys()):
            with found.guarded(name):
                _parameters(found, here[name], there[name], wanted.datasets[there[name].benchmark])
    return found


def _parameters(found: Check, run: Run, wanted: plan.Run, dataset: plan.Dataset) -> None:
    options = convert.declared(wanted.benchmark, wanted.format, {**dataset.options, **wanted.options})
    now = {"format": wanted.format, "options": options, "allow_incomplete": wanted.allow_incomplete}
    made = run.predicate["parameters"]
    for key, value in now.items():
        what = f"{wanted.folder}: made with {key} {made[key]!r}, params.yaml says {value!r}"
        found.expect(made[key] == value, what)
    version = run.predicate["dataset"]["version"]
    what = f"{wanted.folder}: made from dataset version {version!r}, params.yaml says {dataset.version!r}"
    found.expect(version == dataset.version, what)


def report(runs: Sequence[Run], folder: Path) -> Check:
    """The report is what the runs give, every byte."""
    found = Check("report")
    with tempfile.TemporaryDirectory(prefix="groundeval-") as scratch, found.guarded("cannot be made again"):
        report_stage.report([run.folder / METRICS for run in runs], Path(scratch))
        for name in REPORT:
            with found.guarded(name):
                difference = compare.text_files(folder / name, Path(scratch, name))
                found.expect(difference is None, str(difference))
    return found
