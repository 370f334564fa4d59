"""grounded_sam2: the JSON that the demos of Grounded-SAM-2 dump, one file an image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError
from groundeval.formats import Format, _files, _json_files, _names, _rle
from groundeval.sources.folder import Source

FORMAT = Format(
    name="grounded_sam2",
    shape="mask",
    reads="a folder with one JSON a sample, {name}.json: {image_path, annotations: [{segmentation}], img_width, img_height}",
    options=_names.OPTIONS,
    example="""\
{"image_path": "images/2331.jpg", "box_format": "xyxy", "img_width": 640, "img_height": 480, "annotations": [
  {"class_name": "handle", "bbox": [12.0, 30.0, 80.0, 41.0], "score": [0.93],
   "segmentation": {"size": [480, 640], "counts": "U`b4e0[>0kah4"}}]}""",
    traps="""\
The demos write one fixed file name and overwrite it: save each run under the sample's id, or its image's (names=image).
All annotations are joined, whatever their class_name. Scores and boxes are not used; the score is SAM's, not a confidence.
An empty list of annotations says that nothing is there; the demos crash there instead, and the sample is then missing.
Annotated images beside the files are not read. The mask.jpg of the older Grounded-SAM is a figure with margins: useless.
Layout as of grounded_sam2_local_demo.py of IDEA-Research/Grounded-SAM-2.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+)\.(?i:json)", ".json", beside=r".+\.(?i:jpe?g|png)")


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    return _json_files.batches(source, LAYOUT, manifest, options, notes, _masks_of)


def _masks_of(content: dict[str, Any], height: int, width: int, where: str) -> list[bytes]:
    _json_files.check_size(content, "img_height", "img_width", (height, width), where)
    found = enumerate(_json_files.listed(content, "annotations", where), 1)
    return [_mask(annotation, height, width, f"{where}, annotation {number}") for number, annotation in found]


def _mask(annotation: Any, height: int, width: int, where: str) -> bytes:
    if not isinstance(annotation, dict):
        raise InputError(where, "is not an object with a segmentation", "Check which program wrote it.")
    return _rle.counts(annotation.get("segmentation"), height, width, where)
