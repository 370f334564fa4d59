"""settings: what numbers depend on beside their data, as one small file a model and one a dataset, for DVC.

DVC reads params.yaml again for each stage that names a parameter, and hashes and lists all code for each stage that names
it: with thousands of runs that would be most of its work. So one stage says in a file what params.yaml declares, and a
digest of the code, the one that Snakemake's rules have too; the stages of the model depend on this file alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from groundeval import closure, plan
from groundeval.digests import file_sha256
from groundeval.stages import provenance

FOLDER = Path("data/settings")
DATA = ("download", "split", "prepare")
# Between a stage of DVC and the stages' code: no import of theirs leads here.
COMMAND = ("__main__.py", "cli.py", "plan.py", *(f"commands/{name}.py" for name in ("__init__", "arguments", "stages")))


def run(params: Path, out: Path = FOLDER) -> None:
    """Make `out` hold exactly the settings of params.yaml. A file that says the same stays as it is, with its time."""
    wanted = {out / name: _text(said) for name, said in contents(plan.load(params))}
    for path in set(out.rglob("*.json")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")  # half a file is another text, and is written again


def contents(planned: plan.Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and content of each file: `<benchmark>.json` of a dataset, `<benchmark>/<model>.json` of a model."""
    for name, dataset in planned.datasets.items():
        declared = {key: value for key, value in asdict(dataset).items() if key != "benchmark"}
        modules = (*(f"stages.{stage}" for stage in DATA), *(f"benchmarks.{name}.{p}" for p in ("demo", "truth")))
        yield f"{name}.json", {"dataset": declared, "code": _code("data", *modules)}
    for run in {(r.benchmark, r.model): r for r in planned.runs}.values():
        yield f"{run.benchmark}/{run.model}.json", _model(run)


def _model(run: plan.Run) -> dict[str, Any]:
    declared = {key: getattr(run, key) for key in ("format", "files", "options", "allow_incomplete")}
    readers = {path: file_sha256(Path(path)) for path in run.reader}
    code = _code("evaluate", "stages.provenance", *provenance.scorer_modules(run.benchmark, run.format))
    return {"model": declared, "adapter": readers, "code": code}


@cache
def _code(rules: str, *modules: str) -> str:
    """Digest of all code between a stage of DVC and its results."""
    command = (*(closure.PACKAGE / name for name in COMMAND), closure.PACKAGE.parent / "rules" / f"{rules}.smk")
    parts = [closure.digest(*modules), *map(file_sha256, command)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _text(said: Mapping[str, Any]) -> str:
    return json.dumps(said, indent=2, sort_keys=True, default=str) + "\n"
