"""confidence_png: a folder of 8-bit grey PNG confidence maps at image size, one a sample, named as its truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.errors import InputError, first_of
from groundeval.formats import Format
from groundeval.sources import confidence, ids
from groundeval.sources.folder import Source

FORMAT = Format(
    name="confidence_png",
    shape="map",
    maps="confidences",
    reads="a folder of 8-bit grey PNG maps, one a sample, named as the truth: um_road_000000.png",
    example="um_lane_000000.png\num_road_000000.png\numm_road_000000.png",
    traps="""\
Every value counts as it stands: no stretching, no resizing. A 0/1 mask is a map with the two lowest confidences.
JPEG, palette, 16-bit and colour files are refused, as their values are not confidences 0..255.
Only files in the folder itself are read, as the splits of one benchmark can share file names.""",
)
_ROWS = 16  # a batch; a map has half a megabyte


def read(
    source: Source,
    manifest: pa.Table,
    options: Mapping[str, Any],  # noqa: ARG001
    notes: Counter[str],
) -> Iterator[pa.RecordBatch]:
    """One row a sample of the manifest, in its order. A file of no sample is an InputError."""
    files = _files(source, notes)
    expected = manifest.column("sample_id").to_pylist()
    ids.check(list(files), expected, str(source.path))
    sizes = zip(manifest.column("height").to_pylist(), manifest.column("width").to_pylist(), strict=True)
    rows = (_row(i, source, files.get(i), size, notes) for i, size in zip(expected, sizes, strict=True))
    return tables.rows_to_batches(rows, tables.predictions_schema(FORMAT.shape), _ROWS)


def _files(folder: Source, notes: Counter[str]) -> dict[str, str]:
    """Sample id -> file name, of the PNG files that lie directly in the folder."""
    folder.expect_folder("PNG maps")
    names = [n for n in folder.names() if "/" not in n]
    if jpegs := [n for n in names if n.lower().endswith((".jpg", ".jpeg"))]:
        what = f"{len(jpegs)} JPEG files, {first_of(jpegs)}; JPEG alters confidences"
        raise InputError(folder.path, what, "Save the maps as 8-bit grey PNG.")
    found = [n for n in names if n.endswith(".png")]
    if left := len(folder.names()) - len(found):
        notes["files that are not .png or lie in subfolders, not read"] += left
    return {PurePosixPath(n).stem: n for n in found}


def _row(sample: str, folder: Source, name: str | None, size: tuple[int, int], notes: Counter[str]) -> dict[str, Any]:
    if name is None:
        return {"sample_id": sample, "status": "missing", "reason": f"no file {sample}.png"}
    try:
        found = confidence.decode(folder.read(name), folder.where(name))
    except InputError as error:
        return {"sample_id": sample, "status": "invalid", "reason": f"{name} {error.what}"}
    if fault := confidence.size_fault(found.shape, size):
        return {"sample_id": sample, "status": "invalid", "reason": f"{name} {fault}"}
    _remark(found, notes)
    return {"sample_id": sample, "status": "answered", **tables.pack_map(found)}


def _remark(found: NDArray[np.uint8], notes: Counter[str]) -> None:
    highest = int(found.max(initial=0))
    if highest <= 1:
        notes["maps of 0 alone" if highest == 0 else "maps of 0 and 1 alone, out of 0..255"] += 1
