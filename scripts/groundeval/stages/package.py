"""package: what a benchmark's official server takes for a split whose truth is not public."""

from __future__ import annotations

from pathlib import Path

from groundeval import benchmarks
from groundeval.errors import InputError


def run(benchmark: str, predictions: Path, calib: Path, out: Path) -> None:
    """Build and check the package, and print what there is to know of it."""
    having = [name for name in benchmarks.names() if benchmarks.record(name).without_truth]
    if benchmarks.record(benchmark).name not in having:
        raise InputError(benchmark, "its truth is public: there is nothing to package", f"Name {' or '.join(having)}.")
    for line in benchmarks.part(benchmark, "package").build(predictions, calib, out):
        print(line)
