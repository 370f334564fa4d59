"""A small dataset of each shape with one model's right predictions, to damage; and the verdict on a refused run."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, options
from groundeval.stages import split
from tests.security import child
from tests.security.child import Done

SEED = 3
# Benchmark -> its split and a demo model, by shape.
DATASETS = {
    "mask": ("instructpart", "test", "almost"),
    "rle": ("instructpart", "test", "noisy"),
    "boxes": ("grefcoco", "val", "nothing"),
    "scores": ("gmrp", "test", "almost"),
    "classes": ("gmrp", "test", "nothing"),
}
PEAK = 700 << 20  # bytes: what a refused run may take, with Python and the libraries


class Scene:
    """One dataset in a working folder `root`: `raw`, `predictions`, and nothing else."""

    def __init__(self, kind: str, root: Path) -> None:
        self.benchmark, self.split, self.model = DATASETS[kind]
        self.root, self.raw, self.predictions = root, root / "raw", root / "predictions"
        demo = benchmarks.part(self.benchmark, "demo")
        self.raw.mkdir(parents=True)
        demo.write(self.raw, SEED)
        demo.predict(self.raw, self.predictions, self.model, SEED)
        self.format, said = demo.MODELS[self.model]["format"], demo.MODELS[self.model].get("options", {})
        self.sets = [word for name, value in said.items() for word in ("--set", f"{name}={value}")]

    def manifest(self) -> pa.Table:
        """Its samples."""
        own = options.resolve(benchmarks.record(self.benchmark).options, {}, self.benchmark)
        return split.manifest(self.benchmark, self.raw, self.split, own, Counter())[0]

    def copy(self, root: Path) -> Scene:
        """The same, to damage."""
        shutil.copytree(self.root, root, symlinks=True)
        made = object.__new__(Scene)
        made.__dict__.update(self.__dict__)
        made.root, made.raw, made.predictions = root, root / "raw", root / "predictions"
        return made

    def arguments(
        self, *more: str, predictions: str = "predictions", format: str | None = None, out: str = "out"
    ) -> list[str]:
        """Those of `groundeval evaluate`, with paths below `root`."""
        given = ["--truth", "raw", "--split", self.split, "--predictions", predictions]
        given += ["--format", format or self.format, "--out", out, *self.sets, *more]
        return ["evaluate", self.benchmark, *given]

    def evaluate(self, *more: str, **given: Any) -> Done:
        """Run `groundeval evaluate` in a child."""
        told = {key: given.pop(key) for key in ("predictions", "format", "out") if key in given}
        return child.run(self.root, self.arguments(*more, **told), **given)

    def refused(self, what: str, *more: str, **given: Any) -> str:
        """Run it, and demand what every refusal must be; its line."""
        before = child.listing(self.root)
        done = self.evaluate(*more, **given)
        return self.check_refused(done, what, before)

    def check_refused(self, done: Done, what: str, before: set[str]) -> str:
        """One line that says `what`, exit code 2, nothing written, little memory."""
        lines = [line for line in done.err.splitlines() if "is your own code" not in line]
        assert (done.code, len(lines)) == (2, 1), done.err[-3000:]
        assert what in lines[0], lines[0]
        assert len(lines[0]) < 1500
        assert all(c.isprintable() for c in lines[0])
        assert done.files == before, done.files ^ before
        assert done.peak < PEAK
        return lines[0]

    def rows(self) -> Any:
        """The content of the one JSON file of the predictions."""
        return json.loads(self.json().read_bytes())

    def json(self) -> Path:
        """The one JSON file of the predictions."""
        return next(self.predictions.glob("*.json"))

    def edit(self, change: Callable[[Any], Any]) -> None:
        """Write the JSON predictions anew, as a function changes them."""
        content = self.rows()
        self.json().write_text(json.dumps(change(content) or content), encoding="utf-8")

    def first(self, suffix: str) -> Path:
        """The first file of the predictions with a suffix."""
        return min(self.predictions.glob(f"*{suffix}"))
