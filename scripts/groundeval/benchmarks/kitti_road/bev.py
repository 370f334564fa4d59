"""The bird's-eye view: which pixel of the image each cell of the road plane looks at.

The grid is that of the KITTI road benchmark: x from -10 to 10 m, z from 46 m (row 0) down to 6 m, cells of 0.05 m.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError

X, Z, CELL = (-10.0, 10.0), (6.0, 46.0), 0.05  # metres
SHAPE = (800, 400)

_T = TypeVar("_T", bound=np.generic)


class Cells(NamedTuple):
    """The cells that see the image: flat indices (intp [n]) of the cell in the grid, and of its pixel in the image."""

    cell: NDArray[np.intp]
    pixel: NDArray[np.intp]


def matrix(calib: Mapping[str, NDArray[np.float64]], where: str | PathLike[str]) -> NDArray[np.float64]:
    """From the road plane [X, Z, 1] in metres to the image in pixels counted from 1, homogeneous: float64 [3, 3].

    calib: the 4x4 matrices of calib.read. One that puts a part of the grid behind the camera is an InputError.
    """
    try:
        to_camera = np.linalg.inv(calib["Tr_cam_to_road"])
    except np.linalg.LinAlgError:
        raise InputError(where, "matrix Tr_cam_to_road has no inverse", "Use the official calibration.") from None
    found: NDArray[np.float64] = (calib["P2"] @ calib["R0_rect"] @ to_camera)[:3][:, [0, 2, 3]]
    depths = [found[2] @ (x, z, 1) for x in X for z in Z]
    if min(depths) <= 0:
        what = "P2, R0_rect and Tr_cam_to_road put a part of the bird's-eye view behind the camera"
        raise InputError(where, what, "Use the official calibration.")
    return found


def to_text(of: NDArray[np.float64]) -> str:
    """The nine numbers as text, row by row, exactly (hexadecimal)."""
    return " ".join(float(n).hex() for n in of.ravel())


def from_text(text: str) -> NDArray[np.float64]:
    """The matrix [3, 3] that to_text wrote."""
    return np.array([float.fromhex(word) for word in text.split()]).reshape(3, 3)


def cells(of: NDArray[np.float64], height: int, width: int) -> Cells:
    """The cells of which the centre falls on the image, 1 <= u <= width and 1 <= v <= height, and their pixels.

    A cell takes the pixel at (floor(v), floor(u)), counted from 1; nothing is interpolated.
    """
    rows, columns = SHAPE
    x = X[0] + CELL * (np.arange(columns) + 0.5)
    z = Z[1] - CELL * (np.arange(rows) + 0.5)
    u, v, depth = ((a * x)[None] + (b * z)[:, None] + c for a, b, c in of)
    u /= depth
    v /= depth
    cell = np.flatnonzero((u >= 1) & (u <= width) & (v >= 1) & (v <= height))
    row, column = (a.ravel()[cell].astype(np.intp) - 1 for a in (v, u))
    return Cells(cell, row * width + column)


def look(image: NDArray[_T], seen: Cells) -> NDArray[_T]:
    """The bird's-eye view [800, 400] of an image [H, W]; 0 where a cell does not see it."""
    out = np.zeros(SHAPE, image.dtype)
    out.reshape(-1)[seen.cell] = image.reshape(-1)[seen.pixel]
    return out
