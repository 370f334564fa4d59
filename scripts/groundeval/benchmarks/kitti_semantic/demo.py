"""A small made dataset in KITTI semantic's layout, a third of its image sizes, and three models' predictions.

It has no lists, so its splits are the seeded ones, as with the official archive: 100, 50 and 50 of 200 frames.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from groundeval.benchmarks.kitti_semantic import TASK, merging, truth
from groundeval.metrics import resize

SPLIT = "test"
MODELS: Mapping[str, dict[str, Any]] = {
    "almost": {"format": "scores_npz", "options": {"dtype": "float16"}},
    "noisy": {"format": "class_png", "options": {"colours": "0=#000000 1=#804080 2=#00008e 3=#dc143c"}},
    "nothing": {"format": "class_png", "options": {}},
}

_SIZES = ((125, 414), (125, 414), (125, 413), (124, 408), (123, 408))  # the official sizes vary, too
_SKY, _TERRAIN, _SIDEWALK, _ROAD, _PARKING, _IGNORED = 23, 22, 8, 7, 9, 255
_THINGS = (24, 25, 26, 26, 26, 27, 28, 32, 33)
_COLOURS = np.array([[0, 0, 0], [128, 64, 128], [0, 0, 142], [220, 20, 60], [1, 2, 3]], np.uint8)


def write(folder: Path, seed: int) -> None:
    """training/{image_2,semantic}/, 200 frames, with ignored pixels (one frame has no others), and testing/image_2/."""
    for name in ("training/image_2", "training/semantic", "testing/image_2"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(sum(truth.SHARES.values())):
        stem = f"{number:06d}_10"
        label = _scene(_rng(seed, stem))
        if number == 7:
            label.paste(_IGNORED, (0, 0, *label.size))
        grey = label.point(lambda value: value * 7 % 256)
        label.save(folder / "training" / "semantic" / f"{stem}.png", compress_level=1)
        Image.merge("RGB", [grey] * 3).save(folder / "training" / "image_2" / f"{stem}.png", compress_level=1)
        if number < 10:
            grey.save(folder / "testing" / "image_2" / f"{stem}.png", compress_level=1)


def _rng(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng((seed, zlib.crc32(name.encode())))


def _scene(rng: np.random.Generator) -> Image.Image:
    """Label ids of a street: sky, terrain, sidewalk, road, parking, things on it, and ignored borders."""
    height, width = _SIZES[rng.integers(len(_SIZES))]
    label = Image.new("L", (width, height), _SKY)
    draw = ImageDraw.Draw(label)
    horizon, middle = height * 2 // 5, width // 2 + int(rng.integers(-40, 40))
    draw.rectangle([0, horizon, width, height], fill=_TERRAIN)
    for half, value in ((190, _SIDEWALK), (150, _ROAD)):
        draw.polygon([(middle - half, height), (middle, horizon), (middle + half, height)], fill=value)
    draw.rectangle([width - 60, height - 15, width, height], fill=_PARKING)
    for value in rng.choice(_THINGS, 8).tolist():
        x, y, size = (int(n) for n in rng.integers([0, horizon, 6], [width - 30, height - 30, 30]))
        draw.rectangle([x, y, x + size // (1 + (value < 26)), y + size], fill=value)
    draw.rectangle([0, height - 3, width, height], fill=_IGNORED)
    return label


def predict(raw: Path, folder: Path, model: str, seed: int) -> None:
    """Write the files of one demo model for the test split."""
    folder.mkdir(parents=True, exist_ok=True)
    table = np.zeros(256, np.uint8)
    table[: TASK.truth_values] = merging.preset("category")
    for stem in truth.manifest(raw, SPLIT, {}, Counter()).column("sample_id").to_pylist():
        with Image.open(raw / "training" / "semantic" / f"{stem}.png") as image:
            classes = table[np.asarray(image)]
        _PREDICT[model](classes, folder / stem, _rng(seed, f"{model}/{stem}"))


def _almost(classes: NDArray[np.uint8], path: Path, rng: np.random.Generator) -> None:
    """Score maps of 16-bit floats at native size, a little shifted, a little unsure."""
    shifted = np.roll(classes, rng.integers(-1, 2), axis=1)
    chosen = shifted == np.arange(len(TASK.classes))[:, None, None]
    scores = np.where(chosen, 0.8, 0.1) + rng.normal(0, 0.1, (len(chosen), len(classes), 1))
    np.savez_compressed(path.with_suffix(".npz"), scores=scores.astype(np.float16))


def _noisy(classes: NDArray[np.uint8], path: Path, rng: np.random.Generator) -> None:
    """An RGB image at the scored size, with blocks of wrong classes and a colour that the table does not have."""
    blocks = rng.integers(0, 5, (TASK.size[0] // 20, TASK.size[1] // 20)).repeat(20, axis=0).repeat(20, axis=1)
    wrong = (rng.random((TASK.size[0] // 20, TASK.size[1] // 20)) < 0.25).repeat(20, axis=0).repeat(20, axis=1)
    mixed = np.where(wrong, blocks, resize.nearest(classes, TASK.size))
    Image.fromarray(_COLOURS[mixed]).save(path.with_suffix(".png"), compress_level=1)


def _nothing(classes: NDArray[np.uint8], path: Path, rng: np.random.Generator) -> None:  # noqa: ARG001
    """A palette image at native size: index 0 everywhere."""
    image = Image.new("P", (classes.shape[1], classes.shape[0]))
    image.putpalette(_COLOURS.ravel().tolist())
    image.save(path.with_suffix(".png"), compress_level=1)


_PREDICT: Mapping[str, Any] = {"almost": _almost, "noisy": _noisy, "nothing": _nothing}
