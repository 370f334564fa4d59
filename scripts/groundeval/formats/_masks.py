"""What the mask formats share: one row for each sample of the manifest, and the faults of a single sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import pyarrow as pa

from groundeval import cores, tables
from groundeval.errors import InputError
from groundeval.metrics import masks

# sample_id, height, width -> counts of the answer's mask, or None where the source says nothing of the sample.
Reader = Callable[[str, int, int], bytes | None]


class SizeError(InputError):
    """A mask has another size than its image."""

    def __init__(self, file: str, what: str, found: tuple[int, int]) -> None:
        super().__init__(file, what, "Save masks at the size of the original image.")
        self.found = found


def batches(manifest: pa.Table, reader: Reader, notes: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Prediction batches in the manifest's order. An InputError of the reader makes its sample "invalid"."""
    return tables.rows_to_batches(_rows(manifest, reader, notes), tables.predictions_schema("mask"))


def check_size(found: tuple[int, int], expected: tuple[int, int], where: str) -> None:
    """InputError unless a mask has its image's size; both are (height, width)."""
    if found == expected:
        return
    swapped = ": are height and width swapped?" if found == expected[::-1] else ""
    what = f"the mask is {_size(found)}, the image is {_size(expected)} (height x width){swapped}"
    raise SizeError(where, what, found)


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"


def _rows(manifest: pa.Table, reader: Reader, notes: Counter[str]) -> Iterator[dict[str, Any]]:
    ids, heights, widths = (manifest.column(name).to_pylist() for name in ("sample_id", "height", "width"))
    sizes = set(zip(heights, widths, strict=True))

    def row(sample: tuple[str, int, int]) -> dict[str, Any]:
        try:
            counts = reader(*sample)
        except SizeError as error:
            return _row(sample[0], "invalid", reason=_size_line(error, sizes, notes))
        except InputError as error:
            return _row(sample[0], "invalid", reason=error.line())
        if counts is None:
            return _row(sample[0], "missing")
        return _row(sample[0], "none") if counts == masks.empty(*sample[1:]) else _row(sample[0], "answered", counts)

    return cores.mapped(row, zip(ids, heights, widths, strict=True), notes, part=32)


def _size_line(error: SizeError, sizes: AbstractSet[tuple[int, int]], notes: Counter[str]) -> str:
    """The message, with a guess at the cause where no image has such a size."""
    if error.found in sizes or error.found[::-1] in sizes:
        return error.line()
    notes[f"masks of {_size(error.found)}, the size of no image here: is it the network's?"] += 1
    what = f"{error.what}; no image here has that size: is it the network's?"
    return InputError(error.file, what, error.fix).line()


def _row(sample_id: str, status: str, counts: bytes | None = None, reason: str | None = None) -> dict[str, Any]:
    return {"sample_id": sample_id, "status": status, "reason": reason, "mask": counts}
