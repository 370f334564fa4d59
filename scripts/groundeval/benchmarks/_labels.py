"""Folders of images and label PNGs of the same stem: pairing them, and reading labels that are beyond doubt."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.errors import InputError, first_of
from groundeval.sources import images
from groundeval.sources.folder import Source

_FIX = "Use the label files of the official archive."


def pairs(pictures: Path, labels: Path, notes: Counter[str]) -> list[str]:
    """The sorted stems of labels. Where the images are there, each must have its label and the other way round."""
    if not labels.is_dir():
        raise InputError(labels, "no such folder", "Give the folder that holds it, in the official layout.")
    files = Source(labels).names(".png", ".jpg", ".jpeg")
    if jpegs := [name for name in files if not name.lower().endswith(".png")]:
        raise InputError(labels, f"{len(jpegs)} labels are JPEG, {first_of(jpegs)}; it changes class values", _FIX)
    found = _stems(files)
    if not pictures.is_dir():
        notes[f"{pictures.name}/ is absent: not checked that every image has its label"] += 1
        return found
    seen = _stems(Source(pictures).names(".png", ".jpg", ".jpeg"))
    _refuse(pictures, set(seen) - set(found), f"images have no label in {labels.name}/")
    _refuse(labels, set(found) - set(seen), f"labels have no image in {pictures.name}/")
    return found


def _stems(names: Sequence[str]) -> list[str]:
    return sorted(name.rpartition(".")[0] for name in names)


def _refuse(folder: Path, stems: Collection[str], what: str) -> None:
    if stems:
        raise InputError(folder, f"{len(stems)} {what}, {first_of(sorted(stems))}", "Unpack the whole archive again.")


def manifest(labels: Path, stems: Sequence[str]) -> pa.Table:
    """One sample a label, with its size and digest."""
    return pa.Table.from_pylist([_sample(labels / f"{stem}.png", stem) for stem in stems], schema=tables.MANIFEST)


def _sample(path: Path, stem: str) -> dict[str, Any]:
    data = _bytes(path)
    head = images.header(data, str(path))
    return {
        "sample_id": stem,
        "image_id": stem,
        "height": head.height,
        "width": head.width,
        "tags": {},
        "truth_sha256": hashlib.sha256(data).hexdigest(),
    }


def read(labels: Path, samples: pa.Table, allowed: Collection[int]) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Sample id and label [H, W] for each row of a manifest."""
    for stem, digest in zip(*(samples.column(n).to_pylist() for n in ("sample_id", "truth_sha256")), strict=True):
        path = labels / f"{stem}.png"
        data = _bytes(path)
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(path, "has changed since the split was made", "Make the split again.")
        yield stem, checked(images.decode(data, str(path)), allowed, path)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "Check the file and its permissions.") from None


def checked(pixels: NDArray[Any], allowed: Collection[int], path: Path) -> NDArray[np.uint8]:
    """A label of 8 bits and one channel, all of whose values are allowed; anything else is an InputError with a hint."""
    if pixels.ndim != 2:
        raise InputError(path, "is a colour image, expected grey class numbers", "Use the labels, not their rendering.")
    if pixels.dtype != np.uint8:
        raise InputError(path, "is 16-bit, expected 8-bit class numbers", "Use the labels, not depth or instances.")
    if pixels.max(initial=0) < len(allowed) and allowed == range(len(allowed)):
        return pixels
    counts = np.bincount(pixels.ravel(), minlength=256)
    strange = [value for value in np.flatnonzero(counts).tolist() if value not in allowed]
    if strange:
        what = f"{int(counts[strange].sum())} pixels are no class, lowest value {strange[0]}; {_hint(strange)}"
        raise InputError(path, what, _FIX)
    return pixels


def _hint(strange: Sequence[int]) -> str:
    if len(strange) > 8:
        return f"{len(strange)} such values: was it a JPEG, or resized with interpolation?"
    return f"all such values: {', '.join(map(str, strange))}; other ids, or stretched for display?"
