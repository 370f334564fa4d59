"""A small made dataset in KITTI road's layout, at a quarter of its image size, and three models' predictions for it.

`testing` has as many images as the official one (96, 94, 100), so that the server's package can be built from it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks.kitti_road import bev, calib, frames
from groundeval.benchmarks.kitti_road.package import COUNTS

MODELS: dict[str, dict[str, Any]] = {
    name: {"format": "confidence_png", "options": {}} for name in ("almost", "noisy", "nothing")
}
TRAINING = 10  # frames of each kind

_SIZES = ((94, 310), (94, 310), (93, 306), (92, 306))  # the official sizes vary, too
_GRASS, _ROAD, _LANE = 60, 110, 160  # grey tones of the images, so that a model can read the road off them
_OTHER_WAY = {"um": 2.0, "umm": 3.0, "uu": 1.0}  # half widths grow with the number of lanes


def write(folder: Path, seed: int) -> None:
    """Write training/ (with truth; one frame without any road, one with nothing to evaluate) and testing/ (without)."""
    for name in ("training/image_2", "training/calib", "training/gt_image_2", "testing/image_2", "testing/calib"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for split, counts in (("training", dict.fromkeys(COUNTS, TRAINING)), ("testing", COUNTS)):
        for category, count in counts.items():
            for number in range(count):
                frame = f"{category.partition('_')[0]}_{number:06d}"
                _write_frame(folder / split, frame, _rng(seed, f"{split}/{frame}"))


def _rng(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng((seed, zlib.crc32(name.encode())))


def _write_frame(part: Path, frame: str, rng: np.random.Generator) -> None:
    height, width = _SIZES[rng.integers(len(_SIZES))]
    matrices = _calibration(height, width, rng)
    lines = [f"{n}: " + " ".join(f"{x:.12e}" for x in m.ravel()) + "\n" for n, m in matrices.items()]
    file = part / "calib" / f"{frame}.txt"
    file.write_text("".join(lines))
    ground = _ground(bev.matrix(calib.read(file), file), height, width)
    road, lane, unclear = _scene(*ground, frame, rng)
    tone = np.where(lane, _LANE, np.where(road, _ROAD, _GRASS)).astype(np.uint8)
    cv2.imwrite(str(part / "image_2" / f"{frame}.png"), np.stack([tone, tone, tone], axis=2))
    if part.name == "training":
        tasks = {"road": road, "lane": lane} if frame.startswith("um_") else {"road": road}
        for task, mask in tasks.items():
            _write_truth(part / "gt_image_2" / f"{frames.sample_of(frame, task)}.png", mask, unclear)


def _calibration(height: int, width: int, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """A camera 1.65 m above the road that looks ahead, pitched a little; the file has other matrices, too."""
    pitch, focal = rng.normal(0, 0.008), 180.0
    c, s = np.cos(pitch), np.sin(pitch)
    projection = np.array([[focal, 0, width / 2, 11.0], [0, focal, 0.46 * height, 0.05], [0, 0, 1, 0.003]])
    to_road = np.array([[1, 0, 0, 0.01], [0, c, -s, -1.65], [0, s, c, 0.28]])
    return {"P0": projection, "P2": projection, "R0_rect": np.eye(3), "Tr_cam_to_road": to_road}


def _ground(of: NDArray[np.float64], height: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where each pixel [H, W] meets the road plane, x and z in metres; infinity above the horizon."""
    v, u = np.mgrid[1 : height + 1, 1 : width + 1]
    x, z, scale = np.tensordot(np.linalg.inv(of), np.stack([u, v, np.ones_like(u)]), 1)
    below = (scale * z > 0) & (np.abs(z) < 200 * np.abs(scale))
    ones = np.where(below, scale, 1)
    return np.where(below, x / ones, np.inf), np.where(below, z / ones, np.inf)


def _scene(
    x: NDArray[np.float64], z: NDArray[np.float64], frame: str, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Road, ego lane and what is not evaluated, each bool [H, W]. Lanes lie left of a kerb that bends."""
    scene, half = frame.partition("_")[0], 1.8
    seen = np.isfinite(z)
    across = np.where(seen, x, 0) - rng.normal(0, 0.3) - rng.normal(0, 2e-3) * np.where(seen, z, 0) ** 2
    road = seen & (across < half) & (across > -half - 2 * half * _OTHER_WAY[scene])
    lane = seen & (np.abs(across) < half) & (scene == "um")
    unclear = seen & (across >= half) & (across < half + 0.8)
    if frame == "uu_000001":
        road[:] = False
    if frame == "uu_000002":
        unclear[:] = True
    return road, lane, unclear


def _write_truth(path: Path, mask: NDArray[np.bool_], unclear: NDArray[np.bool_]) -> None:
    valid = ~unclear
    blue_green_red = np.stack([mask & valid, np.zeros_like(mask), valid], axis=2)
    cv2.imwrite(str(path), blue_green_red.astype(np.uint8) * 255)


def predict(raw: Path, folder: Path, model: str, seed: int, split: str = "training") -> None:
    """Write the maps of one demo model: roads and lanes for `training`, roads for `testing`, into `folder` itself."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, tone in _images(raw / split, lanes=split == "training"):
        road = np.where(tone == _LANE if "_lane_" in name else tone > _GRASS, np.uint8(255), np.uint8(0))
        confidence = _MODELS[model](road, _rng(seed, f"{model}/{split}/{name}"))
        cv2.imwrite(str(folder / f"{name}.png"), confidence)


def _images(part: Path, lanes: bool) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    for path in sorted((part / "image_2").glob("*.png")):
        tone = np.asarray(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), np.uint8)
        tasks = ("road", "lane") if lanes and path.stem.startswith("um_") else ("road",)
        yield from ((frames.sample_of(path.stem, task), tone) for task in tasks)


def _almost(road: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    return np.asarray(cv2.GaussianBlur(np.roll(road, int(rng.integers(-1, 2)), axis=1), (5, 5), 1), np.uint8)


def _noisy(road: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    blurred = cv2.GaussianBlur(np.roll(road, int(rng.integers(-6, 7)), axis=1), (15, 15), 4)
    return np.asarray(np.clip(blurred + rng.normal(0, 60, road.shape), 0, 255), np.uint8)


def _nothing(road: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:  # noqa: ARG001
    return np.zeros_like(road)


_MODELS: Mapping[str, Any] = {"almost": _almost, "noisy": _noisy, "nothing": _nothing}
