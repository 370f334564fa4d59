"""scores_npz: scores arrive as they were stored, whatever the dtype and layout; everything else is refused by name."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import scores_npz
from groundeval.metrics import resize
from groundeval.options import resolve
from groundeval.sources import npz
from groundeval.sources.folder import Source

NATIVE, SCORED = (9, 16), (4, 6)


def scores(dtype: str, size: tuple[int, int] = SCORED) -> NDArray[Any]:
    return (np.random.default_rng(0).random((3, *size)) * 250).astype(dtype)


def read(folder: Path, dtype: str = "uint8", notes: Counter[str] | None = None, **said: Any) -> tuple[str, Any]:
    """Status, and the scores or the reason, of the one sample."""
    row = {"sample_id": "a", "image_id": "a", "height": NATIVE[0], "width": NATIVE[1], "tags": {}}
    manifest = pa.Table.from_pylist([row], schema=tables.MANIFEST)
    chosen = resolve(scores_npz.FORMAT.options, {"dtype": dtype, **said}, "test")
    chosen |= {"eval_size": "4x6", "classes": "3"}
    batch = next(scores_npz.read(Source(folder), manifest, chosen, Counter() if notes is None else notes))
    found = tables.unpack_map(batch, 0)
    return batch.column("status")[0].as_py(), batch.column("reason")[0].as_py() if found is None else found


def write(folder: Path, header: str, body: bytes = b"", name: str = "scores.npy") -> Path:
    """An .npz whose header is a literal of one's own."""
    text = header.ljust(117) + "\n"
    with zipfile.ZipFile(folder / "a.npz", "w") as archive:
        archive.writestr(name, b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + body)
    return folder


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
@pytest.mark.parametrize("size", [NATIVE, SCORED])
def test_scores_arrive_as_stored(tmp_path: Path, dtype: str, size: tuple[int, int]) -> None:
    stored = scores(dtype, size)
    for save, layout in ((np.savez, stored), (np.savez_compressed, np.asfortranarray(stored))):
        save(tmp_path / "a.npz", scores=layout)
        status, found = read(tmp_path, dtype)
        assert (status, found.dtype) == ("answered", dtype)
        np.testing.assert_array_equal(found, stored)
    np.savez(tmp_path / "a.npz", scores=stored.astype(stored.dtype.newbyteorder(">")))
    np.testing.assert_array_equal(read(tmp_path, dtype)[1], stored)


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (scores("float64"), "has scores of float64, declared is uint8"),
        (scores("int8"), "has scores of int8"),
        (scores("uint8")[:2], "has scores [2, 4, 6], expected [3, H, W]"),
        (scores("uint8").transpose(1, 2, 0), "expected [3, H, W]; the classes look to be last"),
        (scores("uint8")[0], "has scores [4, 6]"),
        (scores("uint8", (6, 4)), "is 6x4, expected 4x6 or 9x16 (height x width); height and width look swapped"),
        (np.array(7, np.uint8), "has scores []"),
    ],
)
def test_what_is_no_score_map_is_invalid(tmp_path: Path, array: NDArray[Any], reason: str) -> None:
    np.savez(tmp_path / "a.npz", scores=array)
    status, said = read(tmp_path)
    assert status == "invalid"
    assert reason in said


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_nan_is_invalid_and_infinity_is_not(tmp_path: Path, dtype: str) -> None:
    stored = scores(dtype)
    stored[0, 0, 0] = -np.inf
    np.savez(tmp_path / "a.npz", scores=stored)
    assert read(tmp_path, dtype)[0] == "answered"
    stored[1, :2, 0] = np.nan
    np.savez(tmp_path / "a.npz", scores=stored)
    assert read(tmp_path, dtype) == ("invalid", "a.npz has 2 scores that are NaN")


class Trap:
    """Raises where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('unpickled')",)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", scores=np.array([Trap()], object))
    status, reason = read(tmp_path)
    assert status == "invalid"
    assert "pickled Python objects, which are never loaded" in reason
    (tmp_path / "a.npz").write_bytes(pickle.dumps(Trap()))
    assert read(tmp_path)[0] == "invalid"


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores_npz, "MOST_BYTES", 10_000)
    np.savez_compressed(tmp_path / "a.npz", scores=np.zeros((3, 100, 100), np.uint8))
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    status, reason = read(tmp_path)
    assert status == "invalid"
    assert "takes 30128 bytes, more than 10000" in reason


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        ("(3, 1000000, 1000000)", "the array has 72 bytes, its header says 3000000000000"),
        ("(99999999999, 99999999999, 99999999999)", "its header says"),
        ("(-3, -4, 6)", "not a readable array"),
        ("__import__('os').getpid()", "not a readable array"),
    ],
)
def test_a_header_that_lies_is_invalid(tmp_path: Path, shape: str, reason: str) -> None:
    write(tmp_path, f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}", bytes(72))
    status, said = read(tmp_path)
    assert status == "invalid"
    assert reason in said


def test_missing_members_and_damage_are_invalid(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", probabilities=scores("uint8"))
    assert 'has 0 members "scores.npy", expected one; it holds "probabilities.npy"' in read(tmp_path)[1]
    buffer = io.BytesIO()
    np.savez(buffer, scores=scores("uint8"))
    whole = buffer.getvalue()
    for broken in (b"", whole[:100], whole[:60] + b"xx" + whole[62:], whole.replace(b"NUMPY", b"NUMPI")):
        (tmp_path / "a.npz").write_bytes(broken)
        assert read(tmp_path)[0] == "invalid"


def test_resizing_is_opt_in_and_noted(tmp_path: Path) -> None:
    stored = scores("float32", (8, 16))
    np.savez(tmp_path / "a.npz", scores=stored)
    assert "is 8x16, expected 4x6 or 9x16" in read(tmp_path, "float32")[1]
    notes = Counter[str]()
    found = read(tmp_path, "float32", notes, resize="bilinear")[1]
    np.testing.assert_array_equal(found, resize.bilinear(stored, SCORED))
    assert dict(notes) == {"predictions resized from 8x16 to 4x6 by bilinear interpolation": 1}


def test_the_dtype_has_to_be_declared() -> None:
    with pytest.raises(InputError, match="dtype is not declared"):
        resolve(scores_npz.FORMAT.options, {}, "test")


def test_two_members_of_one_name_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("scores.npy", b"x")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("scores.npy", b"x")
    with pytest.raises(InputError, match="has 2 members"):
        npz.array(buffer.getvalue(), "scores", "a.npz", 100)
