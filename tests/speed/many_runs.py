"""A project of very many runs, and a stand-in for the commands: what the engines themselves cost."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from pathlib import Path

import yaml

from groundeval import benchmarks, plan
from groundeval.provenance import results, statement
from tests.workflow.project import ROOT, Project, make_project

# Stands for every command of the pipeline: it writes what the command was told to write, and computes nothing.
STUB = """\
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
        download) kind=folder ;;
        --out | --histograms | --summary | --curves)
            mkdir -p "$(dirname "$2")"
            if [ "$kind" = folder ]; then mkdir -p "$2" && : >"$2/file" && : >"$2.json"; else : >"$2"; fi
            shift
            ;;
    esac
    shift
done
"""


def project(root: Path, models: int, names: list[str]) -> Project:
    """So many models on the first split of each benchmark, with a prediction file each."""
    root.mkdir()
    made, blocks = make_project(root), {}
    for name in names:
        declared = benchmarks.part(name, "demo").MODELS["almost"]
        dataset = {"version": "demo", "splits": [benchmarks.record(name).splits[0]]}
        blocks[name] = {"dataset": dataset, "models": {f"model{n}": deepcopy(declared) for n in range(models)}}
        for number in range(models):
            folder = root / f"data/predictions/{name}/model{number}"
            folder.mkdir(parents=True)
            (folder / "predictions.json").write_text("[]", encoding="utf-8")
    (root / "params.yaml").write_text(yaml.safe_dump({"benchmarks": blocks}), encoding="utf-8")
    return made


def stub(made: Project) -> str:
    """A folder for PATH in which `python` is the stub."""
    folder = made.root / "stub"
    folder.mkdir()
    (folder / "python").write_text(STUB, encoding="utf-8")
    (folder / "python").chmod(0o755)
    return str(folder)


def finished(made: Project) -> None:
    """Write a file of some bytes for everything that the pipeline makes, each with other bytes."""
    planned = plan.load(made.root / "params.yaml")
    for name, dataset in planned.datasets.items():
        (made.root / dataset.raw).mkdir(parents=True)
        tables = [f"data/{kind}/{name}/{split}.parquet" for kind in ("splits", "truth") for split in dataset.splits]
        for path in (f"{dataset.raw}/file", dataset.record, *tables):
            _write(made.root / path)
    for run in planned.runs:
        for name in (*results.PIPELINE, statement.FILE):
            _write(made.root / run.folder / name)
    _write(made.root / "results/report/index.html")


def _write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"file": str(path), "predicate": {"tree": {"state": "clean", "commit": "0"}}}))


def with_dvc(made: Project) -> None:
    """Make it a DVC repository in which nothing is recorded yet."""
    shutil.copytree(ROOT / ".dvc", made.root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp", "config.local"))
    made.run("git", "init", "-q")
    made.run("groundeval", "dvc")
