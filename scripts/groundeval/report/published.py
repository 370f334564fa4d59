"""The rows that others published, from a benchmark's published.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from typing import Any

import yaml

from groundeval.metrics.ratios import Metric, Unit


@dataclass(frozen=True)
class Published:
    """One row of a paper or a web page. Its metrics have no numerator or denominator: nobody published them."""

    method: str
    split: str
    setting: str | None
    metrics: Mapping[str, Metric]
    note: str | None
    source: str


def read(benchmark: str) -> list[Published]:
    """A benchmark's published rows in the file's order; none where it has no such file."""
    file = resources.files(f"groundeval.benchmarks.{benchmark}") / "published.yaml"
    if not file.is_file():
        return []
    content = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return [_row(row, content["unit"], content["source"]) for row in content["rows"]]


def _row(row: Mapping[str, Any], unit: Unit, source: str) -> Published:
    metrics = {name: Metric(float(value), unit, None, None) for name, value in row["metrics"].items()}
    setting = row.get("setting")
    return Published(str(row["method"]), row["split"], setting, metrics, row.get("note"), row.get("source", source))


def in_unit(metric: Metric, unit: Unit) -> Metric:
    """The same value in another unit. The decimal point moves; no digit that was published changes."""
    if metric.value is None or metric.unit == unit:
        return metric
    places = 2 if unit == "percent" else -2
    return Metric(float(Decimal(repr(metric.value)).scaleb(places)), unit, None, None, metric.direction)


def in_units(metrics: Mapping[str, Metric], units: Mapping[str, Unit]) -> dict[str, Metric]:
    """Published values in the benchmark's own units, as far as a run shows them."""
    return {name: in_unit(metric, units.get(name, metric.unit)) for name, metric in metrics.items()}
