"""The photo of a sample, where the dataset's folder has it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks import Record

LARGEST = 64_000_000  # pixels of an image that is opened at all


def find(record: Record, raw: Path, known: Mapping[str, Any]) -> Path | None:
    """Where it is, or would be in a folder that is there; None where the folder has no images, or no such name.

    known: the sample's row of the manifest, whose names cannot lead out of the folder.
    """
    paths = [raw / template.format_map(known) for template in record.images]
    inside = (path for path in paths if path.parent.is_dir() and path.resolve().is_relative_to(raw.resolve()))
    return next(inside, None)


def pixels(path: Path, height: int, width: int) -> NDArray[np.uint8]:
    """RGB [height, width, 3] of the image, resampled. OSError, ValueError or Warning: it cannot be shown."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Image.open(path, formats=("PNG", "JPEG")) as opened:
            if opened.width * opened.height > LARGEST:
                raise ValueError(f"{opened.width} x {opened.height} pixels are too many")
            return np.asarray(opened.convert("RGB").resize((width, height), Image.Resampling.BOX), np.uint8)
