"""A picture of a few samples, over the dimmed photo where it is there. Masks and boxes: the truth green, the prediction
red, both yellow. Maps of more than two classes: the prediction above, the truth below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import benchmarks, tables
from groundeval.benchmarks import _photo
from groundeval.benchmarks._picture import CLEAR
from groundeval.metrics import masks

HEIGHT, WIDEST = 360, 640  # of a panel
LEGEND = "truth green, prediction red, both yellow; of several classes the prediction above, the truth below"
_GREEN, _RED, _BOTH = (60, 200, 60), (60, 60, 230), (60, 220, 230)  # blue, green, red
_COLOURS = np.array(  # of classes, blue, green, red
    [[90, 90, 90], [60, 200, 60], [60, 60, 230], [230, 140, 40], [200, 60, 200], [40, 200, 230], [230, 230, 90]],
    np.uint8,
)
_PLAIN, _DIMMED, _OPAQUE = 32, 0.5, 0.6  # the canvas without a photo; the photo's light; the share of a colour over it

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Dataset:
    """What is known of the samples, which are the same of each table: the benchmark and its folder, where there are any."""

    manifest: pa.Table
    truth: pa.Table | None = None
    benchmark: str | None = None
    raw: Path | None = None
    options: Mapping[str, Any] | None = None


def write(path: Path, dataset: Dataset, predictions: pa.Table) -> int:
    """Write a PNG of all rows; how many photos it shows."""
    photos = [_photo_of(dataset, i) for i in range(predictions.num_rows)]
    panels = [_panel(dataset, predictions, i, photo) for i, photo in enumerate(photos)]
    tallest = max(len(p) for p in panels)
    framed = [np.pad(p, ((4, 4 + tallest - len(p)), (4, 4), (0, 0)), constant_values=255) for p in panels]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(cv2.imencode(".png", np.concatenate(framed, axis=1))[1].tobytes())
    return sum(photo is not None for photo in photos)


def _photo_of(dataset: Dataset, row: int) -> Image | None:
    """Blue, green, red at the size of a panel; None: not there, or it cannot be shown."""
    if dataset.benchmark is None or dataset.raw is None:
        return None
    known = dataset.manifest.slice(row, 1).to_pylist()[0]
    found = _photo.find(benchmarks.record(dataset.benchmark), dataset.raw, known)
    try:
        return None if found is None else _photo.pixels(found, *_size(dataset, row))[..., ::-1]
    except (OSError, ValueError, Warning):
        return None


def _size(dataset: Dataset, row: int) -> tuple[int, int]:
    height, width = (dataset.manifest[name][row].as_py() for name in ("height", "width"))
    scale = min(HEIGHT / height, WIDEST / width)
    return max(1, round(height * scale)), max(1, round(width * scale))


def _panel(dataset: Dataset, predictions: pa.Table, row: int, photo: Image | None) -> Image:
    size = _size(dataset, row)
    canvas = np.full((*size, 3), _PLAIN, np.uint8) if photo is None else (photo * _DIMMED).astype(np.uint8)
    answer, truth = _row(predictions, row), None if dataset.truth is None else _row(dataset.truth, row)
    if "boxes" in answer.schema.names:
        scale = size[0] / dataset.manifest["height"][row].as_py()
        least = (dataset.options or {}).get("score_threshold")
        for drawn, colour in ((truth, _GREEN), (answer, _RED)):
            for box in [] if drawn is None else _boxes(drawn, least):
                left, top, right, bottom = (round(min(max(v * scale, -9999), 9999)) for v in box)
                cv2.rectangle(canvas, (left, top), (right, bottom), colour, 2)
        return canvas
    if "mask" in answer.schema.names:
        shape = dataset.manifest["height"][row].as_py(), dataset.manifest["width"][row].as_py()
        return _agreement(canvas, *(_mask(drawn, shape) for drawn in (truth, answer)))
    return _map(canvas, dataset, row, answer, truth)


def _row(table: pa.Table, row: int) -> pa.RecordBatch:
    return table.slice(row, 1).combine_chunks().to_batches()[0]


def _boxes(row: pa.RecordBatch, least: float | None) -> list[list[float]]:
    """Those at or above the score threshold, where there are scores."""
    boxes, scores = (row.column(name)[0].as_py() for name in ("boxes", "scores"))
    if least is None or scores is None:
        return boxes or []
    return [box for box, score in zip(boxes or [], scores, strict=True) if score >= least]


def _mask(row: pa.RecordBatch | None, size: tuple[int, int]) -> NDArray[np.bool_]:
    counts = None if row is None else row.column("mask")[0].as_py()
    if counts is None:
        return np.zeros(size, np.bool_)
    runs = masks.unpack(counts)
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(size[1], size[0]).T


def _agreement(canvas: Image, truth: NDArray[np.bool_], answer: NDArray[np.bool_]) -> Image:
    either = np.where(truth, np.where(answer, 3, 1), np.where(answer, 2, 0))
    return _coloured(canvas, either, np.array([(0, 0, 0), _GREEN, _RED, _BOTH], np.uint8), either > 0)


def _map(canvas: Image, dataset: Dataset, row: int, answer: pa.RecordBatch, truth: pa.RecordBatch | None) -> Image:
    """As the benchmark's pictures show it; without a benchmark the values or highest scores as they are."""
    found, expected = tables.unpack_map(answer, 0), None if truth is None else tables.unpack_map(truth, 0)
    if found is None:
        return canvas
    if dataset.benchmark is None or expected is None:
        return _classes(canvas, found if found.ndim == 2 else found.argmax(0))
    tags = dict(dataset.manifest["tags"][row].as_py())
    picture = benchmarks.part(dataset.benchmark, "picture")
    layers = picture.layers(expected, found, tags, dataset.options or {}, {})
    if len(layers.names) == 2:
        size = (canvas.shape[1], canvas.shape[0])
        sides = [cv2.resize((side == 1).astype(np.uint8), size) > 0 for side in (layers.truth, layers.answer)]
        return _agreement(canvas, *sides)
    line = np.full((4, canvas.shape[1], 3), 255, np.uint8)
    return np.concatenate([_classes(canvas, layers.answer), line, _classes(canvas, layers.truth)])


def _classes(canvas: Image, classes: NDArray[Any]) -> Image:
    """Class 0 is mostly the rest, and left as the photo."""
    return _coloured(canvas, classes, _COLOURS[np.arange(256) % len(_COLOURS)], (classes != CLEAR) & (classes > 0))


def _coloured(canvas: Image, values: NDArray[Any], colours: Image, shown: NDArray[np.bool_]) -> Image:
    """The colours of values [h, w], where shown, over the canvas [H, W, 3], to which they are brought."""
    size = (canvas.shape[1], canvas.shape[0])
    pixels = cv2.resize(colours[values.astype(np.int64) % 256 % len(colours)], size, interpolation=cv2.INTER_NEAREST)
    there = cv2.resize(shown.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST)[..., None]
    blended = canvas * (1 - _OPAQUE) + pixels * _OPAQUE
    return np.where(there > 0, blended, canvas).astype(np.uint8)
