"""coco_rle: a JSON list of COCO run-lengths, any number a sample; several are joined (OR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError, quoted
from groundeval.formats import Format, _masks, _rle
from groundeval.metrics import masks
from groundeval.options import Option
from groundeval.sources import ids, jsonfile
from groundeval.sources.folder import Source

FORMAT = Format(
    name="coco_rle",
    shape="mask",
    reads="a JSON list of {sample_id, segmentation: {size: [height, width], counts}}; several a sample are joined",
    options={
        "size": Option(
            "choice",
            "record: each run-length has its size; manifest: one without is of its image's size, and may be a bare string",
            "record",
            ("record", "manifest"),
        ),
    },
    example="""\
[{"sample_id": "2331-mug-handle", "segmentation": {"size": [480, 640], "counts": "U`b4e0[>0kah4"}, "score": 0.9},
 {"sample_id": "2331-mug-body", "segmentation": {"size": [480, 640], "counts": [307000, 100, 100]}},
 {"sample_id": "77-cup-rim", "segmentation": null}]""",
    traps="""\
null or [] as segmentation says that nothing is there; a sample without a row is missing.
image_id stands for sample_id where there is none, and must hold the sample's id: two samples may share one photo.
size is [height, width]. Without it nothing gives away a transposed mask, whose runs have the same sum.
counts is COCO's compressed string or its list of runs, in column order, background first.
Scores are not used: drop weak instances before you write the file. Other keys of a row are not read.
Rows that repeat another exactly (sampler padding) are joined like all rows of a sample, so without effect, and noted.
Polygons are refused. A counts string of b'...' or with doubled backslashes was not written as JSON text, and is refused.""",
)

_Row = tuple[str, Any]  # how a message names the row; its segmentation
_ROWS = f"Write {FORMAT.reads}."


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    sized = options.get("size") != "manifest"
    name = source.only(".json")
    rows = _by_id(jsonfile.load(source.read(name), source.where(name)), source.where(name), notes)
    ids.check(list(rows), manifest.column("sample_id").to_pylist(), source.where(name))

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        if sample_id not in rows:
            return None
        given = [(where, segmentation) for where, segmentation in rows[sample_id] if segmentation not in (None, [])]
        if len(given) > 1:
            notes["masks joined from several instances"] += 1
        notes.update(_repeats([s for _, s in given]))
        return masks.union([_rle.counts(s, height, width, where, sized) for where, s in given], height, width)

    yield from _masks.batches(manifest, counts, notes)


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


def _repeats(segmentations: list[Any]) -> dict[str, int]:
    """A note on run-lengths of one sample that stand more than once."""
    again = len(segmentations) - len(set(map(repr, segmentations))) if len(segmentations) > 1 else 0
    return {"run-lengths that repeat another of their sample: looks like sampler padding": again} if again else {}
