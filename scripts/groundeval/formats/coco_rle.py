"""coco_rle: a JSON list of COCO run-lengths, any number a sample; several are joined (OR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval.errors import InputError, quoted
from groundeval.formats import Format, _masks
from groundeval.metrics import masks
from groundeval.sources import ids, jsonfile
from groundeval.sources.folder import Source

FORMAT = Format(
    name="coco_rle",
    shape="mask",
    reads="a JSON list of {sample_id, segmentation: {size: [height, width], counts}}; several a sample are joined",
    example="""\
[{"sample_id": "2331-mug-handle", "segmentation": {"size": [480, 640], "counts": "PP...:0"}, "score": 0.9},
 {"sample_id": "2331-mug-body", "segmentation": {"size": [480, 640], "counts": [307000, 100, 100]}},
 {"sample_id": "77-cup-rim", "segmentation": null}]   null or []: the model says that nothing is there""",
    traps="""\
image_id stands for sample_id where there is none, and must hold the sample's id: two samples may share one photo.
size is [height, width]. counts is COCO's compressed string or its list of runs, in column order, background first.
Scores are not used: drop weak instances before you write the file. Other keys of a row are not read.
Polygons are refused.""",
)

_Row = tuple[str, Any]  # how a message names the row; its segmentation
_FIX = "Write it as pycocotools' encode does."
_ROWS = f"Write {FORMAT.reads}."


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    name = source.only(".json")
    rows = _by_id(jsonfile.load(source.read(name), source.where(name)), source.where(name), notes)
    ids.check(list(rows), manifest.column("sample_id").to_pylist(), source.where(name))

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        if sample_id not in rows:
            return None
        given = [(where, segmentation) for where, segmentation in rows[sample_id] if segmentation not in (None, [])]
        if len(given) > 1:
            notes["masks joined from several instances"] += 1
        return masks.union([_counts(s, height, width, where) for where, s in given], height, width)

    yield from _masks.batches(manifest, counts)


def _by_id(content: Any, where: str, notes: Counter[str]) -> dict[str, list[_Row]]:
    """The rows of each id, in the file's order."""
    if not isinstance(content, list):
        raise InputError(where, f"is a JSON {type(content).__name__}, expected a list of rows", _ROWS)
    rows: dict[str, list[_Row]] = {}
    for number, row in enumerate(content, 1):
        sample_id = _id(row, f"{where}, row {number}")
        place = f"{where}, row {number}, {quoted(sample_id)}"
        rows.setdefault(sample_id, []).append((place, row.get("segmentation", "absent")))
    scored = sum("score" in row for row in content)
    notes.update({"scores that were not used": scored} if scored else {})
    return rows


def _id(row: Any, where: str) -> str:
    if not isinstance(row, dict):
        raise InputError(where, "is not an object with sample_id and segmentation", _ROWS)
    found = row.get("sample_id", row.get("image_id"))
    if not isinstance(found, str | int) or isinstance(found, bool):
        raise InputError(where, f"its sample_id is {quoted(found)}, not a text", "Give each row the id of its sample.")
    return str(found)


def _counts(segmentation: Any, height: int, width: int, where: str) -> bytes:
    """The canonical counts of one row. Any fault is an InputError that names the row."""
    if isinstance(segmentation, list):
        raise InputError(where, "its segmentation is a polygon, not a run-length", _FIX)
    if not isinstance(segmentation, dict) or not {"size", "counts"} <= segmentation.keys():
        raise InputError(where, "its segmentation is no {size, counts}", _FIX)
    _masks.check_size(_size(segmentation["size"], where), (height, width), where)
    try:
        return masks.canonical(_runs(segmentation["counts"]), height, width)
    except ValueError as error:
        raise InputError(where, str(error), _FIX) from None


def _size(size: Any, where: str) -> tuple[int, int]:
    if not isinstance(size, list) or len(size) != 2 or not all(type(n) is int for n in size):
        raise InputError(where, f"its size is {quoted(size)}, expected [height, width]", _FIX)
    return size[0], size[1]


def _runs(counts: Any) -> masks.Runs:
    if isinstance(counts, str):
        return masks.unpack(counts.encode())
    if isinstance(counts, list) and counts and set(map(type, counts)) == {int}:
        return _integers(counts)
    raise ValueError("the counts are neither a string nor a list of whole numbers")


def _integers(counts: Sequence[int]) -> masks.Runs:
    if max(counts) > masks.MAX_PIXELS or min(counts) < 0:
        raise ValueError(f"the run-length has a run of {next(n for n in counts if not 0 <= n <= masks.MAX_PIXELS)}")
    return np.array(counts, np.int64)
