"""dvc: keep dvc.yaml in line with params.yaml.

DVC's templates can neither loop over models inside benchmarks nor list a stage's outputs by split, so the run table is
written here. One line a run; what a stage depends on and makes stands once, in the template below. Both are kept short, a
run's results are one folder, and no stage of a run names a parameter: DVC's work for a run has to stay some milliseconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from groundeval import closure, files, plan
from groundeval.errors import InputError
from groundeval.stages import settings

HEAD = """\
# Written by `groundeval dvc` from params.yaml: change that file and run the command again.
# DVC decides by content what is stale; Snakemake, forced, decides how and where it runs (SNAKEMAKE_PROFILE chooses).
params:
- params.yaml
stages:
"""
COMMAND = 'snakemake --profile "\\${{SNAKEMAKE_PROFILE:-envs/local}}" -s scripts/rules/{rules}.smk -F -- {targets}'


def run(params: Path, out: Path, check: bool) -> None:
    """Write dvc.yaml and the settings, or with `check` raise InputError where it does not list the runs of params.yaml."""
    wanted = text(plan.load(params))
    if not check:
        settings.run(params)
        with files.atomic(out) as temporary:
            temporary.write_text(wanted, encoding="utf-8")
    elif not out.is_file() or out.read_text(encoding="utf-8") != wanted:
        raise InputError(out, f"does not list the runs of {params}", "Run `groundeval dvc`.")


def check_in_stage() -> None:
    """Inside a DVC stage: a run that params.yaml has and dvc.yaml lacks would silently be left out."""
    if "DVC_STAGE" in os.environ:
        try:
            run(Path("params.yaml"), Path("dvc.yaml"), check=True)
        except InputError as error:
            print(error.line(), file=sys.stderr)
            raise SystemExit(2) from None


def text(planned: plan.Plan) -> str:
    """The content of dvc.yaml."""
    return HEAD + _settings(planned) + _data(planned) + _evaluate(planned) + _report(planned) + _shown(planned)


def _settings(planned: plan.Plan) -> str:
    """First of all: what params.yaml declares and the code, a small file a model. `persist`: only what changes is written."""
    readers = sorted({path for run in planned.runs for path in run.reader})
    deps = ["params.yaml", "requirements.lock", "scripts/groundeval", "scripts/rules", *readers]
    outs = f"    outs:\n    - {settings.FOLDER}:\n        persist: true\n"
    return f"  settings:\n    cmd: python -m groundeval settings\n{_list('deps', deps, 4)}{outs}"


def _data(planned: plan.Plan) -> str:
    rows = []
    for name, dataset in sorted(planned.datasets.items()):
        targets = " ".join(f"data/truth/{name}/{split}.parquet" for split in dataset.splits)
        rows.append(f'{name}: {{version: {dataset.version}, targets: "{targets}"}}')
    deps = [f"{settings.FOLDER}/${{key}}.json", "data/sources.yaml"]
    outs = ["data/raw/${key}/${item.version}", "data/raw/${key}/${item.version}.json"]
    outs += ["data/splits/${key}", "data/truth/${key}"]
    return _stage("data", rows, "${item.targets}", deps, outs)


def _evaluate(planned: plan.Plan) -> str:
    rows = [
        f"{r.benchmark}-{r.split}-{r.model}: {{benchmark: {r.benchmark}, split: {r.split}, model: {r.model}, "
        f"version: {planned.datasets[r.benchmark].version}}}"
        for r in _sorted(planned)
    ]
    folder = "results/${item.benchmark}/${item.split}/${item.model}"
    deps = [
        f"{settings.FOLDER}/${{item.benchmark}}/${{item.model}}.json",
        "data/predictions/${item.benchmark}/${item.model}",
        "data/splits/${item.benchmark}/${item.split}.parquet",
        "data/truth/${item.benchmark}/${item.split}.parquet",
        "data/raw/${item.benchmark}/${item.version}.json",
    ]
    return _stage("evaluate", rows, f"{folder}/provenance.json", deps, [folder])


def _report(planned: plan.Plan) -> str:
    # Exactly what Snakemake's rule has; of the results each split's folder, since thousands of files would take seconds.
    deps = [
        *closure.files(*plan.reporting(planned)),
        *plan.cards(planned),
        "scripts/rules/report.smk",
        "data/sources.yaml",
        *plan.pictured(planned),
        *sorted({f"results/{run.benchmark}/{run.split}" for run in planned.runs}),
    ]
    command = COMMAND.format(rules="report", targets="results/report")
    return f"  report:\n    cmd: {command}\n{_list('deps', deps, 4)}{_list('outs', ['results/report'], 4)}"


def _shown(planned: plan.Plan) -> str:
    """For `dvc metrics` and `dvc plots`: the curves are drawn by .dvc/plots/precision_recall.json, a line a curve."""
    axes = "template: precision_recall, x: recall, y: precision"
    plots = [f"{run.folder}/curves.csv: {{{axes}}}" for run in _sorted(planned)]
    return _list("metrics", [f"{run.folder}/summary.json" for run in _sorted(planned)], 0) + _list("plots", plots, 0)


def _stage(name: str, rows: list[str], targets: str, deps: list[str], outs: list[str]) -> str:
    table = "".join(f"      {row}\n" for row in rows)
    command = COMMAND.format(rules=name, targets=targets)
    body = _list("deps", deps, 6) + _list("outs", outs, 6)
    return f"  {name}:\n    foreach:\n{table}    do:\n      cmd: {command}\n{body}"


def _sorted(planned: plan.Plan) -> list[plan.Run]:
    return sorted(planned.runs, key=lambda run: run.folder)


def _list(key: str, values: list[str], indent: int) -> str:
    space = " " * indent
    return "" if not values else f"{space}{key}:\n" + "".join(f"{space}- {value}\n" for value in values)
