"""Arrays of a NumPy .npz file, never unpickled, never larger than a cap, whatever the file claims."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any

from numpy.typing import NDArray

from groundeval.errors import InputError, quoted
from groundeval.sources import npy

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
            return npy.array(archive.read(member), where, most)
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
