"""The tables that stages hand to each other: their schemas, and reading and writing them as Parquet.

Every table is sorted by sample_id and has the same bytes for the same content: no time, no host, no path of this machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from groundeval.errors import InputError
from groundeval.files import atomic


class _NoPandas:
    """An import hook that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
        """Refuse one name, leave all others to the next hook."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _keep_pandas_out() -> None:
    """pyarrow looks for pandas once, at its first array, and would import it: half a second that nothing here needs."""
    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(_NoPandas)


_keep_pandas_out()

Shape = Literal["mask", "boxes", "map"]
STATUSES = ("answered", "none", "missing", "invalid")
ROW_GROUP = 65536
# Rows that are in memory together: boxes are counted many samples at once, a map is a megabyte or more.
BATCH = {"mask": 256, "boxes": 65536, "map": 8}
META_KEY = b"groundeval"

_TAGS = pa.map_(pa.string(), pa.string())
_BOXES = pa.list_(pa.list_(pa.float64(), 4))

MANIFEST = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("image_id", pa.string(), nullable=False),  # the cluster for intervals
        pa.field("height", pa.int32(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("kind", pa.string()),  # none, single, multi; null where the benchmark has no such thing
        pa.field("text", pa.string()),
        pa.field("tags", _TAGS, nullable=False),
        pa.field("truth_sha256", pa.string()),  # of the sample's own truth file, where it has one
    ]
)

# What one row holds beside its id, by the benchmark's shape.
COLUMNS: Mapping[str, list[pa.Field]] = {
    # Counts of the union in compressed COCO run-length form (column-major); height and width stand in the manifest.
    "mask": [pa.field("mask", pa.binary())],
    # xyxy in pixels of the original image; scores is null where the file had none.
    "boxes": [pa.field("boxes", _BOXES), pa.field("scores", pa.list_(pa.float64()))],
    # Row-major bytes of a class map [H, W] or of score maps [C, H, W], with the numpy dtype's name.
    "map": [pa.field("map", pa.binary()), pa.field("dims", pa.list_(pa.int32())), pa.field("dtype", pa.string())],
}


def truth_schema(shape: Shape) -> pa.Schema:
    """One row a sample: sample_id and what the shape needs. A sample without a target has an empty mask or list."""
    return pa.schema([pa.field("sample_id", pa.string(), nullable=False), *COLUMNS[shape]])


def predictions_schema(shape: Shape) -> pa.Schema:
    """As the truth, with the status and its reason; the shape's columns are null unless the status is "answered"."""
    head = [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("reason", pa.string()),
    ]
    return pa.schema([*head, *COLUMNS[shape]])


