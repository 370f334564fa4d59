"""Arrays in NumPy's own file form, never unpickled, never larger than a cap, whatever the header claims.

Specification: NumPy Enhancement Proposal 1 (versions 1.0, 2.0 and 3.0 of the header).
"""

from __future__ import annotations

import io
import tokenize
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.sources import png

MAGIC = b"\x93NUMPY"
_FIX = "Write it with numpy.save, plain numbers only."
_BROKEN = (
    ValueError,
    TypeError,
    SyntaxError,
    MemoryError,
    RecursionError,
    OverflowError,
    EOFError,
    tokenize.TokenError,
)


def array(data: bytes, where: str, most: int) -> NDArray[Any]:
    """The array in the bytes of an .npy file, read-only, in native byte order.

    InputError where the file is no such one, holds Python objects (pickle), claims more than `most` bytes, or has
    another length than its header says.
    """
    if not data.startswith(MAGIC):
        raise InputError(where, f"is {png.kind(data)}, not a NumPy .npy file", _FIX)
    try:
        return _parsed(data, where, most)
    except _BROKEN as error:
        said = "its header is no plain description of an array" if "<" in str(error) else str(error)
        raise InputError(where, f"is not a readable array ({said})", _FIX) from None


def _parsed(data: bytes, where: str, most: int) -> NDArray[Any]:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version[0]}.{version[1]}")
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, in_columns, dtype = reader(stream)
    if dtype.hasobject:
        raise InputError(where, "the array is pickled Python objects, which are never loaded", _FIX)
    size = int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize
    values = np.frombuffer(data, np.uint8, offset=stream.tell())
    if size < 0 or size != len(values):
        raise InputError(where, f"the array has {len(values)} bytes, its header says {size}", _FIX)
    if size > most:
        raise InputError(where, f"the array takes {size} bytes, more than {most}", "Check the array's shape.")
    if dtype == np.bool_ and len(values) and values.max() > 1:
        raise InputError(where, "has bytes that are neither true nor false", "Copy or write the file again.")
    shaped = values.view(dtype).reshape(shape, order="F" if in_columns else "C")
    return shaped.astype(dtype.newbyteorder("="), copy=False)
