"""A run's table of counts and its histograms as arrays, as metrics take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.metrics.ratios import Samples

Histograms = dict[str, NDArray[Any]]


def arrays(table: pa.Table) -> Samples:
    """The samples table as arrays of equal length; each tag is a column `tag/<name>`."""
    out = {name: tables.column(table, name) for name in table.column_names if name != "tags"}
    return out | _tags(table)


def read_histograms(path: Path, scores: bool = True) -> Histograms:
    """The histograms of a run, by name. scores: with the float32 scores themselves, which take a run's whole memory."""
    opened = tables.opened(path)
    out: Histograms = {}
    for group in range(opened.num_row_groups):
        names = opened.read_row_group(group, columns=["name"]).column("name").to_pylist()
        if scores or not all("/float32/" in name for name in names):
            (batch,) = opened.read_row_group(group).combine_chunks().to_batches()
            arrays_ = {name: tables.unpack_map(batch, row) for row, name in enumerate(names)}
            out |= {name: array for name, array in arrays_.items() if array is not None}
    return out


def _tags(table: pa.Table) -> dict[str, NDArray[Any]]:
    if not any(len(chunk.keys) for chunk in table.column("tags").chunks):
        return {}
    rows = [dict(tags) for tags in table.column("tags").to_pylist()]
    names = sorted({name for tags in rows for name in tags})
    return {f"tag/{name}": np.array([tags.get(name) for tags in rows], dtype=object) for name in names}
