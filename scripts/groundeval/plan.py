"""params.yaml, checked: which runs there are, and where each stage finds and puts its files."""

from __future__ import annotations

import gc
import hashlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from groundeval import benchmarks, formats, options
from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.sources import licences, yamlfile

NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}")  # it reaches a shell and a path
NAMES = "Use letters, digits, dot, underscore and hyphen, at most 100, starting with a letter."
ADAPTER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9._-]+)*")
BENCHMARK_KEYS = ("dataset", "models")
DATASET_KEYS = ("version", "splits", "options", "mirror", "folder")
MODEL_KEYS = ("format", "files", "options", "allow_incomplete")
# Of a run's results, what the report reads beside metrics.json and provenance.json.
REPORTED = ("curves.csv", "histograms.parquet", "predictions.parquet", "samples.parquet")


@dataclass(frozen=True)
class Run:
    """One model on one split of one benchmark: one job a stage, one row of the leaderboard."""

    benchmark: str
    split: str
    model: str
    format: str
    files: str
    options: Mapping[str, Any]
    allow_incomplete: bool

    @property
    def folder(self) -> str:
        """Where its results stand."""
        return f"results/{self.benchmark}/{self.split}/{self.model}"

    @property
    def adapter(self) -> str | None:
        """The file of a format of the user's own."""
        return formats.adapter_file(self.format)

    @property
    def reader(self) -> list[str]:
        """What else than our code reads the predictions: a change of it makes the run stale."""
        return [self.adapter] if self.adapter else []

    @property
    def delivered(self) -> str:
        """The model's prediction folder, which DVC versions."""
        return f"data/predictions/{self.benchmark}/{self.model}"

    @property
    def predictions(self) -> str:
        """What the format reads: the folder, or the file in it that `files` names."""
        files = self.files.replace("{split}", self.split)
        return self.delivered if files == "." else f"{self.delivered}/{files}"


@dataclass(frozen=True)
class Dataset:
    """One benchmark's data: its version, its splits, and where to fetch it when not from the network."""

    benchmark: str
    version: str
    splits: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    mirror: str | None = None
    folder: str | None = None

    @property
    def raw(self) -> str:
        """The raw data's folder."""
        return f"data/raw/{self.benchmark}/{self.version}"

    @property
    def record(self) -> str:
        """What the download stage says of the raw data."""
        return f"{self.raw}.json"


@dataclass(frozen=True)
class Plan:
    """All of params.yaml."""

    datasets: Mapping[str, Dataset]
    runs: tuple[Run, ...]

    def of(self, wildcards: Any) -> Run:
        """The run of a Snakemake rule's wildcards."""
        return self.run(wildcards.benchmark, wildcards.split, wildcards.model)

    def run(self, benchmark: str, split: str, model: str) -> Run:
        """The run of that name."""
        if (benchmark, split, model) not in self._named:
            what = f"no run of {quoted(model)} on {benchmark} {split}"
            raise InputError("params.yaml", what, "Add it, or correct the name.")
        return self._named[benchmark, split, model]

    @cached_property
    def _named(self) -> Mapping[tuple[str, str, str], Run]:
        return {(run.benchmark, run.split, run.model): run for run in self.runs}


def load(path: Path) -> Plan:
    """Read and check params.yaml."""
    content, where = yamlfile.load(path), str(path)
    top = _mapping(content, where, "the file")
    _known(top, ("benchmarks", "mirror"), where)
    blocks = _mapping(top.get("benchmarks"), where, "benchmarks")
    datasets: dict[str, Dataset] = {}
    runs: list[Run] = []
    for name, block in blocks.items():
        benchmarks.record(_name(name, where, "benchmark"), where)
        _known(_mapping(block, where, name), BENCHMARK_KEYS, where, name)
        dataset = _mapping(block.get("dataset"), where, f"{name}: dataset")
        datasets[name] = _dataset(name, dataset, top.get("mirror"), where)
        runs += _runs(datasets[name], _mapping(block.get("models") or {}, where, f"{name}: models"), where)
    return Plan(datasets, tuple(runs))


