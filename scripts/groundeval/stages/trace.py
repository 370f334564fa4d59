"""trace: from a number to the rows that it comes from, the files, their digests, and one sample's two sides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval import benchmarks, files, tables
from groundeval.digests import file_sha256
from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.metrics import masks
from groundeval.provenance import inputs
from groundeval.samples import arrays
from groundeval.verify.runs import Run, find

SHOWN = 12  # numbers of a column that is a list


def run(folder: Path, metric: str, sample: str | None, out: Path | None) -> None:
    """Print the trace; write the sample's truth and prediction into `out` where it is given."""
    found = [one for one in find(folder) if one.folder == folder]
    if not found:
        raise InputError(folder, "holds several runs", "Name one run's folder, results/BENCHMARK/SPLIT/MODEL.")
    print("\n".join(_lines(found[0], metric, sample, out)))


def _lines(run: Run, metric: str, sample: str | None, out: Path | None) -> Iterator[str]:
    content = json.loads((run.folder / "metrics.json").read_bytes())
    if metric not in content["metrics"]:
        what = f"no metric {quoted(metric)}{did_you_mean(metric, content['metrics'])}"
        raise InputError(run.folder / "metrics.json", what, "Correct the name.")
    yield from _number(metric, content)
    yield from _files(run)
    if sample is not None:
        yield from _sample(run, content, metric, sample, out)


def _number(metric: str, content: Mapping[str, Any]) -> Iterator[str]:
    said, counts = content["metrics"][metric], content["counts"]
    times = " x 100" if said["unit"] == "percent" else ""
    yield f"{metric} = {said['value']} ({said['unit']}, {said['direction']} is better)"
    yield f"  = {said['numerator']} / {said['denominator']}{times}" + (
        f"; {said['reason']}" if "reason" in said else ""
    )
    yield f"  {content['benchmark']} {content['version']}, split {content['split']}, model {content['model']}"
    yield "  samples: " + ", ".join(f"{counts[name]} {name}" for name in ("expected", *tables.STATUSES))
    yield f"  formula: scripts/groundeval/benchmarks/{content['benchmark']}/README.md, protocol.py"


def _files(run: Run) -> Iterator[str]:
    """Each step back, with the digest of the bytes as they are now; verify compares them with the recorded ones."""
    yield "from"
    for name in ("metrics.json", "samples.parquet", "histograms.parquet", "predictions.parquet"):
        if (run.folder / name).is_file():
            yield f"  {file_sha256(run.folder / name)}  {run.folder / name}"
    for name, known in run.inputs.items():
        digest, kind = known.get("sha256"), ""
        if "merkle_root" in known:
            digest, kind = known["merkle_root"], f" (Merkle root of {known['files']} files)"
        absent = "" if run.path(name).exists() else ", not here"
        yield f"  {digest}  {known['name']}{kind}{absent}"
    tree, scorer = run.predicate["tree"], run.predicate["scorer"]["sha256"]
    yield f"  scored by {len(scorer)} source files, commit {tree['commit'] or 'unknown'}, tree {tree['state']}"


def _sample(run: Run, content: Mapping[str, Any], metric: str, sample: str, out: Path | None) -> Iterator[str]:
    table = tables.read(run.folder / "samples.parquet")
    row = _row(table, sample, run.folder / "samples.parquet")
    yield f"sample {quoted(sample)}"
    for name, value in row.items():
        yield f"  {name} = {_shown(value)}"
    yield from _alone(table, sample, content, metric)
    yield from _delivered(run, sample)
    if run.piped and run.present("manifest", "truth"):
        known = _row(tables.read(run.path("manifest")), sample, run.path("manifest"))
        yield f"  manifest: {known['height']} x {known['width']}, truth file {known['truth_sha256'] or 'not by sample'}"
        for side, path in (("truth", run.path("truth")), ("prediction", run.folder / "predictions.parquet")):
            yield from _side(side, _row(tables.read(path), sample, path), known, out)


def _row(table: pa.Table, sample: str, path: Path) -> dict[str, Any]:
    ids = table.column("sample_id").to_pylist()
    if sample not in ids:
        raise InputError(path, f"no sample {quoted(sample)}{did_you_mean(sample, ids)[:200]}", "Correct the id.")
    found: dict[str, Any] = table.slice(ids.index(sample), 1).to_pylist()[0]
    return found


def _alone(table: pa.Table, sample: str, content: Mapping[str, Any], metric: str) -> Iterator[str]:
    """What the metric would be over this one sample: its part in a mean, not in a ratio of sums."""
    one = table.slice(table.column("sample_id").to_pylist().index(sample), 1)
    protocol = benchmarks.part(content["benchmark"], "protocol")
    said = protocol.metrics(arrays(one), {}, content["options"]).get(metric)
    if said is not None and said.value is not None:
        yield f"  {metric} of this sample alone: {said.value} = {said.numerator} / {said.denominator}"


def _delivered(run: Run, sample: str) -> Iterator[str]:
    """The delivered file that is named after the sample, or the only one."""
    known = run.inputs["predictions"]
    path = run.path("predictions")
    named = inputs.listing(path) if path.exists() else known.get("sha256", {})
    near = {n: d for n, d in named.items() if Path(n).stem == sample or len(named) == 1}
    for name, digest in near.items():
        yield f"  delivered in {known['name']}{'' if path.is_file() else f'/{name}'}, sha256 {digest}"


def _side(side: str, row: Mapping[str, Any], known: Mapping[str, Any], out: Path | None) -> Iterator[str]:
    for name, value in row.items():
        if name != "sample_id" and value is not None:
            yield f"  {side}.{name} = {_shown(value)}"
    if out is not None and (written := _write(side, row, known, out)):
        yield f"  {side} written to {written}"


def _write(side: str, row: Mapping[str, Any], known: Mapping[str, Any], out: Path) -> Path | None:
    """A mask as PNG of 0 and 255, a map as .npy, boxes as JSON; nothing where there is nothing."""
    out.mkdir(parents=True, exist_ok=True)
    if row.get("mask") is not None:
        import cv2

        path, runs = out / f"{side}.png", masks.unpack(row["mask"])
        values = np.tile(np.array([0, 255], np.uint8), len(runs) // 2 + 1)[: len(runs)]
        flat = np.repeat(values, runs).reshape(known["width"], known["height"]).T
        path.write_bytes(cv2.imencode(".png", flat)[1].tobytes())
    elif row.get("map") is not None:
        path = out / f"{side}.npy"
        np.save(path, np.frombuffer(row["map"], row["dtype"]).reshape(row["dims"]))
    elif row.get("boxes") is not None:
        path = out / f"{side}.json"
        files.write_json(path, {"boxes": row["boxes"], "scores": row.get("scores")})
    else:
        return None
    return path


def _shown(value: Any) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes, sha256 {_sha256(value)}"
    if isinstance(value, list) and len(value) > SHOWN:
        return f"[{', '.join(map(str, value[:SHOWN]))}, ... {len(value)} in all]"
    return str(dict(value) if isinstance(value, list) and value and isinstance(value[0], tuple) else value)


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()
