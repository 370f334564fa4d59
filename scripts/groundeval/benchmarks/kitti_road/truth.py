"""KITTI road's folders: which samples there are, and their class maps.

A sample is a truth image, not a frame: `um_road_000000` and `um_lane_000000` are two samples of the frame `um_000000`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.benchmarks.kitti_road import RECORD, bev, calib, frames
from groundeval.errors import InputError
from groundeval.sources import confidence, images

NON_ROAD, ROAD, IGNORED = 0, 1, 255

_ROWS = 16  # a batch; a map has half a megabyte


def manifest(raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str]) -> pa.Table:
    """The samples of `training`, of `testing` (which has no truth), or of a list splits/{split}.txt of training frames.

    Tags: `category` (um_lane, um_road, umm_road, uu_road) and `bev_matrix`, the exact matrix of the bird's-eye view.
    """
    found = frames.samples(raw, split, options.get("tasks"), notes)
    part = frames.part(raw, split)
    rows = [_sample(part, name, split not in RECORD.without_truth) for name in found]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def _sample(part: Path, name: str, labelled: bool) -> dict[str, Any]:
    frame, image = frames.frame_of(name), part / "image_2" / f"{frames.frame_of(name)}.png"
    label = part / "gt_image_2" / f"{name}.png"
    height, width = confidence.size_of(label if labelled else image)
    if labelled and image.exists() and (fault := confidence.size_fault((height, width), confidence.size_of(image))):
        raise InputError(label, f"the truth {fault}, the size of {image.name}", "Unpack the official archive again.")
    calibration = part / "calib" / f"{frame}.txt"
    text = bev.to_text(bev.matrix(calib.read(calibration), calibration))
    return {
        "sample_id": name,
        "image_id": frame,
        "height": height,
        "width": width,
        "tags": {"category": frames.category_of(name), "bev_matrix": text},
        "truth_sha256": hashlib.sha256(label.read_bytes()).hexdigest() if labelled else None,
    }


def truth(
    raw: Path,
    manifest: pa.Table,
    options: Mapping[str, Any],  # noqa: ARG001
    notes: Counter[str],
) -> Iterator[pa.RecordBatch]:
    """uint8 class maps [H, W]: 0 non-road, 1 road, 255 not evaluated; null where the split has no truth."""
    known = manifest.select(["sample_id", "height", "width", "truth_sha256"]).to_pylist()
    rows = (_row(raw, said, notes) for said in known)
    return tables.rows_to_batches(rows, tables.truth_schema(RECORD.shape), _ROWS)


def _row(raw: Path, said: Mapping[str, Any], notes: Counter[str]) -> dict[str, Any]:
    name = said["sample_id"]
    if said["truth_sha256"] is None:
        return {"sample_id": name}
    path = frames.part(raw, "training") / "gt_image_2" / f"{name}.png"
    classes = class_map(path.read_bytes(), str(path), notes)
    if fault := confidence.size_fault(classes.shape, (said["height"], said["width"])):
        raise InputError(path, f"{fault}; the file has changed", "Make the split again.")
    return {"sample_id": name, **tables.pack_map(classes)}


def class_map(data: bytes, where: str, notes: Counter[str]) -> NDArray[np.uint8]:
    """The class map of an official truth image: evaluated iff red > 0, and then road iff blue > 0.

    Notes count images without a road or without any evaluated pixel, and those with other colours than the official
    three (black, red, magenta), which are read by the same rule.
    """
    image = images.decode(data, where)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        what = f"is {image.dtype.name} {list(image.shape)}, expected an RGB image of 8 bit a channel"
        raise InputError(where, what, "Use gt_image_2/ of the official archive.")
    red, green, blue = np.ascontiguousarray(np.moveaxis(image, 2, 0))
    classes = np.where(red > 0, (blue > 0).view(np.uint8), np.uint8(IGNORED))
    remarks = {
        "truth images with nothing to evaluate": not red.any(),
        "truth images without road": not (classes == ROAD).any(),
        "truth images with other colours than black, red and magenta": _is_painted_otherwise(red, green, blue),
    }
    notes.update(remark for remark, holds in remarks.items() if holds)
    return classes


def _is_painted_otherwise(red: NDArray[np.uint8], green: NDArray[np.uint8], blue: NDArray[np.uint8]) -> bool:
    """Whether a channel has another value than 0 and 255, or green or blue stand without red."""
    between = any(np.any((channel - np.uint8(1)) < 254) for channel in (red, blue))
    return bool(between or green.any() or (blue > red).any())
