"""What the values of class maps look like. Nothing follows from it: a value that is no class is a wrong pixel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_IGNORED = 255
_TRAIN_IDS, _LABEL_IDS = range(19), range(34)  # of Cityscapes: 0 to 18, and 0 to 33


class Seen:
    """The values of those maps of a source that hold one which is no class."""

    def __init__(self, classes: int | None) -> None:
        self._classes, self._values = classes, np.zeros(1 << 16, np.bool_)

    def add(self, classes: NDArray[Any]) -> None:
        """classes: a map of unsigned integers of at most 16 bits."""
        if not self._classes or classes.max() < self._classes:
            return
        flat = classes.reshape(-1)
        self._values[np.flatnonzero(np.bincount(flat)) if flat.dtype == np.uint8 else flat] = True

    def remark(self, notes: Counter[str]) -> None:
        """A note where there are values that are no class of the benchmark."""
        strange = [v for v in np.flatnonzero(self._values).tolist() if v >= (self._classes or 0)]
        if not strange:
            return
        shown = ", ".join(map(str, strange[:8])) + (" ..." if len(strange) > 8 else "")
        notes[f"values that are none of the {self._classes} classes, counted as wrong: {shown}{_cause(strange)}"] += (
            len(strange)
        )


def _cause(strange: list[int]) -> str:
    rest = [v for v in strange if v != _IGNORED]
    if not rest:
        return "; pixels to ignore? Only the truth decides that"
    if max(rest) in _TRAIN_IDS:
        return "; are these Cityscapes train ids?"
    return "; are these Cityscapes label ids?" if max(rest) in _LABEL_IDS else ""


def watched(batches: Iterator[pa.RecordBatch], seen: Seen, notes: Counter[str]) -> Iterator[pa.RecordBatch]:
    """The same batches, and the remark at their end."""
    yield from batches
    seen.remark(notes)
