"""The files of results, and the Statement of a whole folder of them: what is signed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundeval.provenance import statement

METRICS, SUMMARY, CURVES = "metrics.json", "summary.json", "curves.csv"
SAMPLES, HISTOGRAMS, PREDICTIONS = "samples.parquet", "histograms.parquet", "predictions.parquet"
PIPELINE = (METRICS, SUMMARY, CURVES, SAMPLES, HISTOGRAMS, PREDICTIONS)
ALONE = (METRICS, SAMPLES, HISTOGRAMS)  # what `groundeval evaluate` writes

SIGNATURE = "signature.dsse.json"
KIND = "urn:groundeval:results:v1"
LEFT_OUT = {"logs", SIGNATURE, "README.md", ".snakemake_timestamp", ".gitignore"}


def subjects(folder: Path) -> list[str]:
    """Names of all files of results below a folder: not its logs, nor what a killed job left."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(p.as_posix() for p in found if not LEFT_OUT.intersection(p.parts) and not left_over(p))


def left_over(path: Path) -> bool:
    """Is it a temporary file, or in a temporary folder, that a killed job left?"""
    return any(part.startswith(".") and part.endswith(".tmp") for part in path.parts)


def make(folder: Path) -> dict[str, Any]:
    """The Statement. Each run's provenance is one of its subjects, so all that went in is signed with it."""
    return statement.make(folder, subjects(folder), {"files": len(subjects(folder))}, KIND)


def check(content: dict[str, Any]) -> None:
    """ValueError, KeyError or TypeError unless it is such a Statement."""
    statement.check(content, KIND, ("files",))
