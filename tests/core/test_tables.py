"""Tables: same bytes for same content, aligned streams, atomic writes."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundeval import files, tables
from groundeval.digests import TableDigest
from groundeval.errors import InputError

SCHEMA = tables.predictions_schema("boxes")


def rows(n: int) -> list[dict[str, object]]:
    return [
        {
            "sample_id": f"{i:05d}",
            "status": "answered" if i % 3 else "none",
            "reason": None if i % 2 else f"r{i}",
            "boxes": [[0.0, 1.0, 2.0, float(i)]] * (i % 4) if i % 3 else None,
            "scores": [0.5] * (i % 4) if i % 3 else None,
        }
        for i in range(n)
    ]


def test_same_content_same_bytes(tmp_path) -> None:
    for name in ("a", "b"):
        tables.write(tmp_path / name, tables.rows_to_batches(rows(50), SCHEMA, 16), SCHEMA, {"x": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert tables.read(tmp_path / "a").to_pylist() == rows(50)
    assert tables.meta(tmp_path / "a") == {"x": 1}


@given(st.integers(0, 40), st.integers(1, 13), st.integers(1, 13))
def test_align_cuts_streams_alike_and_loses_nothing(n: int, size_a: int, size_b: int) -> None:
    a, b = (tables.rows_to_batches(rows(n), SCHEMA, size) for size in (size_a, size_b))
    pairs = list(tables.align(a, b))
    assert [r["sample_id"] for x, _ in pairs for r in x.to_pylist()] == [f"{i:05d}" for i in range(n)]
    assert all(x.to_pylist() == y.to_pylist() for x, y in pairs)


def test_align_refuses_other_samples_and_other_lengths() -> None:
    def stream(data: list[dict[str, object]]):
        return tables.rows_to_batches(data, SCHEMA, 4)

    with pytest.raises(ValueError, match="different length"):
        list(tables.align(stream(rows(9)), stream(rows(8))))
    with pytest.raises(ValueError, match="different samples"):
        list(tables.align(stream(rows(9)), stream(rows(10)[1:])))


@given(st.integers(1, 40), st.integers(1, 13))
def test_digest_does_not_depend_on_batches(n: int, size: int) -> None:
    whole, cut = TableDigest(), TableDigest()
    whole.add(pa.Table.from_batches(tables.rows_to_batches(rows(n), SCHEMA, 1000)))
    for batch in cut.through(tables.rows_to_batches(rows(n), SCHEMA, size)):
        assert batch.num_rows
    assert whole.hexdigest() == cut.hexdigest()


def test_digest_sees_every_change() -> None:
    seen = set()
    data = rows(7)
    changes = [("sample_id", "x"), ("status", "missing"), ("reason", "r"), ("reason", ""), ("scores", None)]
    changes += [("boxes", [[0.0, 1.0, 2.0, 3.0]]), ("boxes", []), ("boxes", None), ("scores", [0.5, 0.25])]
    for column, value in [("sample_id", data[5]["sample_id"]), *changes]:
        digest = TableDigest()
        changed = [dict(r) for r in data]
        changed[5][column] = value
        digest.add(pa.RecordBatch.from_pylist(changed, schema=SCHEMA))
        seen.add(digest.hexdigest())
    assert len(seen) == len(changes) + 1


def test_digest_covers_maps() -> None:
    def of(tags: list[dict[str, str]]) -> str:
        digest = TableDigest()
        base = {"sample_id": "a", "image_id": "b", "height": 1, "width": 1}
        digest.add(
            pa.RecordBatch.from_pylist([{**base, "tags": list(t.items())} for t in tags], schema=tables.MANIFEST)
        )
        return digest.hexdigest()

    assert len({of([{"a": "b"}, {}]), of([{}, {"a": "b"}]), of([{"a": "c"}, {}]), of([{"b": "a"}, {}])}) == 4


def test_a_failing_stream_leaves_nothing(tmp_path) -> None:
    def broken():
        yield from tables.rows_to_batches(rows(3), SCHEMA)
        raise InputError("a", "b", "c")

    with pytest.raises(InputError):
        tables.write(tmp_path / "deep" / "t.parquet", broken(), SCHEMA, {})
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_not_a_table(tmp_path) -> None:
    (tmp_path / "x").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="not a readable table"):
        tables.read(tmp_path / "x")
    with pytest.raises(InputError, match="no such table"):
        tables.read(tmp_path / "y")


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
def test_maps_come_back(dtype: str) -> None:
    array = np.arange(24).astype(dtype).reshape(2, 3, 4)
    row = {"sample_id": "a", **tables.pack_map(array)}
    empty = {"sample_id": "b", "map": None, "dims": None, "dtype": None}
    batch = pa.RecordBatch.from_pylist([row, empty], schema=tables.truth_schema("map"))
    back = tables.unpack_map(batch, 0)
    assert back is not None
    assert back.dtype == array.dtype
    assert (back == array).all()
    assert tables.unpack_map(batch, 1) is None


def test_boxes_of_slices_and_nulls() -> None:
    batch = pa.RecordBatch.from_pylist(rows(9), schema=SCHEMA).slice(2, 5)
    flat, offsets = tables.boxes_of(batch)
    expected = [r["boxes"] or [] for r in rows(9)[2:7]]
    assert [flat[a:b].tolist() for a, b in itertools.pairwise(offsets)] == expected


def test_json_has_no_nan(tmp_path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        files.write_json(tmp_path / "a.json", {"x": float("nan")})
    assert list(tmp_path.iterdir()) == []
