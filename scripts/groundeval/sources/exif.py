"""The one thing that is read of EXIF metadata: whether a viewer would turn the image.

Specification: CIPA DC-008 (Exif 2.32), sections 4.5.4 (structure) and 4.6.4 A (Orientation).
"""

from __future__ import annotations

import struct

from groundeval.errors import InputError

_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_ORIENTATION, _SHORT = 0x0112, 3


def refuse_rotation(tiff: bytes, where: str) -> None:
    """InputError where the metadata, from their byte order mark on, ask for a rotation or a mirror image."""
    found = orientation(tiff)
    if found != 1:
        what = f"its EXIF orientation is {found}: viewers turn it, most readers do not"
        raise InputError(where, what, "Save the pixels upright, without an orientation.")


def orientation(tiff: bytes) -> int:
    """1 (upright) to 8; 1 where there is none, or where the metadata are broken."""
    order = _ORDERS.get(tiff[:4])
    if order is None:
        return 1
    try:
        (start,) = struct.unpack_from(order + "I", tiff, 4)
        (count,) = struct.unpack_from(order + "H", tiff, start)
        for place in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind, _, value = struct.unpack_from(order + "HHIH", tiff, place)
            if (tag, kind) == (_ORIENTATION, _SHORT) and 1 <= value <= 8:
                return int(value)
    except struct.error:
        pass
    return 1
