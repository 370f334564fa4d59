"""A picture of a few samples: the truth green, the prediction red, both yellow; boxes as outlines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.metrics import masks

HEIGHT = 360
_GREEN, _RED = (60, 200, 60), (60, 60, 230)  # blue, green, red
_COLOURS = np.random.default_rng(5).integers(40, 255, (256, 3), np.uint8)  # of classes

Image = NDArray[np.uint8]


def write(path: Path, manifest: pa.Table, predictions: pa.Table, truth: pa.Table | None) -> int:
    """Write a PNG of the rows, which are the same of each table; how many there are."""
    panels = [_panel(manifest.slice(i, 1), predictions, truth, i) for i in range(manifest.num_rows)]
    sheet = np.concatenate([np.pad(p, ((4, 4), (4, 4), (0, 0)), constant_values=255) for p in panels], axis=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(cv2.imencode(".png", sheet)[1].tobytes())
    return len(panels)


def _panel(sample: pa.Table, predictions: pa.Table, truth: pa.Table | None, row: int) -> Image:
    height, width = sample["height"][0].as_py(), sample["width"][0].as_py()
    canvas = np.full((height, width, 3), 32, np.uint8)
    if truth is not None:
        _draw(canvas, truth.slice(row, 1).combine_chunks().to_batches()[0], _GREEN)
    _draw(canvas, predictions.slice(row, 1).combine_chunks().to_batches()[0], _RED)
    size = (max(1, round(width * HEIGHT / height)), HEIGHT)
    return np.asarray(cv2.resize(canvas, size, interpolation=cv2.INTER_AREA), np.uint8)


def _draw(canvas: Image, row: pa.RecordBatch, colour: tuple[int, int, int]) -> None:
    if "mask" in row.schema.names:
        counts = row.column("mask")[0].as_py()
        if counts is not None:
            mask = _pixels(counts, canvas.shape[:2])
            canvas[mask] = np.maximum(canvas[mask], colour)
    elif "boxes" in row.schema.names:
        for x, y, right, bottom in row.column("boxes")[0].as_py() or []:
            cv2.rectangle(canvas, (round(x), round(y)), (round(right), round(bottom)), colour, 2)
    else:
        _draw_map(canvas, tables.unpack_map(row, 0), colour)


def _draw_map(canvas: Image, found: NDArray[Any] | None, colour: tuple[int, int, int]) -> None:
    """The prediction's classes in colours; the truth, drawn before it, stays in the lower half."""
    if found is None:
        return
    classes = found if found.ndim == 2 else found.argmax(0)
    height, width = canvas.shape[:2]
    pixels = cv2.resize(_COLOURS[classes.astype(np.int64) % 256], (width, height), interpolation=cv2.INTER_NEAREST)
    rows = slice(0, height // 2) if colour == _RED else slice(None)
    canvas[rows] = pixels[rows]


def _pixels(counts: bytes, size: tuple[int, ...]) -> NDArray[np.bool_]:
    runs = masks.unpack(counts)
    values = np.arange(len(runs)) % 2 == 1
    return np.repeat(values, runs).reshape(size[1], size[0]).T