def _dataset(name: str, block: Mapping[str, Any], mirror: Any, where: str) -> Dataset:
    _known(block, DATASET_KEYS, where, f"{name}: dataset")
    record, splits = benchmarks.record(name), block.get("splits")
    if not isinstance(splits, list) or not splits:
        raise InputError(where, f"{name}: splits is not a list", f"Write splits: [{record.splits[0]}].")
    for split in splits:
        if not record.has_split(str(split)):
            what = f"{name}: unknown split {quoted(split)}{did_you_mean(str(split), record.splits)}"
            raise InputError(where, what, "Correct the name.")
    if len(set(splits)) != len(splits):
        raise InputError(where, f"{name}: a split stands twice", "Keep one.")
    given = _mapping(block.get("options") or {}, where, f"{name}: options")
    options.resolve(record.options, given, f"{where}: {name}")
    version = _name(block.get("version"), where, f"{name}: version")
    return Dataset(name, version, tuple(splits), dict(given), block.get("mirror", mirror), block.get("folder"))


def _runs(dataset: Dataset, models: Mapping[str, Any], where: str) -> list[Run]:
    found: dict[str, str] = {}
    runs: list[Run] = []
    for name, block in models.items():
        label = f"{dataset.benchmark}: model {_name(name, where, f'{dataset.benchmark}: model')}"
        alike = re.sub(r"[._-]", "-", name).lower()
        if alike in found:
            what = f"{label} and {quoted(found[alike])} differ in case or punctuation only"
            raise InputError(where, what, "Rename one: some file systems and DVC cannot tell them apart.")
        found[alike] = name
        runs += _model_runs(dataset, name, _mapping(block, where, label), f"{where}: {label}")
    return runs


def _model_runs(dataset: Dataset, name: str, block: Mapping[str, Any], where: str) -> list[Run]:
    _known(block, MODEL_KEYS, where)
    if "format" not in block:
        raise InputError(where, "format is not declared", f"Declare one of {', '.join(formats.names())}.")
    chosen = formats.record(str(block["format"]), where).name
    _check_adapter(formats.adapter_file(chosen), where)
    files, allowed = block.get("files", "."), block.get("allow_incomplete", False)
    if not isinstance(files, str) or files.startswith("/") or ".." in files.split("/"):
        raise InputError(where, f"files {quoted(files)} leaves the model's folder", "Name a file or folder inside it.")
    if len(dataset.splits) > 1 and "{split}" not in files:
        raise InputError(where, "several splits would read the same files", 'Write files: "{split}.json" or the like.')
    if not isinstance(allowed, bool):
        raise InputError(where, f"allow_incomplete is {quoted(allowed)}", "Write true or false.")
    said = dict(_mapping(block.get("options") or {}, where, "options"))
    return [Run(dataset.benchmark, split, name, chosen, files, said, allowed) for split in dataset.splits]


def _check_adapter(file: str | None, where: str) -> None:
    if file is None:
        return
    if not ADAPTER.fullmatch(file) or ".." in file.split("/"):
        what = f"format: {quoted(file)} is no path inside this folder"
        raise InputError(where, what, "Write FOLDER/FILE.py:FUNCTION with letters, digits, dot, underscore and hyphen.")
    if not Path(file).is_file():
        raise InputError(where, f"format: no file {quoted(file)}", "Put the adapter there, or correct the path.")


