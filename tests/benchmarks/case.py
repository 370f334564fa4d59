"""A benchmark's demo data and models on disk, for whatever must hold of every benchmark.

`python -m tests.benchmarks.case` writes golden.json anew: only together with a new version of the benchmark.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, options
from groundeval.errors import InputError
from groundeval.sources.folder import Source
from groundeval.stages import convert, evaluate, split

SEED = 7
GOLDEN = Path(__file__).parent / "golden.json"


class Case:
    """A benchmark's demo data and models on disk, and its first split that has a truth."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.raw = name, folder / "raw"
        self.record, self.demo = benchmarks.record(name), benchmarks.part(name, "demo")
        self.raw.mkdir()
        self.demo.write(self.raw, SEED)
        self.split = self.demo.SPLIT if hasattr(self.demo, "SPLIT") else self._first_split()
        for model in self.demo.MODELS:
            (folder / model).mkdir()
            self.demo.predict(self.raw, folder / model, model, SEED)
        self.folder = folder
        self._kept: dict[str, dict[str, Any]] = {}

    def _first_split(self) -> str:
        for name in self.record.splits:
            try:
                split.manifest(self.name, self.raw, name, {**self.defaults()}, Counter())
            except InputError:
                continue
            return name
        raise AssertionError("the demo has no split")

    def defaults(self) -> dict[str, Any]:
        return options.resolve(self.record.options, {}, self.name)

    def evaluate(self, model: str, out: Path | None = None, **more: Any) -> dict[str, Any]:
        """The content of metrics.json; kept where nothing but the model is asked for."""
        if out is None and not more and model in self._kept:
            return self._kept[model]
        said = self.demo.MODELS[model]
        content = evaluate.run(
            self.name,
            self.raw,
            self.split,
            self.folder / model,
            said["format"],
            said.get("options", {}),
            out,
            model,
            **more,
        )
        if out is None and not more:
            self._kept[model] = content
        return content

    def tables(self, model: str) -> tuple[pa.Table, pa.Table, pa.Table, dict[str, Any]]:
        """Manifest, truth, predictions, options."""
        said = self.demo.MODELS[model]
        chosen = convert.declared(self.name, said["format"], said.get("options", {}))
        manifest, _ = split.manifest(self.name, self.raw, self.split, self.defaults(), Counter())
        truth = benchmarks.part(self.name, "truth").truth(self.raw, manifest, self.defaults(), Counter())
        answers = convert.convert(Source(self.folder / model), said["format"], manifest, chosen, Counter())
        return manifest, pa.Table.from_batches(truth), pa.Table.from_batches(answers), chosen

    def columns(self, model: str) -> dict[str, float | None]:
        """The values of the leaderboard's columns."""
        metrics = self.evaluate(model)["metrics"]
        return {name: metrics[name]["value"] for name in self.record.columns}


def golden() -> dict[str, Any]:
    """The leaderboard's numbers of every demo model."""
    out: dict[str, Any] = {}
    for name in benchmarks.names():
        with tempfile.TemporaryDirectory() as folder:
            case = Case(name, Path(folder))
            models = {model: case.columns(model) for model in case.demo.MODELS}
        out[name] = {"version": case.record.version, "models": models}
    return out


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n", encoding="utf-8")
