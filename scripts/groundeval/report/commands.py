"""The commands that make a number again, as they are typed in the project's folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from groundeval.provenance import results, statement
from groundeval.report.collect import Run
from groundeval.report.text import told

COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")  # results may come from anybody, and this is pasted into a shell
DIRTY = "  # and changes that stand in no commit: the tree was dirty"


@dataclass(frozen=True)
class Made:
    """How a run was made. piped: by the pipeline, which keeps the predictions' table; commit: of the code, where known."""

    piped: bool
    commit: str | None


def made(folder: Path) -> Made:
    """How the run whose metrics.json stands in `folder` was made."""
    provenance = folder / statement.FILE
    commit = str(statement.predicate(provenance)["tree"]["commit"]) if provenance.exists() else ""
    return Made((folder / results.PREDICTIONS).is_file(), commit if COMMIT.fullmatch(commit) else None)


def folder(run: Run, how: Made) -> str:
    """Where the pipeline puts a run; what `groundeval evaluate` was told is not known."""
    return f"results/{run.benchmark}/{run.split}/{run.model}" if how.piped else "OUT"


def again(run: Run, how: Made, metrics: Sequence[str]) -> list[str]:
    """From the commit to these numbers of a run."""
    where = shlex.quote(folder(run, how))
    first = [] if how.commit is None else [f"git checkout {how.commit}{DIRTY if run.tree == 'dirty' else ''}"]
    pipeline = ["dvc pull", f"dvc repro {shlex.quote(f'evaluate@{run.benchmark}-{run.split}-{run.model}')}"]
    steps = [*first, *(pipeline if how.piped else [_evaluate(run)]), f"groundeval verify {where}"]
    return steps + [f"groundeval trace {where} --metric {shlex.quote(name)}" for name in metrics]


def _evaluate(run: Run) -> str:
    sets = "".join(
        f" --set {shlex.quote(told({name: value}))}" for name, value in run.options.items() if value is not None
    )
    parts = f"{shlex.quote(run.benchmark)} --truth DIR --split {shlex.quote(run.split)} --predictions FILE"
    return f"groundeval evaluate {parts} --format {shlex.quote(run.format)}{sets} --model {shlex.quote(run.model)} --out OUT"


def trace(run: Run, how: Made, metric: str, sample: str) -> str:
    """From a sample's counts to its two sides."""
    where = shlex.quote(folder(run, how))
    return f"groundeval trace {where} --metric {shlex.quote(metric)} --sample {shlex.quote(sample)}"