def _mapping(value: Any, where: str, label: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(where, f"{label} is not a mapping of names to values", "See the README for an example.")
    return value


def _known(block: Mapping[str, Any], keys: tuple[str, ...], where: str, label: str = "") -> None:
    for key in block:
        if key not in keys:
            what = f"unknown key {quoted(key)}{f' in {label}' if label else ''}{did_you_mean(str(key), keys)}"
            raise InputError(where, what, "Correct the key.")


def _name(value: Any, where: str, label: str) -> str:
    if not isinstance(value, str):
        what = f"{label}: YAML reads the name as {type(value).__name__} {value!r}"
        raise InputError(where, what, "Put the name in quotes.")
    if not NAME.fullmatch(value):
        what = f"{label} {quoted(value)} is not a name"
        raise InputError(where, what, NAMES)
    return value


@cache  # three rule files ask
def for_snakemake(path: str = "params.yaml") -> Plan:
    """The plan, for a rule file: a mistake in params.yaml ends Snakemake with its one line and exit code 2."""
    gc.set_threshold(1_000_000)  # thousands of jobs are no garbage: looking for some is a quarter of Snakemake's time
    try:
        return load(Path(path))
    except InputError as error:
        print(error.line(), file=sys.stderr)
        raise SystemExit(2) from None


def fingerprint(*paths: str) -> str:
    """Digest of names, sizes and modification times below paths: changes when any file is replaced, even by an older one.

    Snakemake compares an input's time with the output's, so it misses an older file and an edit inside a folder.
    """
    files = [file for path in paths for file in _below(Path(path))]
    seen = ((str(p), p.stat()) for p in files if p.exists())
    lines = (f"{name} {stat.st_size} {stat.st_mtime_ns}\n" for name, stat in seen)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def content(run: Run) -> str:
    """The fingerprint of a run's predictions and of what of the user's reads them. Two rules ask, the files are read once."""
    return _fingerprint_once(run.predictions, *run.reader)


_fingerprint_once = cache(fingerprint)


def _below(root: Path) -> list[Path]:
    return sorted(p for p in root.rglob("*") if p.is_file()) if root.is_dir() else [root]


def sets(options: Mapping[str, Any], allow_incomplete: bool = False) -> list[str]:
    """Options as arguments of a command."""
    said = [word for name, value in options.items() for word in ("--set", f"{name}={_text(value)}")]
    return [*said, "--allow-incomplete"] if allow_incomplete else said


def threads(planned: Plan, cores: int | None) -> int:
    """Cores of one run's job, so that few runs use all and many one each. A stage of DVC is one run."""
    runs = 1 if "DVC_STAGE" in os.environ else len(planned.runs)
    return max(1, (cores or 1) // max(1, runs))


def said(run: Run) -> list[str]:
    """What params.yaml says of a run, as arguments of the convert stage."""
    return ["--format", run.format, *sets(run.options, run.allow_incomplete)]


def origin(planned: Plan, benchmark: str) -> list[str]:
    """Where the download stage takes the files from, as arguments."""
    dataset = planned.datasets[benchmark]
    pairs = (("--mirror", dataset.mirror), ("--folder", dataset.folder))
    return [word for name, value in pairs if value is not None for word in (name, str(value))]


def download_inputs(planned: Plan, benchmark: str) -> dict[str, str]:
    """The table of sources concerns only a dataset that is fetched."""
    dataset = planned.datasets[benchmark]
    return {} if dataset.version == "demo" or dataset.folder else {"sources": "data/sources.yaml"}


def cards(planned: Plan) -> list[str]:
    """What the report shows beside the numbers: each benchmark's card and published rows."""
    folders = [Path("scripts/groundeval/benchmarks", name) for name in planned.datasets]
    found = [folder / name for folder in folders for name in ("README.md", "published.yaml")]
    return [str(path) for path in found if path.is_file()]


def pictured(planned: Plan) -> list[str]:
    """What the report shows of the datasets: manifests and truths of the runs' splits, and images where they may be shown."""
    tables = {
        f"data/{kind}/{run.benchmark}/{run.split}.parquet" for run in planned.runs for kind in ("splits", "truth")
    }
    used = [planned.datasets[name] for name in sorted({run.benchmark for run in planned.runs})]
    return sorted(tables) + [dataset.raw for dataset in used if _shows_images(dataset)]


def _shows_images(dataset: Dataset) -> bool:
    shown = licences.shows_images(Path("data/sources.yaml"), dataset.benchmark, dataset.version)
    return shown and bool(benchmarks.record(dataset.benchmark).images)


def reporting(planned: Plan) -> list[str]:
    """The modules that make the report; benchmarks' own are found by name, so they are named here."""
    parts = {
        name: ("protocol", "picture") if benchmarks.record(name).shape == "map" else ("protocol",)
        for name in planned.datasets
    }
    return ["stages.report", *(f"benchmarks.{name}.{part}" for name in sorted(parts) for part in parts[name])]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
