"""The zip that the KITTI road server takes: bird's-eye view maps of the testing split, made from maps at image size."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks.kitti_road import bev, frames
from groundeval.benchmarks.kitti_road.calib import read as read_calibration
from groundeval.errors import InputError, first_of
from groundeval.files import atomic
from groundeval.sources import confidence
from groundeval.sources.folder import Source

COUNTS: Mapping[str, int] = {"um_road": 96, "umm_road": 94, "uu_road": 100}
OPTIONAL: Mapping[str, int] = {"um_lane": 96}
PAPER = "The server takes only submissions that are tied to a paper."

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same for every entry, so that the same maps give the same bytes
_FIX = "Give one 8-bit grey PNG at image size for each image of testing/, named as um_road_000000.png."


def build(predictions: Path, calib: Path, out: Path) -> list[str]:
    """Turn maps at image size into the server's zip `out`, check it, and say what is in it and what to know.

    predictions: folder of 8-bit grey PNG, 290 roads and, if any, all 96 lanes; calib: testing/calib. Where image_2/
    lies beside calib/, a map has to have its image's size. Faults are InputErrors and leave no file.
    """
    source = Source(predictions)
    files = sorted(n for n in source.names() if "/" not in n)
    check_names(files, str(predictions))
    constant = 0
    with atomic(out) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
            for name in files:
                seen = _seen(source, name, calib)
                constant += int(seen.min() == seen.max())
                archive.writestr(_entry(name), _png(seen))
        validate(temporary, str(out))
    return [
        f"{out}: {_listing(files)}, bird's-eye view {bev.SHAPE[0]}x{bev.SHAPE[1]} (height x width), checked",
        *_warning(constant),
        PAPER,
    ]


def _seen(source: Source, name: str, calibrations: Path) -> NDArray[np.uint8]:
    """One map in bird's-eye view."""
    found, frame = confidence.decode(source.read(name), source.where(name)), frames.frame_of(Path(name).stem)
    image = calibrations.parent / "image_2" / f"{frame}.png"
    if image.is_file() and (fault := confidence.size_fault(found.shape, confidence.size_of(image))):
        raise InputError(source.where(name), f"the map {fault}, the size of {image.name}", _FIX)
    file = calibrations / f"{frame}.txt"
    return bev.look(found, bev.cells(bev.matrix(read_calibration(file), file), *found.shape))


def _png(image: NDArray[np.uint8]) -> bytes:
    done, data = cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 6])
    if not done:
        raise ValueError("OpenCV could not write a PNG")
    return bytes(data)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system, entry.external_attr = 3, 0o644 << 16
    return entry


def check_names(names: list[str], where: str) -> None:
    """Raise InputError unless these are the server's names: all of each road category, and all or none of um_lane."""
    lanes = OPTIONAL if any(n.startswith("um_lane_") for n in names) else {}
    wanted = {f"{category}_{i:06d}.png" for category, n in {**COUNTS, **lanes}.items() for i in range(n)}
    if unknown := [n for n in names if n not in wanted]:
        raise InputError(where, f"{len(unknown)} files are none of the server's, {first_of(unknown)}", _FIX)
    if doubled := [n for n, times in Counter(names).items() if times > 1]:
        raise InputError(where, f"{len(doubled)} names stand more than once, {first_of(doubled)}", _FIX)
    if absent := sorted(wanted.difference(names)):
        raise InputError(where, f"{len(absent)} of {len(wanted)} maps are missing, {first_of(absent)}", _FIX)


def validate(path: Path, where: str = "") -> None:
    """Raise InputError unless a zip is one that the server takes: names in the root, counts, 800x400, 8-bit grey.

    where: how messages name it, if not by its path.
    """
    where = where or str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            check_names(archive.namelist(), where)
            for name in archive.namelist():
                found = confidence.decode(archive.read(name), f"{where}/{name}")
                if fault := confidence.size_fault(found.shape, bev.SHAPE):
                    raise InputError(where, f"{name} {fault}", "Build it from maps at image size.")
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(where, f"is not a readable zip ({error})", "Build it again.") from None


def _listing(files: list[str]) -> str:
    counted = Counter(frames.category_of(Path(n).stem) for n in files)
    return ", ".join(f"{n} {category}" for category, n in sorted(counted.items()))


def _warning(constant: int) -> list[str]:
    return [f"Maps with one and the same confidence in every cell: {constant}."] if constant else []
