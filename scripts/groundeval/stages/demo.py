"""demo: the predictions of the demo models, the whole pipeline through Snakemake, the leaderboard in the terminal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from groundeval import benchmarks, plan
from groundeval.errors import InputError
from groundeval.stages.download import DEMO_SEED


def predictions(planned: plan.Plan, replace: bool = False) -> list[Path]:
    """Write the prediction folders that the demo versions lack; a folder that is there is left alone."""
    made = []
    for name, dataset in planned.datasets.items():
        models = sorted({r.model: r for r in planned.runs if r.benchmark == name}.items())
        wanted = [Path(run.delivered) for _, run in models]
        if dataset.version == "demo" and (replace or not all(w.is_dir() for w in wanted)):
            made += _deliver(name, [w for w in wanted if replace or not w.is_dir()])
    return made


def run(cores: int, params: Path = Path("params.yaml")) -> None:
    """Everything from nothing to the report."""
    planned = plan.load(params)
    print("Writing the demo models' predictions ...", flush=True)
    for folder in predictions(planned):
        print(f"  {folder}", flush=True)
    command = ["snakemake", "--profile", "envs/local", "--cores", str(cores), "--quiet", "rules", "--"]
    print("Running the pipeline: " + " ".join(command[:-1]), flush=True)
    done = subprocess.run(command, check=False, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    if done.returncode:
        raise InputError("snakemake", "the pipeline stopped", "See the message above; logs stand in results/logs.")
    show(planned)


def show(planned: plan.Plan) -> None:
    """Print the leaderboard and where the report is."""
    from groundeval.report import leaderboard

    files = [Path(run.folder, "metrics.json") for run in planned.runs]
    leaderboard.print_terminal([json.loads(file.read_text(encoding="utf-8")) for file in files], files=files)
    print(f"\nReport: {Path('results/report/index.html').resolve()}", flush=True)


def _deliver(benchmark: str, folders: list[Path]) -> list[Path]:
    demo = benchmarks.part(benchmark, "demo")
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch, "raw")
        raw.mkdir()
        demo.write(raw, DEMO_SEED)
        for folder in folders:
            if folder.name not in demo.MODELS:
                print(f"{folder}: not a demo model, no predictions there yet", file=sys.stderr)
                continue
            made = Path(scratch, folder.name)
            made.mkdir()
            demo.predict(raw, made, folder.name, DEMO_SEED)
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(made, folder)
    return [f for f in folders if f.is_dir()]
