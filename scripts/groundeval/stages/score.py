"""score: integer counts of each sample, and histograms of the run where a curve needs them. No ratio yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import benchmarks, cores, tables
from groundeval.digests import TableDigest
from groundeval.samples import Histograms
from groundeval.sources import progress

HISTOGRAMS = pa.schema([pa.field("name", pa.string(), nullable=False), *tables.COLUMNS["map"]])
_KEPT = ("sample_id", "image_id", "kind", "tags")


def score(
    benchmark: str,
    manifest: pa.Table,
    truth: Iterable[pa.RecordBatch],
    predictions: Iterable[pa.RecordBatch],
    options: Mapping[str, Any],
) -> tuple[pa.Table, Histograms, str]:
    """The samples table, the histograms, and the digest of manifest and truth. Memory is bounded by one batch."""
    count = benchmarks.part(benchmark, "protocol").counts
    digest, parts = TableDigest(), []
    histograms: Histograms = {}
    digest.add(manifest.replace_schema_metadata(None))
    with cores.using(cores.worth(manifest.num_rows)):
        alone = not cores.several()

        def counted(of: tuple[pa.RecordBatch, ...]) -> tuple[dict[str, NDArray[Any]], Histograms]:
            found: Histograms = histograms if alone else {}
            return count(of[2], of[1], of[0], options, found), found

        aligned, again = tee(tables.align(manifest.to_batches(), predictions, digest.through(truth)))
        with progress.counted(f"score {benchmark}", manifest.num_rows) as advance:
            for (counts, found), (known, answer, _) in zip(
                cores.mapped(counted, aligned, Counter()), again, strict=True
            ):
                parts.append(_rows(known, answer, counts))
                advance(known.num_rows)
                if not alone:
                    _add(histograms, found)
    return pa.Table.from_batches(parts), histograms, digest.hexdigest()


def _add(histograms: Histograms, found: Histograms) -> None:
    """Integers are added, exactly in any order. What is a single sample's comes once."""
    for name, values in found.items():
        histograms[name] = histograms[name] + values if name in histograms else values


def run(manifest: Path, truth: Path, predictions: Path, model: str, out: Path, histograms_out: Path) -> None:
    """Write samples.parquet and histograms.parquet."""
    said, converted = tables.meta(manifest), tables.meta(predictions)
    samples, histograms, digest = score(
        said["benchmark"],
        tables.read(manifest),
        tables.stream(truth),
        tables.stream(predictions),
        converted["options"],
    )
    notes = merge_notes(said["notes"], tables.meta(truth)["notes"], converted["notes"])
    meta = about(said, converted["format"], converted["options"], notes, model, digest)
    write(samples, histograms, meta, out, histograms_out)


def about(
    manifest_said: Mapping[str, Any],
    format_name: str,
    options: Mapping[str, Any],
    notes: Mapping[str, int],
    model: str,
    digest: str,
) -> dict[str, Any]:
    """What a samples table says of itself: the identity of the run. In the order in which it is read from a table."""
    return {
        "benchmark": manifest_said["benchmark"],
        "version": benchmarks.record(manifest_said["benchmark"]).version,
        "split": manifest_said["split"],
        "model": model,
        "format": format_name,
        "options": dict(sorted(options.items())),
        "notes": dict(sorted(notes.items())),
        "dataset": {"truth": digest, "version": manifest_said["dataset"]},
    }


def write(samples: pa.Table, histograms: Histograms, meta: Mapping[str, Any], out: Path, histograms_out: Path) -> None:
    """Write both tables; samples last, so that whoever sees it finds the other too."""
    packed = ({"name": name, **tables.pack_map(array)} for name, array in sorted(histograms.items()))
    tables.write(histograms_out, tables.rows_to_batches(packed, HISTOGRAMS, 1), HISTOGRAMS, {})
    tables.write(out, samples.to_batches(), samples.schema, meta)


def merge_notes(*notes: Mapping[str, int]) -> dict[str, int]:
    """Notes of several stages, added."""
    total: Counter[str] = Counter()
    for said in notes:
        total.update(said)
    return dict(total)


def _rows(known: pa.RecordBatch, answer: pa.RecordBatch, counted: Mapping[str, NDArray[Any]]) -> pa.RecordBatch:
    columns = {name: known.column(name) for name in _KEPT}
    columns["status"] = _status(answer.column("status"), counted.get("answered"))
    columns |= {name: _packed(values) for name, values in counted.items() if name != "answered"}
    return pa.RecordBatch.from_pydict(columns)


def _status(status: pa.Array, answered: NDArray[np.bool_] | None) -> pa.Array:
    """A protocol may decide that an answer claims nothing (a score threshold): then its status is "none"."""
    if answered is None:
        return status
    values = status.to_numpy(zero_copy_only=False)
    open_ = (values == "answered") | (values == "none")
    return pa.array(np.where(open_, np.where(answered, "answered", "none"), values), pa.string())


def _packed(values: NDArray[Any]) -> pa.Array:
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])
