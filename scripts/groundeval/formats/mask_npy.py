"""mask_npy: NumPy arrays, one a sample; several masks in one array are joined (OR)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.formats import Format, _files, _masks, _names
from groundeval.metrics import masks
from groundeval.options import Option
from groundeval.sources import binary, npy
from groundeval.sources.folder import Source

FORMAT = Format(
    name="mask_npy",
    shape="mask",
    reads="a folder with {name}.npy or {name}/predicted_mask.npy, arrays [H, W] or [N, H, W]; the N are joined",
    options={
        "values": Option(
            "choice",
            "binary: bool, or two values of which one is 0; probability: 0 to 1, foreground above 0.5; logit: above 0",
            "binary",
            ("binary", "probability", "logit"),
        ),
        **_names.OPTIONS,
    },
    example='numpy.save("predictions/2331-mug-handle.npy", mask)           # bool [H, W]\n'
    'numpy.save("predictions/2331-mug-handle/predicted_mask.npy", mask)',
    traps="""\
A probability and a logit cannot be told apart for sure: declare which. Probabilities outside 0..1 are refused.
[H, W, N] is refused: a mask is the last two axes. So is [N, 1, H, W]: squeeze it. [0, H, W] says that nothing is there.
Saving under the photo's name (names=image) overwrites the mask of another sample with the same photo: these are invalid.
Arrays of Python objects are pickles, which can run programs: they are never loaded.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+?)(/predicted_mask)?\.npy", ".npy")
MOST_BYTES = 1 << 30  # of one array
_DECLARE = "Save bool masks, or declare values=probability or values=logit."
_CUTS = {"probability": 0.5, "logit": 0.0}


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    files = {n: p[0] for n, p in _files.find(source, LAYOUT, notes, [options.get("map")]).items()}
    matched = _names.match(files, manifest, options, source)

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        name = matched.answer(sample_id, source)
        if name is None:
            return None
        where = source.where(files[name])
        found = _stack(npy.array(source.read(files[name]), where, MOST_BYTES), (height, width), where)
        if len(found) > 1:
            notes["masks joined from several instances"] += 1
        planes = [masks.encode(_mask(plane, options["values"], where, notes)) for plane in found]
        return masks.union(planes, height, width)

    yield from _masks.batches(manifest, counts, notes)


def _stack(array: NDArray[Any], size: tuple[int, int], where: str) -> NDArray[Any]:
    """[N, H, W] of an array [H, W] or [N, H, W] of numbers."""
    if array.dtype.kind not in "buif" or array.ndim not in (2, 3):
        last = "; squeeze the axis of length 1" if 1 in array.shape else ""
        what = f"is an array {list(array.shape)} of {array.dtype}, expected [H, W] or [N, H, W] of numbers{last}"
        raise InputError(where, what, "Save one plane a mask.")
    if array.ndim == 3 and array.shape[:2] == size != array.shape[1:]:
        raise InputError(where, f"is an array {list(array.shape)}, with the masks last", "Save it as [N, H, W].")
    _masks.check_size((array.shape[-2], array.shape[-1]), size, where)
    return array if array.ndim == 3 else array[None]


def _mask(plane: NDArray[Any], values: str, where: str, notes: Counter[str]) -> NDArray[np.bool_]:
    if values == "binary":
        return binary.binarise(_whole(plane), where, fix=_DECLARE)
    if plane.dtype.kind != "f":
        raise InputError(where, f"has values of {plane.dtype}, declared is {values}", "Declare values=binary.")
    found = binary.binarise(plane, where, _CUTS[values])
    within = bool(plane.min() >= 0 and plane.max() <= 1)
    if values == "probability" and not within:
        raise InputError(
            where, f"has values from {plane.min()} to {plane.max()}, no probabilities", "Declare values=logit."
        )
    if values == "logit" and within:
        notes["masks declared logit with all values from 0 to 1: are they probabilities?"] += 1
    return found


def _whole(plane: NDArray[Any]) -> NDArray[Any]:
    """Floats of 0 and 1 alone as numbers: every reading of them is the same mask."""
    return plane.astype(np.uint8) if plane.dtype.kind == "f" and np.isin(plane, (0, 1)).all() else plane
