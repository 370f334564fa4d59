"""compare: which of several runs over the same samples are better, and which are tied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundeval import benchmarks, files, tables
from groundeval.errors import InputError, quoted
from groundeval.metrics import bootstrap, intervals, paired, significance
from groundeval.metrics import terms as terms_
from groundeval.metrics.paired import Pair
from groundeval.metrics.ratios import Metric, Samples
from groundeval.metrics.terms import Terms
from groundeval.samples import arrays, read_histograms

SETTING = "setting"  # which prompt was used: two prompts may well be compared
METHOD = {
    "interval": f"95 %, of the difference: {intervals.PERCENTILE}, the same ones for both runs",
    "p": "of the bootstrap, or McNemar's exact one where samples are right or wrong and it is larger",
    "p_corrected": "Holm, over all pairs of runs in a metric",
    "tie": f"p_corrected is not below {significance.LEVEL}",
}


@dataclass(frozen=True)
class Run:
    """One run's folder, what its counts say of themselves, and its metrics."""

    folder: Path
    about: dict[str, Any]
    samples: Samples
    terms: list[Terms]
    metrics: dict[str, Metric]

    @property
    def own(self) -> dict[str, Any]:
        """The options of the benchmark that decide what is counted."""
        names = benchmarks.record(self.about["benchmark"]).options
        return {name: self.about["options"].get(name) for name in names if name != SETTING}


def run(folders: Sequence[Path], out: Path | None) -> dict[str, Any]:
    """Compare the runs of these folders, from their tables of counts; write the result as JSON where `out` is given.

    InputError: less than two runs, or runs that differ in benchmark, version, split, truth, options or samples.
    """
    if len(folders) < 2:
        raise InputError("compare", "needs two runs at least", "Name the folders of two runs' results.")
    runs = [_load(folder) for folder in folders]
    for other in runs[1:]:
        if said := list(_differences(runs[0], other)):
            what = f"not over the same samples as {runs[0].folder}: {'; '.join(said)}"
            raise InputError(other.folder, what, "Compare runs of one benchmark version, split and truth.")
    content = compare(runs)
    if out is not None:
        files.write_json(out, content)
    return content


def _load(folder: Path) -> Run:
    path = folder / "samples.parquet"
    table, about = tables.read(path), tables.meta(path)
    protocol, samples = benchmarks.part(about["benchmark"], "protocol"), arrays(table.sort_by("sample_id"))
    said = samples, read_histograms(folder / "histograms.parquet"), about["options"]
    return Run(folder, about, samples, protocol.terms(*said), protocol.metrics(*said))


def _differences(one: Run, other: Run) -> Iterator[str]:
    """What makes two runs incomparable, each with both values."""
    for name in ("benchmark", "version", "split"):
        yield from _unlike(name, one.about[name], other.about[name])
    if one.about["benchmark"] != other.about["benchmark"]:
        return
    for name in sorted({*one.about["dataset"], *other.about["dataset"]}):
        yield from _unlike(f"dataset {name}", one.about["dataset"].get(name), other.about["dataset"].get(name))
    for name, value in one.own.items():
        yield from _unlike(f"option {name}", value, other.own.get(name))
    ids, others = (set(run.samples["sample_id"].tolist()) for run in (one, other))
    for said, alone in (("only in the first", ids - others), ("only in this", others - ids)):
        if alone:
            yield f"{len(alone)} samples {said}, such as {quoted(min(alone))}"


def _unlike(name: str, value: Any, other: Any) -> Iterator[str]:
    if value != other:
        yield f"{name} is {quoted(str(other))}, there {quoted(str(value))}"


def compare(runs: Sequence[Run]) -> dict[str, Any]:
    """All pairs, by every column of the leaderboard that has terms and a value in each run."""
    about, clusters = runs[0].about, bootstrap.labels(runs[0].samples["image_id"])
    names = _names(runs)
    metrics, without = {}, {}
    for column in benchmarks.record(about["benchmark"]).columns:
        said = [one.metrics[column] for one in runs]
        if any(metric.value is None for metric in said):
            without[column] = "it has no value in every run"
            continue
        terms = [found for one in runs if (found := terms_.of(one.terms, column))]
        if len(terms) < len(runs):
            without[column] = intervals.NONE
        else:
            shares = [(metric.value or 0.0) / intervals.scale(metric.unit) for metric in said]
            metrics[column] = _column(names, said, paired.pairs(column, terms, clusters, shares))
    head = {key: about[key] for key in ("benchmark", "version", "split", "dataset")}
    sizes = {"samples": len(clusters), "images": len(np.unique(clusters))}
    runs_ = {name: str(one.folder) for name, one in zip(names, runs, strict=True)}
    return {**head, **sizes, "runs": runs_, "method": METHOD, "metrics": metrics, "not_compared": without}


def _names(runs: Sequence[Run]) -> list[str]:
    """The model of each run, or its folder where two have one name."""
    count = Counter(one.about["model"] for one in runs)
    return [one.about["model"] if count[one.about["model"]] == 1 else str(one.folder) for one in runs]


def _column(names: Sequence[str], said: Sequence[Metric], pairs: Sequence[Pair]) -> dict[str, Any]:
    """One metric: values, who is tied with the best, every pair."""
    whole, lower = intervals.scale(said[0].unit), said[0].direction == "lower"
    best = min(range(len(said)), key=lambda i: (said[i].value or 0.0) * (1 if lower else -1))
    rows, tied = [], {best}
    for pair in pairs:
        tied |= {pair.first, pair.second} if pair.tie and best in (pair.first, pair.second) else set()
        rows.append({"of": [names[pair.first], names[pair.second]], **_row(pair, whole)})
    values = {name: metric.value for name, metric in zip(names, said, strict=True)}
    return {"unit": said[0].unit, "values": values, "best": [names[i] for i in sorted(tied)], "pairs": rows}


def _row(pair: Pair, whole: int) -> dict[str, Any]:
    found = pair.difference
    ends = None if found.interval is None else [whole * end for end in found.interval]
    row: dict[str, Any] = {"difference": whole * found.value, "interval": ends, "p": pair.p}
    if pair.only is not None:
        row["only_one_right"] = list(pair.only)
    return {**row, "p_corrected": pair.corrected, "tie": pair.tie}
