"""The runs below a folder, and the working tree that their inputs stand in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from groundeval.errors import InputError, quoted
from groundeval.provenance import statement
from groundeval.provenance.results import left_over

METRICS = "metrics.json"
MARKS = {METRICS, statement.FILE, "samples.parquet", "predictions.parquet"}
TABLE = "predictions.parquet"  # only the pipeline keeps it


@dataclass(frozen=True)
class Run:
    """One run's folder. root: the tree that the names of its inputs are relative to."""

    folder: Path
    root: Path

    @cached_property
    def statement(self) -> dict[str, Any]:
        """Its provenance. InputError where that is none."""
        return statement.read(self.folder / statement.FILE)

    @property
    def predicate(self) -> dict[str, Any]:
        """What its provenance says went in."""
        found: dict[str, Any] = self.statement["predicate"]
        return found

    @property
    def inputs(self) -> dict[str, Any]:
        """The recorded inputs."""
        found: dict[str, Any] = self.predicate["inputs"]
        return found

    @property
    def piped(self) -> bool:
        """Was it made by the pipeline, which keeps its tables, or by `groundeval evaluate`?"""
        return "truth" in self.inputs

    def path(self, name: str) -> Path:
        """Where an input stands. InputError for a name that leads out of the tree: results may come from anybody."""
        said = str(self.inputs[name]["name"])
        path = self.root / said
        if not path.resolve().is_relative_to(self.root.resolve()) and not path.is_symlink():
            raise InputError(
                self.folder / statement.FILE, f"input {quoted(said)} leads out of the tree", "Do not use it."
            )
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(path, "is neither a file nor a folder", "Restore it.")
        return path

    def present(self, *names: str) -> bool:
        """Are all these inputs there to be looked at?"""
        return all(name in self.inputs and self.path(name).exists() for name in names)


def find(results: Path, root: Path | None = None) -> list[Run]:
    """Every folder at or below `results` that has something of a run. InputError where there is none."""
    if not results.is_dir():
        raise InputError(results, "no such folder", "Name a folder of results, or one run's folder.")
    marked = (path for path in results.rglob("*") if path.name in MARKS)
    folders = sorted({path.parent for path in marked if not left_over(path.relative_to(results))})
    if not folders:
        raise InputError(results, "no run below it", "Name a folder of results, or one run's folder.")
    return [Run(folder, root or _root(results, folder)) for folder in folders]


def _root(results: Path, folder: Path) -> Path:
    """results/<benchmark>/<split>/<model> stands in the tree; any other depth says nothing, so the current folder."""
    if (folder / TABLE).exists() or folder != results:
        depth = len(folder.relative_to(results).parts)
        return Path(os.path.abspath(results)).parents[3 - depth] if depth <= 3 else Path()  # noqa: PTH100 - no link followed
    return Path()
