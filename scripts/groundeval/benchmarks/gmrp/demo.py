"""A small made dataset in GMRP's layout, a quarter of its image size, and three models' predictions for its test split."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from groundeval.benchmarks.gmrp import TASK
from groundeval.metrics import resize

SPLIT = "test"
MODELS: Mapping[str, dict[str, Any]] = {
    "almost": {"format": "scores_npz", "options": {"dtype": "uint8"}},
    "noisy": {"format": "class_png", "options": {}},
    "nothing": {"format": "class_png", "options": {}},
}
FRAMES = {"train": 40, "val": 40, "test": 40}
HEIGHT, WIDTH = 180, 320

_PALETTE = (0, 0, 0, 0, 128, 0, 200, 0, 0)


def write(folder: Path, seed: int) -> None:
    """rgb/, depth_u8/, depth_u16/, label/ and lists in splits/. Some frames have no anomaly, one has no road at all."""
    for name in ("rgb", "depth_u8", "depth_u16", "label", "splits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    stems = [f"frame{number:04d}" for number in range(sum(FRAMES.values()))]
    order = _rng(seed, "order").permutation(stems).tolist()
    for split, count in FRAMES.items():
        chosen, order = order[:count], order[count:]
        (folder / "splits" / f"{split}.txt").write_text("".join(f"{stem}\n" for stem in sorted(chosen)))
        for number, stem in enumerate(sorted(chosen)):
            _write_frame(folder, stem, _rng(seed, stem), road=number > 0)


def _rng(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng((seed, zlib.crc32(name.encode())))


def _write_frame(folder: Path, stem: str, rng: np.random.Generator, road: bool) -> None:
    label = _scene(rng) if road else Image.new("L", (WIDTH, HEIGHT))
    depth = np.broadcast_to(np.linspace(9000, 600, HEIGHT)[:, None], (HEIGHT, WIDTH)).astype(np.uint16)
    grey = Image.fromarray((60 + 60 * np.asarray(label) + rng.integers(0, 20, (HEIGHT, 1))).astype(np.uint8))
    for name, image in {
        "rgb": Image.merge("RGB", [grey] * 3),
        "depth_u8": Image.fromarray((depth // 40).astype(np.uint8)),
        "depth_u16": Image.fromarray(depth),
        "label": label,
    }.items():
        image.save(folder / name / f"{stem}.png", compress_level=1)


def _scene(rng: np.random.Generator) -> Image.Image:
    """A label: a drivable area that narrows towards the horizon, with up to three small anomalies on it."""
    label = Image.new("L", (WIDTH, HEIGHT))
    draw = ImageDraw.Draw(label)
    horizon, left, right = (int(rng.integers(*span)) for span in ((60, 100), (0, 90), (230, WIDTH)))
    draw.polygon([(left, HEIGHT), (150, horizon), (180, horizon), (right, HEIGHT)], fill=1)
    for _ in range(rng.integers(0, 4)):
        y, size, x = (int(rng.integers(*span)) for span in ((horizon + 20, HEIGHT - 20), (3, 12), (145, 185)))
        draw.ellipse([x, y, x + 2 * size, y + size], fill=2)
    return label


def predict(raw: Path, folder: Path, model: str, seed: int) -> None:
    """Write the files of one demo model for the test split."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem in (raw / "splits" / f"{SPLIT}.txt").read_text().split():
        with Image.open(raw / "label" / f"{stem}.png") as image:
            label = np.asarray(image)
        _PREDICT[model](label, folder / stem, _rng(seed, f"{model}/{stem}"))


def _almost(label: NDArray[np.uint8], path: Path, rng: np.random.Generator) -> None:
    """Score maps of 8 bits at the scored size, a little shifted, a little unsure."""
    shifted = resize.nearest(np.roll(label, rng.integers(-1, 2), axis=1), TASK.size)
    classes = np.arange(len(TASK.classes))[:, None, None]
    scores = np.where(shifted == classes, 190, 30) + rng.integers(-25, 26, (len(classes), TASK.size[0], 1))
    np.savez_compressed(path.with_suffix(".npz"), scores=scores.astype(np.uint8))


def _noisy(label: NDArray[np.uint8], path: Path, rng: np.random.Generator) -> None:
    """A class map at native size, with blocks of wrong classes and a few values that are no class."""
    strange = rng.integers(0, len(TASK.classes) + 1, (HEIGHT // 20, WIDTH // 20))
    blocks = np.where(rng.random(strange.shape) < 0.25, strange, 255).repeat(20, axis=0).repeat(20, axis=1)
    mixed = np.where(blocks == 255, np.roll(label, rng.integers(-5, 6), axis=1), blocks)
    Image.fromarray(mixed.astype(np.uint8)).save(path.with_suffix(".png"), compress_level=1)


def _nothing(label: NDArray[np.uint8], path: Path, rng: np.random.Generator) -> None:  # noqa: ARG001
    """A palette image at the scored size: index 0 everywhere."""
    image = Image.new("P", (TASK.size[1], TASK.size[0]))
    image.putpalette(_PALETTE)
    image.save(path.with_suffix(".png"), compress_level=1)


_PREDICT: Mapping[str, Any] = {"almost": _almost, "noisy": _noisy, "nothing": _nothing}
