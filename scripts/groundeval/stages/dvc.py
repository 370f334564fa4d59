"""dvc: keep dvc.yaml in line with params.yaml.

DVC's templates can neither loop over models inside benchmarks nor list a stage's outputs by split, so the run table is
written here. One line a run; what a stage depends on and makes stands once, in the template below.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from groundeval import closure, files, plan
from groundeval.closure import PACKAGE
from groundeval.errors import InputError
from groundeval.provenance import statement

HEAD = """\
# Written by `groundeval dvc` from params.yaml: change that file and run the command again.
# DVC decides by content what is stale; Snakemake, forced, decides how and where it runs (SNAKEMAKE_PROFILE chooses).
stages:
"""
COMMAND = 'snakemake --profile "\\${{SNAKEMAKE_PROFILE:-envs/local}}" -s scripts/rules/{rules}.smk -F -- {targets}'
CODE = ("errors", "options", "files", "tables", "digests", "plan", "closure", "cli", "__init__", "__main__")

# The provenance names the code of split and prepare too: a run's numbers come from it.
SCORING = ("__init__", "split", "prepare", "convert", "score", "aggregate", "provenance")


def run(params: Path, out: Path, check: bool) -> None:
    """Write dvc.yaml, or with `check` raise InputError where it does not list the runs of params.yaml."""
    wanted = text(plan.load(params))
    if not check:
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
    return HEAD + _data(planned) + _evaluate(planned) + _report(planned)


def _data(planned: plan.Plan) -> str:
    rows = []
    for name, dataset in sorted(planned.datasets.items()):
        targets = " ".join(f"data/truth/{name}/{split}.parquet" for split in dataset.splits)
        rows.append(f'{name}: {{version: {dataset.version}, targets: "{targets}"}}')
    deps = [
        *_code("sources", "metrics", *_shared("benchmarks"), "benchmarks/${key}"),
        *_code(*(f"stages/{stage}.py" for stage in ("__init__", "download", "split", "prepare"))),
        *_code("provenance/__init__.py", "provenance/inputs.py"),
        "scripts/rules/data.smk",
        "data/sources.yaml",
        "requirements.lock",
    ]
    outs = ["data/raw/${key}/${item.version}", "data/raw/${key}/${item.version}.json"]
    outs += ["data/splits/${key}", "data/truth/${key}"]
    return _stage("data", rows, "data", "${item.targets}", deps, ["benchmarks.${key}.dataset"], outs)


def _evaluate(planned: plan.Plan) -> str:
    rows = [
        f"{r.benchmark}-{r.split}-{r.model}: {{benchmark: {r.benchmark}, split: {r.split}, model: {r.model}, "
        f'version: {planned.datasets[r.benchmark].version}, param: "{_param(r.model)}", reader: {_reader(r)}}}'
        for r in sorted(planned.runs, key=lambda r: r.folder)
    ]
    folder = "results/${item.benchmark}/${item.split}/${item.model}"
    deps = [
        *_code("sources", "metrics", *_shared("benchmarks"), "benchmarks/${item.benchmark}"),
        *_code(*_shared("formats")),
        "${item.reader}",
        *_code("provenance", *(f"stages/{stage}.py" for stage in SCORING)),
        "scripts/rules/evaluate.smk",
        "requirements.lock",
        "data/predictions/${item.benchmark}/${item.model}",
        "data/splits/${item.benchmark}/${item.split}.parquet",
        "data/truth/${item.benchmark}/${item.split}.parquet",
        "data/raw/${item.benchmark}/${item.version}.json",
    ]
    outs = [f"{folder}/{name}" for name in ("predictions.parquet", "samples.parquet", "histograms.parquet")]
    outs += [f"{folder}/metrics.json", f"{folder}/provenance.json"]
    params = ["benchmarks.${item.benchmark}.models.${item.param}"]
    targets = f"{folder}/provenance.json"
    return _stage("evaluate", rows, "evaluate", targets, deps, params, outs, [f"{folder}/summary.json"], _plot(folder))


def _report(planned: plan.Plan) -> str:
    # Exactly what Snakemake's rule has: whole folders would rerun the report at each comment in a protocol.
    deps = [
        *closure.files("stages.report", *(f"benchmarks.{name}" for name in planned.datasets)),
        *plan.cards(planned),
        "scripts/rules/report.smk",
        *sorted(f"{run.folder}/{name}" for run in planned.runs for name in ("curves.csv", "metrics.json")),
    ]
    # Of the provenance the report shows this one value: a comment in the code changes the file, not the report.
    states = sorted(f"{run.folder}/{statement.FILE}: [predicate.tree.state]" for run in planned.runs)
    command = COMMAND.format(rules="report", targets="results/report/index.html")
    outs = [f"results/report/{name}" for name in ("index.html", "leaderboard.csv", "leaderboard.md")]
    return (
        f"  report:\n    cmd: {command}\n{_list('deps', deps, 4)}{_list('params', states, 4)}{_list('outs', outs, 4)}"
    )


def _stage(
    name: str,
    rows: list[str],
    rules: str,
    targets: str,
    deps: list[str],
    params: list[str],
    outs: list[str],
    metrics: list[str] | None = None,
    plots: str = "",
) -> str:
    table = "".join(f"      {row}\n" for row in rows)
    command = COMMAND.format(rules=rules, targets=targets)
    body = _list("deps", deps, 6) + _list("params", params, 6) + _list("outs", outs, 6)
    body += _list("metrics", metrics, 6) if metrics else ""
    body += plots
    return f"  {name}:\n    foreach:\n{table}    do:\n      cmd: {command}\n{body}"


def _plot(folder: str) -> str:
    """The precision-recall curves, drawn by .dvc/plots/precision_recall.json: a line a curve."""
    settings = {"template": "precision_recall", "x": "recall", "y": "precision"}
    lines = "".join(f"          {key}: {value}\n" for key, value in settings.items())
    return f"      plots:\n      - {folder}/curves.csv:\n{lines}"


def _reader(run: plan.Run) -> str:
    """The file that reads a run's predictions: a format's, or the user's own."""
    return run.adapter or f"scripts/groundeval/formats/{run.format}.py"


def _code(*parts: str) -> list[str]:
    """Paths of code; those that every stage uses stand first."""
    common = [f"{name}.py" for name in CODE] if "sources" in parts else []
    return [f"scripts/groundeval/{part}" for part in (*common, *parts)]


def _shared(area: str) -> list[str]:
    """What the benchmarks, or the formats, have in common: modules whose names start with an underscore."""
    return sorted(f"{area}/{path.name}" for path in (PACKAGE / area).glob("_*.py"))


def _list(key: str, values: list[str], indent: int) -> str:
    space = " " * indent
    return f"{space}{key}:\n" + "".join(f"{space}- {value}\n" for value in values)


def _param(model: str) -> str:
    """A model's name as part of a DVC parameter path: a dot would split it, so any one character stands there."""
    return re.sub(r"\.", "?", model)
