"""evaluate: all stages for one model in one process, from official files and prediction files to numbers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundeval import benchmarks, files, formats
from groundeval.errors import InputError
from groundeval.sources.folder import Source
from groundeval.stages import aggregate, convert, other_splits, provenance, score, split


def run(
    benchmark: str,
    truth: Path,
    split_name: str,
    predictions: Path,
    format_name: str,
    said: Mapping[str, Any],
    out: Path | None,
    model: str,
    allow_incomplete: bool = False,
) -> dict[str, Any]:
    """Score one model; write metrics.json, its two tables of counts and its provenance to `out`; return the metrics."""
    if out is not None:
        _check_out(out, {"--truth": truth, "--predictions": predictions})
    chosen = convert.declared(benchmark, format_name, said)
    notes: Counter[str] = Counter()
    own = {name: chosen[name] for name in benchmarks.record(benchmark).options}
    dataset = provenance.record_beside(truth)[1].get("version")
    manifest, manifest_said = split.manifest(benchmark, truth, split_name, own, notes, dataset)
    expected = benchmarks.part(benchmark, "truth").truth(truth, manifest, own, notes)
    answers = convert.convert(Source(predictions), format_name, manifest, chosen, notes, allow_incomplete)
    with other_splits.told(lambda: other_splits.official(benchmark, truth, split_name, own)):
        samples, histograms, digest = score.score(benchmark, manifest, expected, answers, chosen)
    about = score.about(manifest_said, formats.shown(format_name), chosen, notes, model, digest)
    content = aggregate.aggregate(samples, histograms, about)
    if out is not None:
        with files.together(out) as folder:
            score.write(samples, histograms, about, folder / "samples.parquet", folder / "histograms.parquet")
            files.write_json(folder / "metrics.json", content)
            provenance.alone(folder, truth, predictions, allow_incomplete, formats.adapter_file(format_name))
    return content


def _check_out(out: Path, inputs: Mapping[str, Path]) -> None:
    """Before anything is read: results can be written there, and do not mix with what is read."""
    for name, path in inputs.items():
        if path.is_dir() and out.resolve().is_relative_to(path.resolve()):
            raise InputError(f"--out {out}", f"lies in the folder of {name}", "Name a folder of its own.")
    present = next(p for p in (out, *out.absolute().parents) if p.exists())
    if not present.is_dir():
        raise InputError(f"--out {out}", f"{present} is a file, expected a folder", "Name another folder.")
    if not os.access(present, os.W_OK):
        raise InputError(f"--out {out}", f"no permission to write to {present}", "Name another folder.")
