"""Digests of content: of a file, of a set of files, of a table whatever its batches and its file's compression."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def merkle_root(named: Mapping[str, str]) -> str:
    """Root over file names and their sha256 (hex), in the names' order, as RFC 6962 builds it over leaves.

    A leaf is sha256(00, sha256 of the name as UTF-8, sha256 of the content), a node sha256(01, left, right); the left
    subtree is the largest power of two. One file can so be proven to belong, without the others.
    """
    leaves = [
        hashlib.sha256(
            b"\0" + hashlib.sha256(name.encode(errors="surrogateescape")).digest() + bytes.fromhex(content)
        ).digest()
        for name, content in sorted(named.items())
    ]
    return _root(leaves).hex() if leaves else hashlib.sha256(b"").hexdigest()


def _root(nodes: list[bytes]) -> bytes:
    """Level by level: an odd one moves up unchanged, which makes the tree of RFC 6962."""
    while len(nodes) > 1:
        pairs = zip(nodes[::2], nodes[1::2], strict=False)
        nodes = [hashlib.sha256(b"\1" + a + b).digest() for a, b in pairs] + nodes[len(nodes) // 2 * 2 :]
    return nodes[0]


class TableDigest:
    """sha256 over the values of a stream of record batches: the same for the same rows, however they are cut."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[hashlib._Hash, hashlib._Hash]] = {}

    def through(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pass a stream on, adding it to the digest."""
        for batch in batches:
            self.add(batch)
            yield batch

    def add(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add the rows of one batch."""
        for name, values in zip(batch.schema.names, batch.columns, strict=True):
            chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
            for chunk in chunks:
                self._add(name, chunk)

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        parts = (f"{name} {a.hexdigest()} {b.hexdigest()}\n" for name, (a, b) in sorted(self._columns.items()))
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def _add(self, name: str, values: pa.Array) -> None:
        if pa.types.is_struct(values.type):
            for index, field in enumerate(values.type):
                self._add(f"{name}/{field.name}", values.field(index))
            return
        lengths, content = self._columns.setdefault(name, (hashlib.sha256(), hashlib.sha256()))
        lengths.update(_lengths(values))
        if pa.types.is_nested(values.type):
            inner = values.flatten() if not pa.types.is_map(values.type) else _entries(values)
            self._add(f"{name}[]", inner)
        elif pa.types.is_string(values.type) or pa.types.is_binary(values.type):
            content.update(b"".join(values.cast(pa.binary()).drop_null().to_pylist()))
        else:
            content.update(np.ascontiguousarray(values.drop_null().to_numpy(zero_copy_only=False)).tobytes())


def _lengths(values: pa.Array) -> bytes:
    """-1 for null, otherwise a value's length (0 where the type has a fixed one)."""
    kind = values.type
    lengths = np.zeros(len(values), dtype=np.int64)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        lengths = pc.binary_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    elif pa.types.is_list(kind) or pa.types.is_map(kind):
        offsets = values.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        lengths = np.diff(offsets)
    lengths = lengths.copy()
    lengths[values.is_null().to_numpy(zero_copy_only=False)] = -1
    return lengths.tobytes()


def _entries(values: pa.Array) -> pa.Array:
    """Keys and values of a map column as structs."""
    first, last = values.offsets[0].as_py(), values.offsets[-1].as_py()
    return pa.StructArray.from_arrays(
        [values.keys.slice(first, last - first), values.items.slice(first, last - first)], names=["key", "value"]
    )
