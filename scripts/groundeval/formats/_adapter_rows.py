"""The rows of an adapter, checked one by one, as tables in the manifest's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval import tables
from groundeval.errors import InputError, quoted
from groundeval.formats import _adapter_boxes, _class_values, _maps, _masks
from groundeval.metrics import masks

_STATUSES = ("answered", "none", "invalid")
_KEYS = {"sample_id", "status", "reason", "mask", "boxes", "scores", "map"}
_FIX = "Correct the adapter; the README has the type of a row."

Row = Mapping[str, Any]
Rows = Iterable[Row]


def batches(
    rows: Rows, manifest: pa.Table, options: Mapping[str, Any], where: str, notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches in the manifest's order. A row that is none of a known sample is an InputError, a wrong answer "invalid"."""
    by_shape = {"mask": _masks_of, "boxes": _adapter_boxes.batches, "map": _maps_of}
    order = {name: i for i, name in enumerate(manifest["sample_id"].to_pylist())}
    known = _known(rows, order, str(options["rows"]), where)
    yield from by_shape[options["rows"]](known, manifest, options, where, notes)


def _known(rows: Rows, order: Mapping[str, int], shape: str, where: str) -> Iterator[tuple[int, Row]]:
    """Each row with its place in the manifest; every sample once."""
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        place = f"{where}, row {number}"
        if not isinstance(row, Mapping) or not isinstance(row.get("sample_id"), str):
            raise InputError(place, f"is {quoted(type(row).__name__)}, no dictionary with a text sample_id", _FIX)
        name = row["sample_id"]
        if strange := sorted(str(key) for key in row.keys() - _KEYS):
            raise InputError(place, f"unknown key {quoted(strange[0])}", _FIX)
        if name not in order or name in seen:
            what = "stands twice" if name in seen else "is no sample of this split"
            raise InputError(place, f"{quoted(name)} {what}", _FIX)
        status = row.get("status", "answered")
        if status not in _STATUSES:
            raise InputError(place, f"status is {quoted(status)}", f"Say one of {', '.join(_STATUSES)}.")
        if (row.get(shape) is not None) != (status == "answered"):
            what = f"{quoted(name)} is {status} and has {'a' if status != 'answered' else 'no'} {shape}"
            raise InputError(place, what, _FIX)
        seen.add(name)
        yield order[name], row


def _row(row: Row, where: str, pack: Callable[[Row], dict[str, Any]]) -> dict[str, Any]:
    """A row of the table. `pack` makes its columns from the answer, or raises ValueError."""
    name, status, reason = row["sample_id"], row.get("status", "answered"), row.get("reason")
    if status == "invalid":
        return _invalid(name, f"{where}: {quoted(name)} {reason or 'is marked invalid'}")
    try:
        return {"sample_id": name, "status": status, **(pack(row) if status == "answered" else {})}
    except ValueError as error:
        return _invalid(name, f"{where}: {quoted(name)} {error}")


def _invalid(name: str, reason: str) -> dict[str, Any]:
    return {"sample_id": name, "status": "invalid", "reason": reason}


def _sizes(manifest: pa.Table) -> list[tuple[int, int]]:
    return list(zip(manifest["height"].to_pylist(), manifest["width"].to_pylist(), strict=True))


def _masks_of(
    rows: Iterable[tuple[int, Row]], manifest: pa.Table, options: Mapping[str, Any], where: str, notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    del options, notes
    sizes = _sizes(manifest)
    found = {at: _row(row, where, partial(_packed_mask, size=sizes[at])) for at, row in rows}
    names = manifest["sample_id"].to_pylist()
    ordered = (found.pop(at, {"sample_id": name, "status": "missing"}) for at, name in enumerate(names))
    yield from tables.rows_to_batches(ordered, tables.predictions_schema("mask"))


def _packed_mask(row: Row, size: tuple[int, int]) -> dict[str, Any]:
    mask = row["mask"]
    if not isinstance(mask, np.ndarray):
        raise ValueError(f"has a mask that is a {type(mask).__name__}, not a NumPy array")
    if mask.ndim == 2:
        try:
            _masks.check_size((mask.shape[0], mask.shape[1]), size, "")
        except InputError as error:
            raise ValueError(error.what) from None
    counts = masks.encode(mask)
    return {"status": "none"} if counts == masks.empty(*size) else {"mask": counts}


def _maps_of(
    rows: Iterable[tuple[int, Row]], manifest: pa.Table, options: Mapping[str, Any], where: str, notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    seen = _class_values.Seen(int(options.get("classes") or 0), notes)
    ordered = _ordered(rows, manifest, options, where, seen)
    yield from _class_values.watched(tables.rows_to_batches(ordered, tables.predictions_schema("map")), seen)


def _ordered(
    rows: Iterable[tuple[int, Row]],
    manifest: pa.Table,
    options: Mapping[str, Any],
    where: str,
    seen: _class_values.Seen,
) -> Iterator[dict[str, Any]]:
    """The rows as they come, with "missing" for those passed over."""
    names, sizes, next_ = manifest["sample_id"].to_pylist(), _sizes(manifest), 0
    for at, row in rows:
        if at < next_:
            fix = "Yield maps in the order of manifest_rows; they are not kept in memory."
            raise InputError(where, f"{quoted(names[at])} comes too late", fix)
        yield from ({"sample_id": name, "status": "missing"} for name in names[next_:at])
        yield _row(row, where, partial(_packed_map, native=sizes[at], options=options, seen=seen))
        next_ = at + 1
    yield from ({"sample_id": name, "status": "missing"} for name in names[next_:])


def _packed_map(
    row: Row, native: tuple[int, int], options: Mapping[str, Any], seen: _class_values.Seen
) -> dict[str, Any]:
    found = row["map"]
    if not isinstance(found, np.ndarray) or found.ndim not in (2, 3):
        raise ValueError(f"has a map that is {type(found).__name__}, not a NumPy array [H, W] or [C, H, W]")
    kinds = ("uint8", "uint16") if found.ndim == 2 else ("uint8", "uint16", "float16", "float32")
    if found.dtype.name not in kinds:
        raise ValueError(f"has a map of {found.dtype.name}, expected one of {', '.join(kinds)}")
    if fault := _maps.Sizes.of(native, options).fault((found.shape[-2], found.shape[-1])):
        raise ValueError(fault)
    classes = options.get("classes")
    if found.ndim == 3 and classes is not None and len(found) != int(classes):
        raise ValueError(f"has {len(found)} score maps, the benchmark has {int(classes)} classes")
    if found.dtype.kind == "f" and (count := np.count_nonzero(np.isnan(found))):
        raise ValueError(f"has {count} scores that are NaN")
    if found.ndim == 2:
        seen.add(found)
    return tables.pack_map(found)
