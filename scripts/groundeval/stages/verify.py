"""verify: can these results be believed? Offline, level by level, from structure down to the raw dataset."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from groundeval import plan
from groundeval.errors import InputError, first_of
from groundeval.provenance import results
from groundeval.stages import convert, provenance, recompute
from groundeval.stages import report as report_stage
from groundeval.verify import compare, content, independent, objects, signature, structure
from groundeval.verify.check import Check
from groundeval.verify.runs import METRICS, Run, find

LEVELS: Sequence[Callable[[Run], Check]] = (
    structure.check,
    partial(content.check, modules=provenance.scorer_modules),
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
    if special := structure.special(asked.results):
        yield asked.results.as_posix(), iter([_unreadable(special)])
        return
    for one in found:
        yield one.folder.as_posix(), _of_run(one, asked)
    yield asked.results.as_posix(), _of_all(found, asked)


def _unreadable(special: Sequence[Path]) -> Check:
    found = Check("level 0, structure")
    found.failed += [f"{path} is neither a file nor a folder; nothing was read" for path in special]
    return found


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
    roots = {run.root for run in runs}
    root = roots.pop() if len(roots) == 1 else None
    if root is not None and _is_project(asked.results, root):
        yield structure.rest(asked.results, runs)
        yield planned(runs, root, asked.results)
    if (asked.results / "report").is_dir() and asked.level >= 2:
        yield report(runs, asked.results / "report", asked.root or root or Path())
    cache = [root / objects.CACHE] if root is not None and asked.level >= 1 else []
    for store in [*(c for c in cache if c.is_dir()), *asked.stores]:
        yield objects.check(store)
    if asked.key is not None:
        yield signature.check(asked.results, asked.key)
    else:
        found, signed = Check("signature"), (asked.results / results.SIGNATURE).exists()
        said = "the results are signed; give --key" if signed else "who made them: the results are not signed"
        found.leave(said)
        yield found


def _is_project(folder: Path, root: Path) -> bool:
    return (root / "params.yaml").is_file() and (root / "results").is_dir() and folder.samefile(root / "results")


def planned(runs: Sequence[Run], root: Path, folder: Path) -> Check:
    """The runs and their parameters are those of params.yaml."""
    found = Check("params.yaml")
    with found.guarded("params.yaml"):
        wanted = plan.load(root / "params.yaml")
        here = {Path("results", run.folder.relative_to(folder)).as_posix(): run for run in runs}
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


def report(runs: Sequence[Run], folder: Path, root: Path) -> Check:
    """The report is what the runs give, every byte. A page that lacks something here, and differs, is not checked."""
    found = Check("report")
    with tempfile.TemporaryDirectory(prefix="groundeval-") as scratch, found.guarded("cannot be made again"):
        made = report_stage.report([run.folder / METRICS for run in runs], Path(scratch, "report"), root)
        here = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - report_stage.NOT_COUNTED
        found.expect(not (strange := here - set(made.names)), lambda: f"{first_of(sorted(strange))} is of no report")
        for name in made.names:
            with found.guarded(name):
                _same_page(found, folder / name, Path(scratch, "report", name), made.lacking.get(name, ()))
    return found


def _same_page(found: Check, path: Path, right: Path, lacking: Sequence[str]) -> None:
    found.expect(not path.is_symlink(), f"{path.name} is a link: its bytes stand elsewhere and may change")
    difference = compare.text_files(path, right)
    if difference is not None and lacking:
        found.unchecked.append(f"{path.name}: {'; '.join(lacking)}")
    else:
        found.expect(difference is None, str(difference))
