"""What the values of class maps look like. Nothing follows from it: a value that is no class is a wrong pixel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_VALUE = "a value that is no class: "
_IGNORED = 255
_TRAIN_IDS, _LABEL_IDS = range(19), range(34)  # of Cityscapes: 0 to 18, and 0 to 33


class Seen:
    """The values of a source's maps that are no class. Until the remark they stand among the notes, which reach us from
    whichever process read the map."""

    def __init__(self, classes: int | None, notes: Counter[str]) -> None:
        self._classes, self._notes = classes, notes

    def add(self, classes: NDArray[Any]) -> None:
        """classes: a map of unsigned integers of at most 16 bits."""
        if not self._classes or classes.max() < self._classes:
            return
        found = np.flatnonzero(np.bincount(classes.reshape(-1)))
        self._notes.update(f"{_VALUE}{value}" for value in found[found >= self._classes].tolist())

    def remark(self) -> None:
        """A note where there are values that are no class of the benchmark."""
        notes = self._notes
        strange = sorted(int(name.removeprefix(_VALUE)) for name in notes if name.startswith(_VALUE))
        for value in strange:
            del notes[f"{_VALUE}{value}"]
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


def watched(batches: Iterator[pa.RecordBatch], seen: Seen) -> Iterator[pa.RecordBatch]:
    """The same batches, and the remark at their end."""
    yield from batches
    seen.remark()
