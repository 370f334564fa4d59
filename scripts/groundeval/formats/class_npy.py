"""class_npy: a folder of NumPy class maps, one a sample, in which each value is a class number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.formats import Format, _class_values, _maps
from groundeval.options import Option
from groundeval.sources import npy
from groundeval.sources.folder import Source

FORMAT = Format(
    name="class_npy",
    shape="map",
    maps="classes",
    reads="a folder of NumPy class maps, {sample_id}.npy, whole numbers [H, W], each a class number",
    options={
        "resize": Option(
            "choice",
            "nearest: bring maps of any other size to the scored size by index table",
            "none",
            ("none", "nearest"),
        ),
    },
    example='numpy.save("000000.npy", logits.argmax(0))   # [H, W] of any integer type',
    traps="""\
Scores [C, H, W] are refused: take their argmax, or save them for scores_npz, which also gives average precision.
Floats are refused, even whole ones: they may be scores. [1, H, W] is refused: squeeze it.
A value that is no class (-1 or 255 for "ignore", train ids for label ids) is a wrong pixel, and is counted.""",
)
MOST_BYTES = 1 << 29  # of one array
OUTSIDE = np.iinfo(np.uint16).max  # stands for a value that 16 bits do not hold


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """One row a sample of the manifest, in its order, with the class map as uint8 or uint16 [H, W]."""
    seen = _class_values.Seen(int(options.get("classes") or 0), notes)

    def load(name: str) -> NDArray[Any]:
        found = _classes(npy.array(source.read(name), source.where(name), MOST_BYTES), notes)
        seen.add(found)
        return found

    return _class_values.watched(_maps.batches(source, ".npy", manifest, options, notes, load), seen)


def _classes(array: NDArray[Any], notes: Counter[str]) -> NDArray[Any]:
    """A class map of 8 or 16 bits. What these do not hold, as -1, is no class and becomes OUTSIDE, which is none."""
    if array.dtype.kind not in "bui" or array.ndim != 2 or not array.size:
        what = f"is an array {list(array.shape)} of {array.dtype}, expected whole numbers [H, W]"
        raise InputError("", f"{what}; take the argmax of scores, squeeze an axis of length 1", "")
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    low, high = int(array.min()), int(array.max())
    if low >= 0 and high <= OUTSIDE:
        return array.astype(np.uint8 if high < 256 else np.uint16)
    beyond = (array < 0) | (array > OUTSIDE)
    notes["pixels below 0 or above 65535, counted as wrong"] += int(np.count_nonzero(beyond))
    return np.where(beyond, OUTSIDE, array).astype(np.uint16)
