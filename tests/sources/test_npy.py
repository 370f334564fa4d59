"""NumPy files: arrays come back as they were saved; headers that lie and pickles do not come back at all."""

from __future__ import annotations

import contextlib
import io
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from groundeval.errors import InputError
from groundeval.sources import npy

MOST = 1 << 20
TYPES = ["?", "u1", "<u2", ">u2", "<i8", "<f2", ">f4", "<f8"]


def saved(array: Any, **more: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, **more)
    return out.getvalue()


def with_header(header: str, body: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    text = (header.ljust(117) + "\n").encode()
    size = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + size + text + body


@pytest.mark.parametrize("dtype", TYPES)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_arrays_come_back(dtype: str, data: st.DataObject) -> None:
    array = data.draw(arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0)))
    for given_ in (array, np.asfortranarray(array)):
        found = npy.array(saved(given_), "f", MOST)
        assert found.dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty, not a NumPy .npy file"),
        (b"PK\x03\x04", "is a zip archive, not a NumPy .npy file"),
        (saved(np.array([{}], dtype=object), allow_pickle=True), "never loaded"),
        (pickle.dumps(1), "not a NumPy .npy file"),
        (saved(np.zeros(9))[:-1], "has 71 bytes, its header says 72"),
        (saved(np.zeros(9)) + b"x", "has 73 bytes, its header says 72"),
        (saved(np.zeros(MOST, np.uint8)) + b"", None),
        (saved(np.zeros(MOST + 1, np.uint8)), f"takes {MOST + 1} bytes, more than {MOST}"),
        (with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (100000, 100000), }"), "says 10000000000"),
        (with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }"), "says -1"),
        (with_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", bytes(8)), "never loaded"),
        (with_header("__import__('os').getpid()"), "not a readable array"),
        (with_header("[" * 110), "not a readable array"),
        (
            with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", b"ab", (9, 9)),
            "not a readable array",
        ),
        (
            with_header("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", b"\x01\x02"),
            "neither true nor false",
        ),
        (b"\x93NUMPY", "not a readable array"),
    ],
)
def test_what_is_refused(data: bytes, what: str | None) -> None:
    if what is None:
        assert npy.array(data, "f", MOST).size == MOST
        return
    with pytest.raises(InputError) as error:
        npy.array(data, "f", MOST)
    assert what in error.value.line()


@given(st.binary(max_size=80))
@settings(max_examples=100, deadline=None)
def test_any_header_is_an_array_or_an_error(data: bytes) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(npy.array(npy.MAGIC + data, "f", MOST), np.ndarray)
