"""Small made-up benchmarks and runs, so that what the report shows is known without any benchmark's code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import tables
from groundeval.report.collect import Run, parse

RECORD = """
from groundeval.benchmarks import Record

RECORD = Record(
    name={name!r}, title={title!r}, version="3", shape="boxes", splits=("val", "test"), headline={headline!r},
    columns={columns!r},
)
"""
COLUMNS = {"acc": "share of right answers", "P@50": "percent above a half", "error": "lower is better"}
COUNTS = {"expected": 8, "answered": 6, "none": 2, "missing": 0, "invalid": 0}
PUBLISHED = """\
source: A paper, table 2
unit: percent
rows:
  - {method: Theirs, split: val, metrics: {acc: 62.1, P@50: 58.2}, note: read from a figure}
  - {method: Other split, split: test, metrics: {acc: 1.0}}
"""


def benchmark(
    folder: Path,
    name: str = "toy",
    title: str = "Toy",
    columns: Mapping[str, str] = COLUMNS,
    published: str | None = PUBLISHED,
) -> None:
    """Write a benchmark folder with a record, whose headline is the first column, and its published rows."""
    (folder / name).mkdir(parents=True)
    said = RECORD.format(name=name, title=title, headline=next(iter(columns)), columns=dict(columns))
    (folder / name / "__init__.py").write_text(said, encoding="utf-8")
    if published is not None:
        (folder / name / "published.yaml").write_text(published, encoding="utf-8")


def metric(numerator: float, denominator: float, unit: str = "fraction", **more: Any) -> dict[str, Any]:
    """One entry of `metrics`; over 0 it is null with a reason."""
    said = {"value": None, "unit": unit, "numerator": numerator, "denominator": denominator, "direction": "higher"}
    if denominator == 0:
        return {**said, "reason": "nothing to divide by", **more}
    return {**said, "value": (100 if unit == "percent" else 1) * numerator / denominator, **more}


def run(model: str, right: float = 5, **more: Any) -> dict[str, Any]:
    """The content of one metrics.json of the benchmark `toy`."""
    metrics: dict[str, Any] = {
        "acc": metric(right, 8, interval=[0.25, 0.9], interval_method="by hand"),
        "P@50": metric(1, 3, "percent"),
        "error": metric(1, 4, direction="lower"),
        "mean F1": metric(2.25, 4),
        "by_kind/multi/acc": metric(1, 4),
        "by_kind/none/acc": metric(0, 0),
        "by_object/cup/saucer/acc": metric(1, 2),
        "IoU/sky": metric(11, 12),
    }
    said: dict[str, Any] = {
        "benchmark": "toy",
        "version": "3",
        "split": "val",
        "model": model,
        "status": "complete",
        "counts": COUNTS,
    }
    said |= {"metrics": metrics, "baselines": {"empty": {"acc": metric(2, 8)}}, "format": "boxes_json"}
    said |= {"options": {"boxes": "xywh", "score_threshold": None, "unit": "px"}, "notes": {"areas of zero dropped": 2}}
    return {**said, "dataset": {"version": "demo", "truth": "ab" * 32}, **more}


def write(folder: Path, *runs: Mapping[str, Any]) -> list[Path]:
    """Each run as a metrics.json of its own."""
    files = [folder / f"run{i}" / "metrics.json" for i in range(len(runs))]
    for file, content in zip(files, runs, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content), encoding="utf-8")
    return files


def parsed(content: Mapping[str, Any]) -> Run:
    """The run of the content of a metrics.json."""
    return parse(content)


def copy_tables(source: Path, out: Path, **about: Any) -> None:
    """The tables of a run beside another metrics.json, saying other things of themselves."""
    table, said = tables.read(source / "samples.parquet"), tables.meta(source / "samples.parquet")
    schema = table.schema.remove_metadata()
    tables.write(out / "samples.parquet", table.to_batches(), schema, {**said, **about})
    shutil.copy(source / "histograms.parquet", out)


def empty_samples() -> pa.Table:
    """A samples table of no sample."""
    return pa.table({"sample_id": pa.array([], pa.string())})
