"""crate: results as an RO-Crate that other tools read, profile Workflow Run Crate 0.5.

One CreateAction a run: the workflow made these files from those inputs. Predictions and datasets are named with their
digests but not packed: their licences are not ours to pass on.
Source: w3id.org/ro/wfrun/workflow/0.5 and w3id.org/ro/crate/1.1.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity  # type: ignore[import-untyped]
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from groundeval.digests import file_sha256
from groundeval.errors import InputError
from groundeval.provenance import results as results_statement
from groundeval.provenance import statement
from groundeval.verify.runs import Run, find

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
TERMS = "https://w3id.org/ro/terms/workflow-run/context"  # where sha256 is defined
WORKFLOW = "Snakefile"
LICENCE = "https://spdx.org/licenses/MIT"
CODE = ("params.yaml", "requirements.lock", "dvc.yaml", "dvc.lock", "README.md", "scripts/rules")
FORMATS = {
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".html": "text/html",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
}
INPUTS = {"predictions": "the files that the model delivered", "truth": "the ground truth", "manifest": "which samples"}


def run(results: Path, out: Path) -> None:
    """Write the crate into `out`, a folder that does not exist yet. InputError: it does, or a run has no provenance."""
    if out.exists():
        raise InputError(out, "stands there already", "Name a folder that does not exist.")
    runs = find(results)
    root = runs[0].root.resolve()
    if not (root / WORKFLOW).is_file():
        raise InputError(root / WORKFLOW, "is absent", "Export results of the pipeline, from its own tree.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        crate = _crate(root, results)
        for one in runs:
            _action(crate, one, f"results/{one.folder.relative_to(results).as_posix()}")
        crate.write(Path(scratch, "crate"))
        shutil.move(Path(scratch, "crate"), out)
    print(f"{out}: {len(runs)} runs")


def _crate(root: Path, results: Path) -> Any:
    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(TERMS)
    crate.name = "groundeval results"
    crate.description = "Benchmark numbers with the counts, tables and provenance that they come from"
    crate.datePublished = datetime.fromisoformat(_date(root))
    crate.license = crate.add(ContextEntity(crate, LICENCE, {"@type": "CreativeWork", "name": "MIT", "url": LICENCE}))
    workflow = crate.add_workflow(root / WORKFLOW, WORKFLOW, main=True, lang="snakemake", properties=_about_workflow())
    workflow["license"] = crate.license
    crate.root_dataset["conformsTo"] = [crate.add(_profile(crate, uri)) for uri in PROFILES]
    for name in CODE:
        if (root / name).is_file():
            _pack(crate, root / name, name)
        elif (root / name).is_dir():
            for path in sorted(p for p in (root / name).iterdir() if p.is_file()):
                _pack(crate, path, f"{name}/{path.name}")
    for name in results_statement.subjects(results):
        _pack(crate, results / name, f"results/{name}")
    _parameters(crate, workflow)
    return crate


def _pack(crate: Any, path: Path, name: str) -> None:
    kind = FORMATS.get(path.suffix, "text/plain")
    crate.add_file(path, name, properties={"name": name, "sha256": file_sha256(path), "encodingFormat": kind})


def _about_workflow() -> dict[str, Any]:
    from groundeval import __version__

    return {"name": "groundeval", "version": __version__, "encodingFormat": "text/plain"}


def _profile(crate: Any, uri: str) -> Any:
    name, version = PROFILES[uri]
    return ContextEntity(crate, uri, {"@type": "CreativeWork", "name": name, "version": version})


def _parameters(crate: Any, workflow: Any) -> None:
    """What goes into the workflow and what comes out of it, as formal parameters."""
    given = [_parameter(crate, name, "PropertyValue", text) for name, text in INPUTS.items()]
    made = [_parameter(crate, "metrics", "File", "every metric with numerator and denominator")]
    workflow["input"], workflow["output"] = given, made[0]


def _parameter(crate: Any, name: str, kind: str, text: str) -> Any:
    return crate.add_formal_parameter(name, kind, identifier=f"#{name}", description=text, valueRequired=True)


def _action(crate: Any, run: Run, where: str) -> None:
    """What one run was made from, and made."""
    about, tree = run.predicate["run"], run.predicate["tree"]
    name = f"{about['benchmark']}, {about['split']}, {about['model']}"
    made = [crate.get(f"{where}/{subject}") for subject in statement.digests(run.statement)]
    given = [_input(crate, known, kind) for kind, known in run.inputs.items() if kind in INPUTS]
    crate.get(f"{where}/metrics.json")["exampleOfWork"] = crate.get("#metrics")
    action = crate.add_action(
        crate.mainEntity,
        f"#{'/'.join(about[key] for key in ('benchmark', 'split', 'model'))}",
        object=given,
        result=[*made, crate.get(f"{where}/{statement.FILE}")],
        properties={
            "name": name,
            "description": f"commit {tree['commit'] or 'unknown'}, tree {tree['state']}",
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )
    crate.root_dataset.append_to("mentions", action)
    parameters = run.predicate["parameters"]
    settings = {"format": parameters["format"], **parameters["options"]}
    action["object"] = [*given, *_settings(crate, action.id, settings)]


def _settings(crate: Any, action: str, settings: dict[str, Any]) -> Iterable[Any]:
    for name, value in settings.items():
        if value is not None:
            properties = {"@type": "PropertyValue", "name": name, "value": str(value)}
            yield crate.add(ContextEntity(crate, f"{action}/{name}", properties))


def _input(crate: Any, known: dict[str, Any], kind: str) -> Any:
    """What is not packed: its name, with its digest as a value."""
    digest = known.get("merkle_root") or known["sha256"]
    identifier = f"urn:sha256:{digest}"
    if (there := crate.get(identifier)) is not None:
        return there
    said = {"@type": "PropertyValue", "name": known["name"], "value": digest}
    entity = crate.add(ContextEntity(crate, identifier, {**said, "propertyID": "sha256"}))
    entity["exampleOfWork"] = crate.get(f"#{kind}")
    return entity


def _date(root: Path) -> str:
    """The commit's, so that the same results give the same crate; without a commit, now."""
    command = ["git", "-C", str(root), "log", "-1", "--format=%cI"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return datetime.now(UTC).isoformat(timespec="seconds")
    return done.stdout.strip() or datetime.now(UTC).isoformat(timespec="seconds")
