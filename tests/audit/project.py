"""A committed copy of the project in which everything has run once, copies of it to tamper with, and a forger's tools."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, options, plan, tables
from groundeval.provenance import results, statement
from groundeval.stages import aggregate, convert, demo, download, prepare, provenance, report, score, split, verify
from tests.workflow.project import ROOT, Project, make_project

PARAMS = Path(__file__).with_name("params.yaml")
TINY = Path(__file__).with_name("tiny.yaml")
IGNORED = shutil.ignore_patterns("__pycache__")
MATERIAL = ("data", "results", "params.yaml")


def commit(project: Project, message: str = "a commit") -> str:
    """Commit everything that git may see, under a name and date that are the same everywhere; the commit's id."""
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()}
    project.run("git", "add", "-A")
    project.run("git", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", message, **who)
    return project.run("git", "rev-parse", "HEAD").strip()


_WHO = {"NAME": "tests", "EMAIL": "tests@localhost", "DATE": "2026-01-01T00:00:00+00:00"}


def fresh(root: Path, params: Path = PARAMS) -> Project:
    """A copy of the project at `root`, committed, with predictions and nothing computed."""
    root.mkdir(parents=True, exist_ok=True)
    made = make_project(root)
    shutil.copy2(params, root / "params.yaml")
    shutil.copy2(ROOT / ".gitattributes", root)
    shutil.copytree(ROOT / ".dvc", root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    made.run("git", "init", "-q", "-b", "main")
    made.run(sys.executable, "-m", "groundeval", "dvc")
    commit(made)
    made.run(sys.executable, "-m", "groundeval", "demo", "--predictions-only")
    return made


def copy_of(project: Project, root: Path, *names: str) -> Project:
    """Another tree with the same bytes and times, or with the folders and files of these names alone."""
    for name in names:
        if (project.root / name).is_dir():
            shutil.copytree(project.root / name, root / name, symlinks=True)
        else:
            shutil.copy2(project.root / name, root / name)
    if not names:
        shutil.copytree(project.root, root, symlinks=True, ignore=IGNORED)
    return Project(root)


@contextmanager
def inside(project: Project) -> Iterator[None]:
    """In the project's folder, since inputs are named relative to it."""
    before = Path.cwd()
    os.chdir(project.root)
    try:
        yield
    finally:
        os.chdir(before)


def verified(project: Project, level: int = 3, below: str = "", **asked: Any) -> str:
    """What verify says of the results, or of those below one of their folders."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        passed = verify.run(verify.Asked(project.root / "results" / below, level, **asked))
    text = said.getvalue()
    assert passed == text.splitlines()[-1].startswith("PASS")
    return text


def everything(project: Project, **extra: str) -> None:
    """All runs of the plan by the project's own code, stage by stage in one process: what Snakemake would make, sooner."""
    program = f"import sys; sys.path.append({str(ROOT)!r}); from tests.audit.project import make_all; make_all()"
    project.run(sys.executable, "-c", program, **extra)


def made_alone(root: Path, benchmark: str, model: str) -> Project:
    """One demo run, by the code of this process."""
    split_name = "val" if benchmark == "grefcoco" else "test"
    entry = {"dataset": {"version": "demo", "splits": [split_name]}}
    models = {model: benchmarks.part(benchmark, "demo").MODELS[model]}
    (root / "params.yaml").write_text(json.dumps({"benchmarks": {benchmark: {**entry, "models": models}}}))
    with inside(project := Project(root)):
        demo.predictions(plan.load(Path("params.yaml")))
        make_all()
    return project


def make_all() -> None:
    """Every stage of every run of params.yaml, in the current folder."""
    planned = plan.load(Path("params.yaml"))
    for name, dataset in planned.datasets.items():
        download.run(name, dataset.version, Path(dataset.raw), Path("data/sources.yaml"))
        chosen = options.resolve(benchmarks.record(name).options, dataset.options, name)
        for split_name in dataset.splits:
            manifest, truth = _tables(name, split_name)
            split.run(name, Path(dataset.raw), split_name, chosen, manifest, dataset.version)
            prepare.run(Path(dataset.raw), manifest, truth)
    for run in planned.runs:
        _make(run, Path(planned.datasets[run.benchmark].raw + ".json"))
    report.report([Path(run.folder, results.METRICS) for run in planned.runs], Path("results/report"))


def _make(run: plan.Run, raw: Path) -> None:
    (manifest, truth), folder = _tables(run.benchmark, run.split), Path(run.folder)
    files, made = Path(run.predictions), (folder / results.SAMPLES, folder / results.HISTOGRAMS)
    predictions = folder / results.PREDICTIONS
    convert.run(run.benchmark, manifest, files, run.format, run.options, predictions, run.allow_incomplete)
    score.run(manifest, truth, predictions, run.model, *made)
    aggregate.run(*made, *(folder / name for name in (results.METRICS, results.SUMMARY, results.CURVES)))
    provenance.run(folder, manifest, truth, files, raw, folder / statement.FILE)


def _tables(benchmark: str, split_name: str) -> tuple[Path, Path]:
    return Path(f"data/splits/{benchmark}/{split_name}.parquet"), Path(f"data/truth/{benchmark}/{split_name}.parquet")


def forge(project: Project, run: str) -> None:
    """Write a provenance that fits whatever stands in the run's folder now: what anybody can do without a key."""
    folder, known = Path("results", run), json.loads((project.root / "results" / run / "provenance.json").read_bytes())
    files = {name: Path(value["name"]) for name, value in known["predicate"]["inputs"].items()}
    with inside(project):
        provenance.run(
            folder, files["manifest"], files["truth"], files["predictions"], files["raw"], folder / "provenance.json"
        )


def forge_metrics(project: Project, run: str) -> None:
    """Metrics and provenance that fit the samples table as it is now."""
    folder = project.root / "results" / run
    names = (results.SAMPLES, results.HISTOGRAMS, results.METRICS, results.SUMMARY, results.CURVES)
    aggregate.run(*(folder / name for name in names))
    forge(project, run)


def score_again(project: Project, run: str) -> None:
    """Counts, metrics and provenance that fit the tables as they are now."""
    benchmark, split, model = run.split("/")
    with inside(project):
        folder = Path("results", run)
        read = (Path(f"data/{kind}/{benchmark}/{split}.parquet") for kind in ("splits", "truth"))
        made = (folder / "samples.parquet", folder / "histograms.parquet")
        score.run(*read, folder / "predictions.parquet", model, *made)
    forge_metrics(project, run)


def edit_json(path: Path, change: Callable[[Any], Any]) -> None:
    """Change a JSON file in place, in the bytes that the project itself would write."""
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def edit_table(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change a table's rows in place and write it as the project itself would."""
    table, said = tables.read(path), tables.meta(path)
    rows = table.to_pylist()
    change(rows)
    schema = table.schema.remove_metadata()
    tables.write(path, pa.Table.from_pylist(rows, schema=schema).to_batches(), schema, said)


def edit_meta(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what a table says of itself."""
    table, said = tables.read(path), tables.meta(path)
    change(said)
    schema = table.schema.remove_metadata()
    tables.write(path, table.to_batches(), schema, said)


def flip(path: Path, at: int = -20) -> None:
    """Flip one bit, keeping mode and times."""
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
