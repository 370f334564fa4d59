"""How often pairs of small integers occur: the one counter under confusion matrices and curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Maps of bytes are mostly runs of the same values. Where runs have this length on average, adding their lengths is
# faster than adding pixels, of which each waits for the one before when both raise the same counter.
LONG_RUN = 5
BLOCK = 1 << 15  # pixels whose table indices stay in a core's cache

_Bytes = NDArray[np.uint8]


def add_pairs(tables: NDArray[np.int64], rows: NDArray[np.uint8], planes: NDArray[Any]) -> None:
    """Add to tables [P, count, levels] how often each pair (row, value) occurs, for each plane of values.

    rows: uint8 [...], of which those from `count` on are left out; planes: uint8 or uint16 [P, ...], below `levels`.
    Anything else raises TypeError or ValueError.
    """
    _, count, levels = tables.shape
    if rows.dtype != np.uint8 or planes.dtype not in (np.uint8, np.uint16):
        raise TypeError(f"pairs of {rows.dtype} and {planes.dtype}, expected uint8 with uint8 or uint16")
    if planes.shape != (len(tables), *rows.shape):
        raise ValueError(f"pairs of shapes {rows.shape} and {planes.shape} for {len(tables)} tables")
    if levels <= np.iinfo(planes.dtype).max and planes.max(initial=0) >= levels:
        raise ValueError(f"a value of {planes.max()} in tables of {levels} levels")
    flat, values = rows.reshape(-1), list(planes.reshape(len(planes), -1))
    if flat.max(initial=0) >= count:
        kept = flat < count
        flat, values = flat[kept], [plane[kept] for plane in values]
    lengths = None
    if planes.dtype == np.uint8:
        flat, values, lengths = _runs(flat, values)
    for begin in range(0, len(flat), BLOCK):
        part = slice(begin, begin + BLOCK)
        starts = np.multiply(flat[part], levels, dtype=np.int64)
        for table, plane in zip(tables, values, strict=True):
            np.add.at(table.reshape(-1), starts + plane[part], 1 if lengths is None else lengths[part])


def _runs(rows: _Bytes, values: list[_Bytes]) -> tuple[_Bytes, list[_Bytes], NDArray[np.int64] | None]:
    """One entry of rows and values for each run and its length; all entries and None where runs are short."""
    changes = rows[1:] != rows[:-1]
    for plane in values:
        changes |= plane[1:] != plane[:-1]
    if np.count_nonzero(changes) * LONG_RUN >= len(rows):
        return rows, values, None
    ends = np.append(np.flatnonzero(changes), len(rows) - 1)
    return rows[ends], [plane[ends] for plane in values], np.diff(ends, prepend=-1)
