"""Level 0: all that should be there is, says the same of itself, and nothing else is there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from groundeval import benchmarks, tables
from groundeval.errors import first_of
from groundeval.provenance import results, statement
from groundeval.report.collect import parse
from groundeval.verify.check import Check
from groundeval.verify.runs import Run

REPORT = "report"
INPUTS, ALONE = ("manifest", "truth", "predictions", "raw"), ("predictions",)


def special(folder: Path) -> list[Path]:
    """What is neither file nor folder, whatever a link leads to: reading a pipe or a device may never end."""
    return sorted(p for p in folder.rglob("*") if p.exists() and not p.is_file() and not p.is_dir())


def rest(folder: Path, runs: Sequence[Run]) -> Check:
    """Beside runs, report and logs nothing stands in the folder of results."""
    found, inside = Check("other files"), {run.folder for run in runs}
    if folder.is_symlink():
        found.notes.append(f"{folder.name} is a link to {folder.readlink()}")
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        known = name.parts[0] in (REPORT, *results.LEFT_OUT) or inside.intersection(path.parents)
        if known or results.left_over(name):
            continue
        found.expect(not path.is_symlink(), f"{name} is a link: its bytes stand elsewhere and may change")
        found.expect(path.is_symlink() or path.is_dir() or path.name in results.LEFT_OUT, f"{name} is of no run")
    return found


def check(run: Run) -> Check:
    """Files, their names and kinds; the identity of the run; the rows of its tables."""
    found = Check("level 0, structure")
    with found.guarded("provenance"):
        wanted = results.PIPELINE if run.piped else results.ALONE
        _files(run.folder, wanted, found)
        lacking = [name for name in (INPUTS if run.piped else ALONE) if name not in run.inputs]
        found.expect(not lacking, f"provenance.json does not name what went in: {', '.join(lacking)}")
        named = set(statement.digests(run.statement))
        found.expect(
            named == set(wanted), f"provenance.json: its subjects are {sorted(named)}, expected {sorted(wanted)}"
        )
    with found.guarded("metrics.json"):
        content = json.loads((run.folder / "metrics.json").read_bytes(), parse_constant=_no_number)
        parse(content)
        _identity(run, content, found)
        _counts(content["counts"], found)
        with found.guarded("samples.parquet"):
            _rows(run, content["counts"]["expected"], found)
    return found


def _files(folder: Path, wanted: tuple[str, ...], found: Check) -> None:
    for name in (*wanted, statement.FILE):
        path = folder / name
        if found.expect(path.exists(), f"{name} is absent"):
            found.expect(not path.is_symlink(), f"{name} is a link: its bytes stand elsewhere and may change")
    for path in sorted(folder.iterdir()):
        if results.left_over(Path(path.name)):
            found.notes.append(f"{path.name} was left by a killed job and may be deleted")
        else:
            found.expect(path.name in (*wanted, statement.FILE, results.SIGNATURE), f"{path.name} is no file of a run")


def _identity(run: Run, content: dict[str, Any], found: Check) -> None:
    """metrics.json, provenance.json and the folder's name say the same."""
    said, parts = run.predicate, ("benchmark", "split", "model")
    for key in (*parts, "version"):
        what = f"metrics.json: {key} is {content[key]!r}, provenance.json says {said['run'][key]!r}"
        found.expect(content[key] == said["run"][key], what)
    for key in ("format", "options"):
        what = f"metrics.json: {key} is {content[key]!r}, provenance.json says {said['parameters'][key]!r}"
        found.expect(content[key] == said["parameters"][key], what)
    if run.piped:
        path = run.folder.resolve().parts[-3:]
        identity = tuple(content[key] for key in parts)
        found.expect(path == identity, f"metrics.json is of {'/'.join(identity)}, but stands in {'/'.join(path)}")
    truth = content["dataset"]["truth"]
    what = f"metrics.json: the truth is {truth!r}, provenance.json says {said['dataset']['truth']!r}"
    found.expect(truth == said["dataset"]["truth"], what)
    record = benchmarks.record(content["benchmark"])
    found.expect(
        record.version == content["version"],
        f"made by version {content['version']} of {record.name}, here it is {record.version}",
    )


def _counts(counts: dict[str, int], found: Check) -> None:
    parts = sum(counts[status] for status in tables.STATUSES)
    found.expect(
        parts == counts["expected"], f"metrics.json: {parts} samples are counted, {counts['expected']} expected"
    )


def _rows(run: Run, expected: int, found: Check) -> None:
    """samples.parquet has the manifest's samples, each once, in order."""
    ids = tables.read(run.folder / "samples.parquet").column("sample_id").to_pylist()
    doubled = [a for a, b in pairwise(ids) if a == b]
    found.expect(not doubled, lambda: f"samples.parquet: {len(doubled)} samples stand twice, {first_of(doubled)}")
    unordered = [b for a, b in pairwise(ids) if a > b]
    found.expect(not unordered, lambda: f"samples.parquet is not sorted by sample_id, {first_of(unordered)}")
    found.expect(len(ids) == expected, f"samples.parquet has {len(ids)} rows, metrics.json expects {expected}")
    if not run.present("manifest"):
        found.unchecked.append("whether the samples are the manifest's (it is not here)")
        return
    manifest = tables.read(run.path("manifest")).column("sample_id").to_pylist()
    absent, strange = sorted(set(manifest) - set(ids)), sorted(set(ids) - set(manifest))
    found.expect(not absent, lambda: f"samples.parquet lacks {len(absent)} samples of the manifest, {first_of(absent)}")
    found.expect(
        not strange, lambda: f"samples.parquet has {len(strange)} samples that the manifest lacks, {first_of(strange)}"
    )


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no value")
