"""aggregate: ratios with their numerators and denominators, from the counts of all samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import benchmarks, files, tables
from groundeval.metrics.ratios import Metric, Samples
from groundeval.stages.score import Histograms, read_histograms


def aggregate(table: pa.Table, histograms: Histograms, about: Mapping[str, Any]) -> dict[str, Any]:
    """The content of metrics.json."""
    protocol, samples = benchmarks.part(about["benchmark"], "protocol"), arrays(table)
    counts = _counts(samples)
    measured = protocol.metrics(samples, histograms, about["options"])
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


def run(samples: Path, histograms: Path, out: Path, summary: Path) -> None:
    """Write metrics.json, and the leaderboard's columns alone for `dvc metrics`."""
    content = aggregate(tables.read(samples), read_histograms(histograms), tables.meta(samples))
    files.write_json(summary, summarised(content))
    files.write_json(out, content)


def summarised(content: Mapping[str, Any]) -> dict[str, float]:
    """The values of the leaderboard's columns; one that does not exist is left out, since DVC cannot compare null."""
    values = {
        name: content["metrics"].get(name, {}).get("value") for name in benchmarks.record(content["benchmark"]).columns
    }
    return {name: value for name, value in values.items() if value is not None}


def arrays(table: pa.Table) -> Samples:
    """The samples table as arrays of equal length; each tag is a column `tag/<name>`."""
    out = {name: tables.column(table, name) for name in table.column_names if name != "tags"}
    return out | _tags(table)


def plain(metrics: Mapping[str, Metric]) -> dict[str, dict[str, Any]]:
    """Metrics as JSON: `reason` only where there is one."""
    dropped = {"reason"}
    return {n: {k: v for k, v in asdict(m).items() if v is not None or k not in dropped} for n, m in metrics.items()}


def _status(about: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Of the run: without a truth there is nothing to score, only a package to send to the benchmark's server."""
    if about["split"] in benchmarks.record(about["benchmark"]).without_truth:
        return "package"
    return "incomplete" if counts["missing"] + counts["invalid"] else "complete"


def _tags(table: pa.Table) -> dict[str, NDArray[Any]]:
    rows = [dict(tags) for tags in table.column("tags").to_pylist()]
    names = sorted({name for tags in rows for name in tags})
    return {f"tag/{name}": np.array([tags.get(name) for tags in rows], dtype=object) for name in names}


def _counts(samples: Samples) -> dict[str, int]:
    found = Counter(samples["status"].tolist())
    return {"expected": len(samples["status"]), **{status: found[status] for status in tables.STATUSES}}
