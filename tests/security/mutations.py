"""Damage as hypothesis draws it: of bytes, of JSON's values, and of a PNG's chunks with sound checksums."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

# Bytes that mean something to some reader.
TOKENS = [
    b"",
    b"\0",
    b"\xff" * 4,
    b"\x7f\xff\xff\xff",
    b"\x80\0\0\0",
    b"[",
    b"]",
    b"{",
    b'"',
    b":",
    b",",
    b"\\",
    b"NaN",
    b"-",
    b"e9",
]
TOKENS += [
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\n",
    b"../",
    b"PK\1\2",
    b"PK\3\4",
    b"PK\5\6",
    b"IDAT",
    b"IEND",
    b"PLTE",
    b"tRNS",
    b"O",
]
PLACE = st.integers(0, 1 << 20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(
        ["", "0", "a" * 5000, "../x", "photo-1-a", 2**63, -1, 0, 1e308, [], {}, [[]], {"size": [1, 1], "counts": "0"}]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def of_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """One to four changes: bits, cuts, copies, tokens."""
    for _ in range(draw(st.integers(1, 4))):
        at, kind = (
            draw(PLACE) % (len(data) + 1),
            draw(st.sampled_from(["flip", "cut", "copy", "put", "replace", "truncate"])),
        )
        size = draw(st.integers(1, 64))
        if kind == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]
        elif kind == "cut":
            data = data[:at] + data[at + size :]
        elif kind == "copy":
            data = data[: at + size] + data[at:]
        elif kind == "truncate":
            data = data[:at]
        else:
            token = draw(st.sampled_from(TOKENS) | st.binary(max_size=8))
            data = data[:at] + token + data[at + (len(token) if kind == "replace" else 0) :]
    return data


@st.composite
def of_json(draw: st.DrawFn, data: bytes) -> bytes:
    """One or two values somewhere in the tree, or keys, changed; for JSON Lines in one line."""
    lines = data.splitlines() if b"\n{" in data.strip() else [data]
    number = draw(st.integers(0, len(lines) - 1))
    tree = json.loads(lines[number])
    for _ in range(draw(st.integers(1, 2))):
        tree = _changed(draw, tree)
    lines[number] = json.dumps(tree).encode()
    return b"\n".join(lines)


def _changed(draw: st.DrawFn, tree: Any) -> Any:
    if not isinstance(tree, dict | list) or not tree or draw(st.integers(0, 4)) == 0:
        return draw(VALUES)
    if isinstance(tree, list):
        at = draw(st.integers(0, len(tree) - 1))
        kind = draw(st.sampled_from(["inner", "inner", "inner", "lose", "double"]))
        new = [_changed(draw, tree[at])] if kind == "inner" else [tree[at]] * 2 if kind == "double" else []
        return [*tree[:at], *new, *tree[at + 1 :]]
    key = draw(st.sampled_from(sorted(tree)))
    kind = draw(st.sampled_from(["inner", "inner", "inner", "lose", "rename"]))
    rest = {k: v for k, v in tree.items() if k != key}
    if kind == "lose":
        return rest
    return {**rest, (draw(st.text(max_size=4)) if kind == "rename" else key): _changed(draw, tree[key])}


@st.composite
def of_png(draw: st.DrawFn, data: bytes) -> bytes:
    """Chunks changed, lost, doubled or moved, their checksums made right again: what gets as far as the decoder."""
    chunks = _chunks(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(chunks) - 1))
        name, content = chunks[at]
        kind = draw(st.sampled_from(["bytes", "bytes", "pixels", "lose", "double", "name"]))
        if kind == "bytes":
            chunks[at] = (name, draw(of_bytes(content)))
        elif kind == "pixels" and name == b"IDAT":
            chunks[at] = (name, zlib.compress(draw(of_bytes(_inflated(content)))))
        elif kind == "lose" and len(chunks) > 1:
            del chunks[at]
        elif kind == "double":
            chunks.insert(draw(st.integers(0, len(chunks))), chunks[at])
        else:
            chunks[at] = (
                draw(st.sampled_from([b"IDAT", b"IEND", b"PLTE", b"tRNS", b"eXIf", b"acTL", b"gAMA", b"ABCD"])),
                content,
            )
    return data[:8] + b"".join(_chunk(name, content) for name, content in chunks)


def _inflated(content: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(content, 1 << 20)
    except zlib.error:
        return content


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def for_name(name: str, data: bytes) -> st.SearchStrategy[bytes]:
    """What suits a file."""
    if name.endswith((".json", ".jsonl")) and data.strip():
        return of_json(data) | of_bytes(data)
    more: dict[str, Callable[[bytes], st.SearchStrategy[bytes]]] = {".png": of_png}
    suited = next((more[s] for s in more if name.lower().endswith(s)), None)
    return of_bytes(data) | suited(data) if suited else of_bytes(data)
