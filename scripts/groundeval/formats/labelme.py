"""labelme: the JSON of the annotation tool of that name, one file a sample, its shapes joined."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval.errors import InputError, first_of, quoted
from groundeval.formats import Format, _files, _json_files, _names
from groundeval.metrics import masks
from groundeval.metrics.polygons import rasterise
from groundeval.options import Option
from groundeval.sources import binary, images
from groundeval.sources.folder import Source

FORMAT = Format(
    name="labelme",
    shape="mask",
    reads="a folder with one JSON a sample, {name}.json: {shapes: [{label, points, shape_type}], imageHeight, imageWidth}",
    options={
        "labels": Option("text", "read only the shapes of these labels, with commas between; without it all"),
        **_names.OPTIONS,
    },
    example="""\
{"version": "5.5.0", "imagePath": "2331.jpg", "imageData": null, "imageHeight": 480, "imageWidth": 640, "shapes": [
  {"label": "handle", "shape_type": "polygon", "points": [[10, 20], [60, 20], [60, 45]], "group_id": null}]}""",
    traps="""\
Shapes are joined: polygons, rectangles (two corners), and masks (a PNG within the rectangle of their points).
Circles, points, lines and line strips are refused: they have no area, or none that is agreed on.
No shape says that nothing is there. A polygon of fewer than 3 distinct points, or of no area, is dropped and noted.
Points are pixels of an image of imageHeight x imageWidth, which must be the size of the sample's image.
LabelMe has no holes: an inner polygon fills what an outer one leaves open. Images beside the files are not read.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+)\.(?i:json)", ".json", beside=r".+\.(?i:jpe?g|png|bmp|webp)")
_KEPT = "shapes of the declared labels"
_FIX = "Draw it as a polygon, a rectangle or a mask."


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    labels = {part.strip() for part in (options.get("labels") or "").split(",")} - {""}

    def shapes(content: dict[str, Any], height: int, width: int, where: str) -> list[bytes]:
        _json_files.check_size(content, "imageHeight", "imageWidth", (height, width), where)
        found = [
            _shape(s, f"{where}, shape {n}") for n, s in enumerate(_json_files.listed(content, "shapes", where), 1)
        ]
        kept = [s for s in found if not labels or s["label"] in labels]
        if len(kept) < len(found):
            notes["shapes of other labels, not read"] += len(found) - len(kept)
        notes.update({_KEPT: len(kept)} if labels else {})
        outlines = [_outline(s, where) for s in kept if s["shape_type"] != "mask"]
        rasters = rasterise([outlines], [height], [width], ["px"])
        if rasters.faults:
            raise InputError(where, rasters.faults[0], "Correct its points.")
        notes.update(rasters.notes)
        drawn = rasters.counts if outlines else []
        return [*drawn, *(_pasted(s, (height, width), where) for s in kept if s["shape_type"] == "mask")]

    yield from _json_files.batches(source, LAYOUT, manifest, options, notes, shapes)
    if labels and not notes.pop(_KEPT, 0):
        what = f"no shape in any file has one of the declared labels, {first_of(sorted(labels))}"
        raise InputError(source.path, what, "Correct labels=...; without it every shape is read.")


def _shape(shape: Any, where: str) -> dict[str, Any]:
    if (
        not isinstance(shape, dict)
        or not isinstance(shape.get("points"), list)
        or not isinstance(shape.get("label"), str)
    ):
        raise InputError(where, "is no object with label and points", "Check which program wrote it.")
    kind = shape.get("shape_type") or "polygon"
    if kind not in ("polygon", "rectangle", "mask"):
        raise InputError(where, f"is a {quoted(kind)}, which is no area", _FIX)
    return {**shape, "shape_type": kind}


def _outline(shape: Mapping[str, Any], where: str) -> Any:
    if shape["shape_type"] == "polygon":
        return shape["points"]
    (left, top), (right, bottom) = _corners(shape, where)
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def _corners(shape: Mapping[str, Any], where: str) -> list[list[float]]:
    points: list[list[float]] = shape["points"]
    if len(points) != 2 or not all(
        isinstance(p, list) and len(p) == 2 and {*map(type, p)} <= {int, float} for p in points
    ):
        raise InputError(where, f"a {shape['shape_type']} has no two corners [x, y]", _FIX)
    return points


def _pasted(shape: Mapping[str, Any], size: tuple[int, int], where: str) -> bytes:
    """The mask of a shape that is a PNG, placed with its upper left pixel at the first of its two points."""
    (left, top), (right, bottom) = _corners(shape, where)
    try:
        data = base64.b64decode(shape.get("mask") or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise InputError(where, "the mask of a shape is no base64 text", _FIX) from None
    part = binary.binarise(images.decode(data, f"{where}, the mask of a shape"), where)
    rows, columns = int(top), int(left)
    if part.shape != (int(bottom) - rows + 1, int(right) - columns + 1):
        raise InputError(where, "the mask of a shape does not fill its rectangle", "Correct its points.")
    if rows < 0 or columns < 0 or rows + part.shape[0] > size[0] or columns + part.shape[1] > size[1]:
        raise InputError(where, "the mask of a shape reaches out of the image", "Correct its points.")
    whole = np.zeros(size, np.bool_)
    whole[rows : rows + part.shape[0], columns : columns + part.shape[1]] = part
    return masks.encode(whole)