def rows_to_batches(
    rows: Iterable[Mapping[str, Any]], schema: pa.Schema, size: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Rows as dictionaries into record batches of `size` rows, so that memory is bounded by one batch."""
    size = size or _batch_of(schema)
    held: list[Mapping[str, Any]] = []
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield _batch(held, schema)
            held = []
    if held:
        yield _batch(held, schema)


def _batch(rows: list[Mapping[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    values = {field.name: [row.get(field.name) for row in rows] for field in schema}
    columns = [_bytes(values["map"]) if f.name == "map" else pa.array(values[f.name], f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _bytes(values: list[Any]) -> pa.Array:
    """A column of bytes from buffers or None; pa.array would copy megabytes as its own buffer grows."""
    parts = [np.frombuffer(b"" if v is None else v, np.uint8) for v in values]
    ends = np.cumsum([0, *map(len, parts)])
    if ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{len(values)} maps with {ends[-1]} bytes are too many for one batch")
    known = pa.array([v is not None for v in values]).buffers()[1]
    data = pa.py_buffer(np.concatenate(parts))
    return pa.Array.from_buffers(pa.binary(), len(values), [known, pa.py_buffer(ends.astype(np.int32)), data])


def align(*streams: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.RecordBatch, ...]]:
    """Cut streams over the same samples into batches of the same rows, and check that they are the same."""
    iterators = [iter(s) for s in streams]
    held: list[pa.RecordBatch | None] = [None] * len(iterators)
    while True:
        held = [_next_rows(it) if h is None or h.num_rows == 0 else h for it, h in zip(iterators, held, strict=True)]
        live = [h for h in held if h is not None]
        if not live:
            return
        if len(live) != len(held):
            raise ValueError("tables of different length: they were not made from the same manifest")
        count = min(h.num_rows for h in live)
        cut = tuple(h.slice(0, count) for h in live)
        if any(not c.column("sample_id").equals(cut[0].column("sample_id")) for c in cut[1:]):
            raise ValueError("tables of different samples: they were not made from the same manifest")
        yield cut
        held = [h.slice(count) for h in live]


def _next_rows(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    return next((b for b in batches if b.num_rows), None)


def write(
    path: Path,
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    meta: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
) -> None:
    """Write a stream of batches as one Parquet file. `meta` may be a function: it is called when the stream has ended."""
    with atomic(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=ROW_GROUP)
        said = meta() if callable(meta) else meta
        writer.add_key_value_metadata({META_KEY.decode(): json.dumps(said, sort_keys=True)})


def meta(path: Path) -> dict[str, Any]:
    """What the writer said of a table."""
    found = opened(path).metadata.metadata or {}
    said: dict[str, Any] = json.loads(found.get(META_KEY, b"{}"))
    return said


def read(path: Path) -> pa.Table:
    """A whole table."""
    return opened(path).read()


def stream(path: Path, size: int | None = None) -> Iterator[pa.RecordBatch]:
    """A table as batches of at most `size` rows."""
    file = opened(path)
    return iter(file.iter_batches(batch_size=size or _batch_of(file.schema_arrow)))


def pick(path: Path, wanted: Collection[str]) -> dict[str, pa.RecordBatch]:
    """The rows of some samples by sample_id, as batches of one row; of other rows only the ids are read, where possible."""
    file = opened(path)
    found: dict[str, pa.RecordBatch] = {}
    for group in range(file.num_row_groups):
        ids = file.read_row_group(group, columns=["sample_id"]).column(0).to_pylist()
        if here := [row for row, name in enumerate(ids) if name in wanted]:
            whole = file.read_row_group(group)
            found |= {ids[row]: whole.slice(row, 1).combine_chunks().to_batches()[0] for row in here}
    return found


def _batch_of(schema: pa.Schema) -> int:
    return next((size for shape, size in BATCH.items() if shape in schema.names), 65536)


def opened(path: Path) -> pq.ParquetFile:
    """A table to read parts of."""
    try:
        return pq.ParquetFile(path, pre_buffer=False)  # which would hold the whole file
    except FileNotFoundError:
        raise InputError(path, "no such table", "Run the stage that makes it.") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            path, f"not a readable table ({error})", "Make it again with the stage that writes it."
        ) from None


def pack_map(array: np.ndarray) -> dict[str, Any]:
    """A class map [H, W] or score maps [C, H, W] as the columns of a "map" row. The bytes are a view where they can be."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return {"map": flat.view(np.uint8).data, "dims": list(array.shape), "dtype": array.dtype.name}


def unpack_map(batch: pa.RecordBatch, row: int) -> np.ndarray | None:
    """The array of a "map" row without a copy (read-only), or None where there is none."""
    dims = batch.column("dims")[row].as_py()
    if dims is None:
        return None
    packed, dtype = batch.column("map"), np.dtype(batch.column("dtype")[row].as_py())
    _, offsets, data = packed.buffers()  # packed[row] would be a copy
    start, end = np.frombuffer(offsets, np.int32, 2, 4 * (packed.offset + row)).tolist()
    values: np.ndarray = np.frombuffer(data, np.uint8)[start:end].view(dtype).reshape(dims)
    return values


def boxes_of(batch: pa.RecordBatch, column: str = "boxes") -> tuple[np.ndarray, np.ndarray]:
    """All boxes of a batch as [n, 4] float64, and the offsets [rows + 1] at which each row's boxes start."""
    lists = batch.column(column)
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    flat = lists.flatten().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, 4), offsets


def pack_boxes(boxes: np.ndarray, offsets: np.ndarray, known: np.ndarray | None = None) -> pa.Array:
    """The inverse of `boxes_of`: boxes [n, 4] or scores [n] as one list a row; null where `known` is False."""
    flat = pa.array(np.ascontiguousarray(boxes, np.float64).reshape(-1))
    values = pa.FixedSizeListArray.from_arrays(flat, 4) if boxes.ndim == 2 else flat
    null = None if known is None else pa.array(~known)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values, mask=null)


def column(table: pa.Table | pa.RecordBatch, name: str) -> np.ndarray:
    """A column as a NumPy array: integers as int64, lists of fixed size as 2-D, text as objects."""
    values = table.column(name)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    listed = pa.types.is_fixed_size_list(values.type)
    flat: np.ndarray = (values.flatten() if listed else values).to_numpy(zero_copy_only=False)
    return flat.reshape(len(values), values.type.list_size) if listed else flat
