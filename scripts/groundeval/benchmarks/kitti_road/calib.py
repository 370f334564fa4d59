"""Calibration files of KITTI road: `NAME: numbers`, one matrix a line, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError, quoted

SHAPES: Mapping[str, tuple[int, int]] = {"P2": (3, 4), "R0_rect": (3, 3), "Tr_cam_to_road": (3, 4)}
_FIX = "Use the calibration file of the official archive."


def read(path: Path) -> dict[str, NDArray[np.float64]]:
    """The matrices that the bird's-eye view needs, each completed to 4x4 (float64) with rows of the identity.

    A missing file or matrix, a wrong count of numbers, a number that is none or not finite is an InputError that names
    the file and the matrix. Other matrices are not looked at.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            path, "no such calibration file", "Unpack calib/ of the same archive beside image_2/."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read as text ({error})", _FIX) from None
    lines = [(n.strip(), numbers) for n, colon, numbers in (line.partition(":") for line in text.splitlines()) if colon]
    return {name: _matrix([n for key, n in lines if key == name], name, path) for name in SHAPES}


def _matrix(found: list[str], name: str, path: Path) -> NDArray[np.float64]:
    """One matrix from the lines of its name, of which there has to be one."""
    if len(found) != 1:
        what = f"matrix {name} is missing" if not found else f"matrix {name} stands {len(found)} times"
        raise InputError(path, what, _FIX)
    shape, whole = SHAPES[name], np.eye(4)
    numbers = [_number(word, name, path) for word in found[0].split()]
    if len(numbers) != shape[0] * shape[1]:
        what = f"matrix {name} has {len(numbers)} numbers, expected {shape[0]}x{shape[1]} = {shape[0] * shape[1]}"
        raise InputError(path, what, _FIX)
    whole[: shape[0], : shape[1]] = np.reshape(numbers, shape)
    return whole


def _number(word: str, name: str, path: Path) -> float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(path, f"matrix {name} holds {quoted(word)}, which is not a finite number", _FIX)
    return number
