"""provenance: which bytes made a run's numbers, written beside them. It has no part in the numbers.

It is a stage of its own, after the others, so that a commit alone reruns nothing: the commit stands in its output and
is never a parameter of any stage.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundeval import files, formats, tables
from groundeval.errors import InputError
from groundeval.provenance import environment, inputs, results, statement, tree

STAGES = ("stages.split", "stages.prepare", "stages.convert", "stages.score", "stages.aggregate")


def scorer_modules(benchmark: str, format_name: str) -> list[str]:
    """The modules that make the numbers; what they import is found from them."""
    parts = (f"benchmarks.{benchmark}.truth", f"benchmarks.{benchmark}.protocol", formats.module_name(format_name))
    return [*STAGES, *parts]


def run(folder: Path, manifest: Path, truth: Path, predictions: Path, raw: Path, out: Path) -> None:
    """Write the provenance of the pipeline's results in `folder`. raw: the download stage's record of the dataset."""
    went_in = {
        "manifest": inputs.file(manifest),
        "truth": inputs.file(truth),
        "predictions": inputs.files(predictions),
        "raw": inputs.file(raw),
    }
    said = tables.meta(folder / results.PREDICTIONS)
    if adapter := formats.adapter_file(said["format"]):
        went_in["adapter"] = inputs.file(Path(adapter))
    write(folder, results.PIPELINE, went_in, said["allow_incomplete"], _record(raw), out)


def alone(folder: Path, truth: Path, predictions: Path, allow_incomplete: bool, adapter: str | None = None) -> None:
    """Write the provenance of what `groundeval evaluate` wrote to `folder`; truth: the dataset's folder.

    adapter: the user's file of a format of their own.
    """
    went_in = {"predictions": inputs.files(predictions, predictions.name)}
    if adapter is not None:
        went_in["adapter"] = inputs.file(Path(adapter), Path(adapter).name)
    raw, record = record_beside(truth)
    if record:
        went_in["raw"] = inputs.file(raw, raw.name)
    write(folder, results.ALONE, went_in, allow_incomplete, record, folder / statement.FILE)


def record_beside(truth: Path) -> tuple[Path, dict[str, Any]]:
    """Where the download stage puts its record of a dataset's folder, and what it says; nothing where there is none."""
    raw = truth.resolve().with_name(truth.resolve().name + ".json")
    record = _record(raw) if raw.is_file() else {}
    return raw, record if record.get("generated") or record.get("files") or record.get("folder") else {}


def write(
    folder: Path,
    subjects: tuple[str, ...],
    went_in: Mapping[str, Any],
    allow_incomplete: bool,
    record: Mapping[str, Any],
    out: Path,
) -> None:
    """Write the Statement about `subjects` of `folder`."""
    said = json.loads((folder / results.METRICS).read_bytes())
    modules = scorer_modules(said["benchmark"], said["format"])
    predicate = {
        "run": {key: said[key] for key in ("benchmark", "version", "split", "model")},
        "parameters": {"format": said["format"], "options": said["options"], "allow_incomplete": allow_incomplete},
        "dataset": {
            "version": record.get("version"),
            "licence": record.get("licence"),
            "truth": said["dataset"]["truth"],
        },
        "inputs": dict(went_in),
        "scorer": environment.scorer(modules),
        "software": environment.software(modules),
        "tree": tree.state(),
    }
    files.write_json(out, statement.make(folder, subjects, predicate))


def _record(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(path, f"not a dataset's record ({error})", "Run the download stage.") from None
    return found
