"""scores_npz: a folder of NumPy score maps, one .npz a sample, scored exactly as given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.formats import Format, _maps
from groundeval.options import REQUIRED, Option
from groundeval.sources import npz
from groundeval.sources.folder import Source

FORMAT = Format(
    name="scores_npz",
    shape="map",
    maps="classes",
    reads="a folder of {sample_id}.npz, each with an array `scores` [C, H, W]: one score map a class, in class order",
    options={
        "dtype": Option(
            "choice",
            "what the scores are stored as; integers are ranked by level, floats by value, none is rounded",
            REQUIRED,
            ("uint8", "uint16", "float16", "float32"),
        ),
        "resize": Option(
            "choice",
            "bilinear: bring score maps of any other size to the scored size, in the dtype they have",
            "none",
            ("none", "bilinear"),
        ),
    },
    example='numpy.savez_compressed("000000.npz", scores=probabilities.astype("float16"))  # [C, H, W]',
    traps="""\
[H, W, C] instead of [C, H, W]. Per-image stretching makes scores of different images incomparable.
Average precision depends on what was stored: 8 bits tie most pixels near 0 and 1, float32 keeps them apart.
float32 keeps every score of the split in memory (4 bytes a pixel and class); the other three keep histograms.""",
)
MOST_BYTES = 1 << 28  # of one unpacked array


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """One row a sample of the manifest, in its order, with the score maps [C, H, W] as they were stored.

    The number of classes is the option `classes` of the benchmark.
    """

    def load(name: str) -> NDArray[Any]:
        scores = npz.array(source.read(name), "scores", name, MOST_BYTES)
        if fault := _fault(scores, options["dtype"], int(options["classes"])):
            raise InputError(name, fault, "")
        return scores

    return _maps.batches(source, ".npz", manifest, options, notes, load)


def _fault(scores: NDArray[Any], dtype: str, classes: int) -> str | None:
    """What is wrong with the dtype, the number of classes, or the values."""
    if scores.dtype.name != dtype:
        return f"has scores of {scores.dtype.name}, declared is {dtype}"
    if scores.ndim != 3 or len(scores) != classes or scores.size == 0:
        last = "; the classes look to be last" if scores.ndim == 3 and scores.shape[2] == classes else ""
        return f"has scores {list(scores.shape)}, expected [{classes}, H, W]{last}"
    if count := _nans(scores):
        return f"has {count} scores that are NaN"
    return None


def _nans(scores: NDArray[Any]) -> int:
    if scores.dtype == np.float16:  # NumPy's isnan takes ten times as long
        return int(np.count_nonzero((scores.view(np.uint16) & 0x7FFF) > 0x7C00))
    return int(np.count_nonzero(np.isnan(scores))) if scores.dtype.kind == "f" else 0
