"""The report of eight models on six benchmarks, one with 14,229 samples, against what is allowed to it.

Its size is asserted, too.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import yaml

from groundeval import benchmarks, files, plan, tables
from groundeval.stages import demo
from groundeval.stages.report import Report, report
from tests.audit.project import make_all
from tests.report import tree
from tests.speed import Result, cpu

MODELS, SAMPLES = 8, 14_229
ALLOWED, PAGE, ALL = 60.0, 5_000_000, 25_000_000  # seconds of CPU; bytes of a page and of the whole report


def run() -> list[Result]:
    """Demo datasets, whose every image is shown, but for gRefCOCO, which has as many samples as its val split."""
    with tempfile.TemporaryDirectory() as scratch, _inside(Path(scratch)):
        results = [*_demo(Path(scratch)), *_large(Path(scratch))]
        made: list[Report] = []
        spent = cpu(lambda: made.append(report(results, Path("report"))))
        sizes = [Path("report", name).stat().st_size for name in made[0].names]
        assert sum(sizes) < ALL
        assert max(sizes) < PAGE
        label = f"report of {MODELS} models x {len(benchmarks.names())} benchmarks"
        return [Result(label, f"{ALLOWED:.0f} s", spent, ALLOWED, 1)]


def _demo(root: Path) -> list[Path]:
    """Each benchmark's demo models, copied until there are enough, under names of their own."""
    blocks = {}
    for name in benchmarks.names():
        if name != "grefcoco":
            dataset = {"version": "demo", "splits": [_split(name)]}
            blocks[name] = {"dataset": dataset, "models": benchmarks.part(name, "demo").MODELS}
    Path("params.yaml").write_text(yaml.safe_dump({"benchmarks": blocks}), encoding="utf-8")
    demo.predictions(plan.load(Path("params.yaml")))
    make_all()
    return [file for name in blocks for file in _copies(root / "results" / name / _split(name))]


def _split(name: str) -> str:
    splits = benchmarks.record(name).splits
    return "test" if "test" in splits else splits[0]


def _copies(split: Path) -> list[Path]:
    """The same results under other names."""
    found = sorted(split.iterdir())
    for number in range(MODELS - len(found)):
        _renamed(shutil.copytree(found[number % len(found)], split / f"copy{number}"), f"copy{number}")
    return sorted(split.glob("*/metrics.json"))


def _renamed(folder: Path, name: str) -> None:
    content = json.loads((folder / "metrics.json").read_bytes())
    files.write_json(folder / "metrics.json", {**content, "model": name})
    path = folder / "samples.parquet"
    tables.write(path, tables.read(path).to_batches(), tables.read(path).schema, {**tables.meta(path), "model": name})


def _large(root: Path) -> list[Path]:
    rng = Random(1)
    ids = sorted(f"{rng.randrange(10_000, 60_000)}:{number}" for number in range(SAMPLES))
    words = ("the", "man", "left", "zebra", "two", "people", "behind", "red", "car")
    texts = [" ".join(rng.choice(words) for _ in range(6)) for _ in ids]
    return tree.grefcoco(root, ids, texts, [f"model{number}" for number in range(MODELS)])


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
