"""Levels 2 to 5 of verify: run the stages again from what they read, and compare. Written is only to a scratch folder."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from groundeval import formats, tables
from groundeval.provenance import inputs, results
from groundeval.stages import aggregate, convert, evaluate, prepare, score, split
from groundeval.verify import compare
from groundeval.verify.check import Check
from groundeval.verify.runs import Run

Compare = Callable[[Path, Path], str | None]
USERS_CODE = "an adapter, which is the user's own code, read the predictions; it is not run. Its digest is known"
NO_TABLES = "only metrics.json, samples.parquet and histograms.parquet were kept; give --truth and --predictions"


def metrics(run: Run) -> Check:
    """Level 2: metrics.json and summary.json from samples.parquet and histograms.parquet, every byte."""
    with _again("level 2, metrics from counts") as (found, scratch):
        out, summary, curves = (scratch / name for name in (results.METRICS, results.SUMMARY, results.CURVES))
        aggregate.run(run.folder / results.SAMPLES, run.folder / results.HISTOGRAMS, out, summary, curves)
        _same(found, run.folder / results.METRICS, out, compare.json_files)
        if run.piped:
            _same(found, run.folder / results.SUMMARY, summary, compare.json_files)
            _same(found, run.folder / results.CURVES, curves, compare.text_files)
    return found


def samples(run: Run) -> Check:
    """Level 3: the counts of every sample from the tables of truth and predictions."""
    with _again("level 3, counts from tables") as (found, scratch):
        if not run.piped:
            found.leave(NO_TABLES)
        elif _there(found, run, "manifest", "truth"):
            read = (run.path("manifest"), run.path("truth"), run.folder / results.PREDICTIONS)
            out, histograms = scratch / results.SAMPLES, scratch / results.HISTOGRAMS
            score.run(*read, str(run.predicate["run"]["model"]), out, histograms)
            _same(found, run.folder / results.SAMPLES, out, compare.table_files)
            _same(found, run.folder / results.HISTOGRAMS, histograms, compare.table_files)
    return found


def predictions(run: Run) -> Check:
    """Level 4: the predictions table from the files that the model's owner delivered."""
    with _again("level 4, predictions") as (found, scratch):
        if not run.piped:
            found.leave(NO_TABLES)
        elif formats.adapter_file(str(run.predicate["parameters"]["format"])):
            found.leave(USERS_CODE)
        elif _there(found, run, "manifest", "predictions"):
            out, said = scratch / results.PREDICTIONS, run.predicate["parameters"]
            files = (run.path("manifest"), run.path("predictions"))
            options = {name: value for name, value in said["options"].items() if value is not None}
            benchmark = str(run.predicate["run"]["benchmark"])
            convert.run(benchmark, *files, said["format"], options, out, said["allow_incomplete"])
            _same(found, run.folder / results.PREDICTIONS, out, compare.table_files)
    return found


def truth(run: Run) -> Check:
    """Level 5: manifest and truth from the raw dataset, and the raw dataset from the record of its download."""
    with _again("level 5, truth from raw") as (found, scratch):
        if not run.piped:
            found.leave(NO_TABLES)
        elif _there(found, run, "raw", "manifest", "truth"):
            record, raw = json.loads(run.path("raw").read_bytes()), _raw(run)
            if not raw.is_dir():
                found.leave(f"{raw.name}: the raw dataset is withheld; its digest is known")
                return found
            if said := inputs.changes(record["content"], raw):
                found.failed.append(f"raw: {run.inputs['raw']['name'].removesuffix('.json')}: {said}")
            _from_raw(found, run, raw, str(record["version"]), scratch)
    return found


def _from_raw(found: Check, run: Run, raw: Path, version: str, scratch: Path) -> None:
    said, manifest, out = tables.meta(run.path("manifest")), scratch / "manifest.parquet", scratch / "truth.parquet"
    split.run(said["benchmark"], raw, said["split"], said["options"], manifest, version)
    prepare.run(raw, manifest, out)
    _same(found, run.path("manifest"), manifest, compare.table_files)
    _same(found, run.path("truth"), out, compare.table_files)


def whole(run: Run, raw: Path, files: Path) -> Check:
    """Levels 3 to 5 at once, for what `groundeval evaluate` wrote: everything from the dataset and the model's files."""
    with _again("levels 3 to 5, all again") as (found, scratch):
        said, about = run.predicate["parameters"], run.predicate["run"]
        if formats.adapter_file(str(said["format"])):
            found.leave(USERS_CODE)
            return found
        options = {name: value for name, value in said["options"].items() if value is not None}
        names = (about["benchmark"], raw, about["split"], files, said["format"], options, scratch, about["model"])
        evaluate.run(*names, allow_incomplete=said["allow_incomplete"])
        if difference := inputs.changes(run.inputs["predictions"], files):
            found.failed.append(f"predictions: {difference}")
        for name in (results.SAMPLES, results.HISTOGRAMS):
            _same(found, run.folder / name, scratch / name, compare.table_files)
        _same(found, run.folder / results.METRICS, scratch / results.METRICS, compare.json_files)
    return found


@contextmanager
def _again(title: str) -> Iterator[tuple[Check, Path]]:
    found = Check(title)
    with tempfile.TemporaryDirectory(prefix="groundeval-") as scratch, found.guarded("cannot be made again"):
        yield found, Path(scratch)


def _same(found: Check, path: Path, right: Path, differ: Compare) -> None:
    difference = differ(path, right)
    found.expect(difference is None, str(difference))


def _there(found: Check, run: Run, *names: str) -> bool:
    absent = [name for name in names if not run.present(name)]
    if absent:
        found.leave(*(f"{run.inputs[name]['name']} is not here; its digest is known" for name in absent))
    return not absent


def _raw(run: Run) -> Path:
    path = run.path("raw")
    return path.with_name(path.name.removesuffix(".json"))
