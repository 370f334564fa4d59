"""What stands beside a run's metrics.json: the counts of each sample, for ties, plots and the gallery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import benchmarks, tables
from groundeval.errors import InputError, quoted
from groundeval.metrics.ratios import Samples
from groundeval.report.collect import AGAIN, Run
from groundeval.samples import Histograms, arrays, read_histograms

_SAME = ("benchmark", "version", "split", "model", "format", "options", "dataset")


@dataclass(frozen=True)
class Evidence:
    """One run's tables of counts. folder: where they, and metrics.json, stand; histograms: without float32 scores."""

    run: Run
    folder: Path
    samples: pa.Table
    histograms: Histograms

    @cached_property
    def arrays(self) -> Samples:
        """The samples, sorted by sample_id, as a protocol takes them."""
        return arrays(self.samples)

    @cached_property
    def by_sample(self) -> Mapping[str, NDArray[np.float64]]:
        """Figures of each sample [n], in the order of `samples`; the first is the one that ranks them. See a protocol."""
        protocol = benchmarks.part(self.run.benchmark, "protocol")
        found: dict[str, NDArray[np.float64]] = protocol.by_sample(self.arrays, self.run.options)
        return found

    @cached_property
    def curves(self) -> Mapping[str, Sequence[tuple[float, float]]]:
        """Recall and precision of each curve: as the run's curves.csv has them, else from the histograms."""
        made = getattr(benchmarks.part(self.run.benchmark, "protocol"), "curves", None)
        if self.run.curves or made is None:
            return self.run.curves
        found: dict[str, list[tuple[float, float]]] = {}
        for point in made(self.arrays, self.histograms, self.run.options):
            found.setdefault(point["curve"], []).append((point["recall"], point["precision"]))
        return found


def load(metrics_json: Path, run: Run) -> Evidence | None:
    """The tables beside a run's metrics.json; None where they are absent.

    InputError: tables that cannot be read, or that are another run's.
    """
    folder = metrics_json.parent
    samples, histograms = folder / "samples.parquet", folder / "histograms.parquet"
    if not samples.is_file() or not histograms.is_file():
        return None
    _check(samples, tables.meta(samples), run)
    return Evidence(run, folder, tables.read(samples).sort_by("sample_id"), read_histograms(histograms, scores=False))


def _check(path: Path, said: Mapping[str, Any], run: Run) -> None:
    for name in _SAME:
        here = getattr(run, name)
        if said.get(name) != here:
            what = f"not the counts of metrics.json beside it: {name} is {quoted(str(said.get(name)))}, there {quoted(str(here))}"
            raise InputError(path, what, AGAIN)
