"""Arrays of a NumPy .npz file, never unpickled, never larger than a cap, whatever the file claims."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError, quoted

_FIX = "Write it with numpy.savez or numpy.savez_compressed, plain numbers only."
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError, OSError)


def array(data: bytes, name: str, where: str, most: int) -> NDArray[Any]:
    """The array `name` of the .npz file `data`, read-only, in native byte order.

    InputError where the file is broken, has no such array or several, where the array takes more than `most` bytes,
    holds Python objects (pickle), or has another length than its header says.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            member = _member(archive, f"{name}.npy", where, most)
            return _parsed(archive.read(member), where)
    except _BROKEN as error:
        raise InputError(where, f"is not a readable .npz file ({error})", _FIX) from None


def _member(archive: zipfile.ZipFile, name: str, where: str, most: int) -> zipfile.ZipInfo:
    """The one member of that name. zipfile never unpacks more than the size that is declared here."""
    found = [m for m in archive.infolist() if m.filename == name]
    if len(found) != 1:
        held = ", ".join(quoted(n) for n in archive.namelist()[:5]) or "nothing"
        raise InputError(where, f"has {len(found)} members {quoted(name)}, expected one; it holds {held}", _FIX)
    if found[0].file_size > most:
        raise InputError(
            where, f"the array takes {found[0].file_size} bytes, more than {most}", "Check the array's shape."
        )
    return found[0]


def _parsed(raw: bytes, where: str) -> NDArray[Any]:
    """The bytes of an .npy file as an array; the header is a literal, and the length must be what it says."""
    stream = io.BytesIO(raw)
    version = np.lib.format.read_magic(stream)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, in_columns, dtype = reader(stream)
    if dtype.hasobject:
        raise InputError(where, "the array is pickled Python objects, which are never loaded", _FIX)
    values = np.frombuffer(raw, np.uint8, offset=stream.tell())
    count = int(np.prod([int(n) for n in shape], dtype=object))
    if count * dtype.itemsize != len(values):
        raise InputError(where, f"the array has {len(values)} bytes, its header says {count * dtype.itemsize}", _FIX)
    shaped = values.view(dtype).reshape(shape, order="F" if in_columns else "C")
    return shaped.astype(dtype.newbyteorder("="), copy=False)
