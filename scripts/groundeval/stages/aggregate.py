"""aggregate: ratios with their numerators and denominators, from the counts of all samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from groundeval import benchmarks, files, tables
from groundeval.metrics import intervals
from groundeval.metrics.ratios import Metric, Samples
from groundeval.samples import Histograms, arrays, read_histograms


def aggregate(table: pa.Table, histograms: Histograms, about: Mapping[str, Any]) -> dict[str, Any]:
    """The content of metrics.json."""
    protocol, samples = benchmarks.part(about["benchmark"], "protocol"), arrays(table)
    counts = _counts(samples)
    measured = protocol.metrics(samples, histograms, about["options"])
    measured |= _with_intervals(protocol, samples, histograms, about, measured)
    trivial = protocol.baselines(samples, histograms, about["options"])
    return {
        **{key: about[key] for key in ("benchmark", "version", "split", "model")},
        "status": _status(about, counts),
        "counts": counts,
        "metrics": plain(measured),
        "baselines": {name: plain(values) for name, values in trivial.items()},
        **{key: about[key] for key in ("format", "options")},
        "constants": dict(protocol.CONSTANTS),
        **{key: about[key] for key in ("notes", "dataset")},
    }


def run(samples: Path, histograms: Path, out: Path, summary: Path, points: Path) -> None:
    """Write metrics.json, its leaderboard columns alone for `dvc metrics`, and the points of curves for `dvc plots`."""
    table, counted, about = tables.read(samples), read_histograms(histograms), tables.meta(samples)
    content = aggregate(table, counted, about)
    files.write_text(points, curves(table, counted, about))
    files.write_json(summary, summarised(content))
    files.write_json(out, content)


def curves(table: pa.Table, histograms: Histograms, about: Mapping[str, Any]) -> str:
    """The points of a run's precision-recall curves as csv; only the header where the benchmark has none."""
    points = getattr(benchmarks.part(about["benchmark"], "protocol"), "curves", None)
    rows = points(arrays(table), histograms, about["options"]) if points else ()
    lines = (f"{r['curve']},{r['threshold']!r},{r['recall']!r},{r['precision']!r}" for r in rows)
    return "\n".join(["curve,threshold,recall,precision", *lines]) + "\n"


def summarised(content: Mapping[str, Any]) -> dict[str, float]:
    """The values of the leaderboard's columns; one that does not exist is left out, since DVC cannot compare null."""
    values = {
        name: content["metrics"].get(name, {}).get("value") for name in benchmarks.record(content["benchmark"]).columns
    }
    return {name: value for name, value in values.items() if value is not None}


def plain(metrics: Mapping[str, Metric]) -> dict[str, dict[str, Any]]:
    """Metrics as JSON: `reason` and the interval only where there is one."""
    dropped = {"reason", "interval", "interval_method"}
    said = {name: {**asdict(m), "interval": m.interval and list(m.interval)} for name, m in metrics.items()}
    return {name: {k: v for k, v in one.items() if v is not None or k not in dropped} for name, one in said.items()}


def _with_intervals(
    protocol: ModuleType, samples: Samples, histograms: Histograms, about: Mapping[str, Any], of: Mapping[str, Metric]
) -> dict[str, Metric]:
    """The metrics that have a value, each with its interval or with why it has none."""
    shares = {name: m.value / intervals.scale(m.unit) for name, m in of.items() if m.value is not None}
    if not shares:
        return {}
    found = intervals.of(protocol.terms(samples, histograms, about["options"]), samples["image_id"], shares)
    return {name: intervals.beside(of[name], found.get(name)) for name in shares}


def _status(about: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Of the run: without a truth there is nothing to score, only a package to send to the benchmark's server."""
    if about["split"] in benchmarks.record(about["benchmark"]).without_truth:
        return "package"
    return "incomplete" if counts["missing"] + counts["invalid"] else "complete"


def _counts(samples: Samples) -> dict[str, int]:
    found = Counter(samples["status"].tolist())
    return {"expected": len(samples["status"]), **{status: found[status] for status in tables.STATUSES}}
