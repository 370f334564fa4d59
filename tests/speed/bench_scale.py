"""Hundreds of models: what Snakemake and DVC themselves cost, against what is allowed to them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from groundeval import benchmarks
from tests.speed import Result, compare, cpu, many_runs
from tests.workflow.project import Project

MODELS, ALLOWED = 500, 30.0  # on every benchmark; seconds of CPU
SIMULATED, A_JOB = 200, 0.15  # on one benchmark; seconds of CPU of a job that does nothing
A_RECORD = 0.05  # seconds of CPU of a run: eight files are hashed and copied to the cache
STAGES = 4  # a run: convert, score, aggregate, provenance


def run() -> list[Result]:
    """A question to either engine about 500 models on all benchmarks; a run of 200 models whose jobs compute nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        return [
            *_questions(Path(scratch, "many")),
            _simulated(Path(scratch, "simulated")),
            _start_up(Path(scratch, "few")),
        ]


def _questions(root: Path) -> list[Result]:
    names = benchmarks.names()
    project = many_runs.project(root, MODELS, names)
    label, allowed = f"for {MODELS} models x {len(names)} benchmarks", f"{ALLOWED:.0f} s"
    planned: list[str] = []
    dry = cpu(lambda: planned.append(project.snakemake("-n", "--quiet", "rules")), children=True)
    assert f"score {MODELS * len(names)}" in " ".join(planned[0].split())
    many_runs.finished(project)
    many_runs.with_dvc(project)
    commit = cpu(lambda: project.run("dvc", "commit", "-f", "-q"), children=True)
    said: list[str] = []
    status = cpu(lambda: said.append(project.run("dvc", "status")), children=True)
    assert "up to date" in said[0]
    return [
        Result(f"snakemake -n {label}", allowed, dry, ALLOWED, 1),
        Result(f"dvc status {label}, all recorded", allowed, status, ALLOWED, 1),
        Result(f"dvc commit -f {label}", f"{A_RECORD} s a run", commit, A_RECORD * MODELS * len(names), 1),
    ]


def _simulated(root: Path) -> Result:
    project = many_runs.project(root, SIMULATED, ["grefcoco"])
    path = f"{many_runs.stub(project)}:"
    targets = [f"results/grefcoco/train/model{number}/provenance.json" for number in range(SIMULATED)]
    spent = cpu(lambda: _run(project, path, targets), children=True)
    assert all((project.root / target).is_file() for target in targets)
    return Result(
        f"Snakemake's own work for {SIMULATED} models", f"{A_JOB} s a job", spent, A_JOB * SIMULATED * STAGES, 1
    )


def _run(project: Project, stub: str, targets: list[str]) -> None:
    """With the stub before everything else in a job's PATH."""
    command = f'export PATH="{stub}$PATH"; exec snakemake --profile envs/local --cores 2 --quiet all -- "$@"'
    project.run("bash", "-c", command, "bash", *targets)


def _start_up(root: Path) -> Result:
    project = many_runs.project(root, 1, ["grefcoco"])
    imports = "import snakemake.cli, snakemake.workflow, snakemake.scheduling.job_scheduler"
    return compare(
        "snakemake -n of one model",
        "Snakemake's imports",
        lambda: project.snakemake("-n"),
        lambda: project.run("python", "-c", imports),
        3.0,
        children=True,
    )
