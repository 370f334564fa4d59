"""A small made dataset in our own layout, with what goes wrong in practice, and three models' predictions for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from groundeval.benchmarks.grin_drive import truth

SPLIT = "test"
SAMPLES = 90
HEIGHT, WIDTH = 90, 160
MODELS: dict[str, dict[str, Any]] = {
    "almost": {"format": "polygons_jsonl", "options": {"unit": "px"}},
    "noisy": {"format": "coco_rle", "options": {}},
    "nothing": {"format": "mask_png", "options": {}},
}

_INSTRUCTIONS = (
    "Stop next to the white van on the right.",
    "Turn in where the man with the dog is standing.",
    "Park behind one of the two buses.",
    "Wait on the grass in front of the gate.",
)
_ODD: Mapping[int, Callable[[], list[dict[str, Any]]]] = {
    # By number; a third of the samples, 0, 3, 6 ..., have no target.
    0: lambda: [{"polygons": [[10, 10, 40, 10]]}],  # two points: no region, though it looks like a box
    3: lambda: [{"polygons": [[20, 20, 40, 40, 60, 60]]}],  # no area
    4: lambda: [{"polygons": [[20, 20, 100, 70, 100, 20, 20, 70]]}],  # a bow-tie, whose signed area is 0
    7: lambda: [{"polygons": [[-20, 60, 50, 60, 50, 110, -20, 110]]}],  # leaves the image
    10: lambda: [{"polygons": [[20, 20, 80, 20, 80, 60, 20, 60], [50, 40, 120, 40, 120, 80, 50, 80]]}],  # they overlap
    13: lambda: [{"polygons": [[0, 0, WIDTH, 0, WIDTH, HEIGHT, 0, HEIGHT]]}],  # everything
}


def write(folder: Path, seed: int) -> None:
    """Write test.jsonl, images/ and the masks of some regions: 90 samples, a third each of none, single and multi."""
    rng = np.random.default_rng(seed)
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    records = [_record(folder, number, rng) for number in rng.permutation(SAMPLES).tolist()]
    (folder / f"{SPLIT}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def _record(folder: Path, number: int, rng: np.random.Generator) -> dict[str, Any]:
    image, unit = f"images/{number // 3:04d}.png", "norm1" if number % 5 == 1 and number not in _ODD else "px"
    if number % 3 == 0:
        cv2.imwrite(str(folder / image), _scenery(rng))
    regions = (
        _ODD[number]() if number in _ODD else [_region(folder, number, n, unit, rng) for n in range(_count(number))]
    )
    return {
        "sample_id": f"{number:04d}",
        "image": image,
        "height": HEIGHT,
        "width": WIDTH,
        "instruction": _INSTRUCTIONS[number % len(_INSTRUCTIONS)],
        "unit": unit,
        "regions": regions,
    }


def _count(number: int) -> int:
    return (0, 1, 2 + number % 2)[number % 3]


def _region(folder: Path, number: int, ordinal: int, unit: str, rng: np.random.Generator) -> dict[str, Any]:
    """One region: mostly polygons, some run-lengths, some PNG files."""
    outline = _outline(rng)
    kind = (number + ordinal) % 6
    if kind > 1:
        scale = (WIDTH, HEIGHT) if unit == "norm1" else (1, 1)
        return {"polygons": [(outline / scale).round(4).tolist()]}
    mask = _filled([outline.ravel()])
    if kind == 0:
        return {"size": [HEIGHT, WIDTH], "counts": _rle(mask)["counts"]}
    name = f"masks/{number:04d}_{ordinal}.png"
    cv2.imwrite(str(folder / name), mask * 255)
    return {"png": name}


def _outline(rng: np.random.Generator) -> NDArray[np.float64]:
    """A bulge around a point of the road, [n, 2] in pixels."""
    angles = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(7, 14))))
    radii = rng.uniform(0.7, 1, len(angles))[:, None] * rng.uniform((10, 6), (40, 18))
    middle = rng.uniform((20, 50), (WIDTH - 20, 80))
    return np.asarray(middle + radii * np.stack([np.cos(angles), np.sin(angles)], axis=1)).round(2)


def _scenery(rng: np.random.Generator) -> NDArray[np.uint8]:
    rows = np.linspace(200, 80, HEIGHT)[:, None, None]
    return np.clip(rows + rng.normal(0, 8, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)


def _filled(polygons: Sequence[NDArray[np.float64]]) -> NDArray[np.uint8]:
    rles = coco.frPyObjects(list(polygons), HEIGHT, WIDTH)
    return np.asarray(coco.decode(coco.merge(rles)), np.uint8)


def _rle(mask: NDArray[np.uint8]) -> dict[str, Any]:
    rle = coco.encode(np.asfortranarray(mask))
    return {"size": rle["size"], "counts": rle["counts"].decode()}


def predict(raw: Path, folder: Path, model: str, seed: int) -> None:
    """Write one demo model's predictions for `test` into `folder`, in the format that MODELS declares."""
    folder.mkdir(parents=True, exist_ok=True)
    _MODELS[model](_truth(raw), folder, np.random.default_rng((seed, list(MODELS).index(model))))


def _truth(raw: Path) -> dict[str, NDArray[np.uint8]]:
    manifest = truth.manifest(raw, SPLIT, {}, Counter())
    rows = [row for batch in truth.truth(raw, manifest, {}, Counter()) for row in batch.to_pylist()]
    return {r["sample_id"]: coco.decode({"size": [HEIGHT, WIDTH], "counts": r["mask"]}) for r in rows}


def _almost(masks: Mapping[str, NDArray[np.uint8]], folder: Path, rng: np.random.Generator) -> None:
    """The contours, moved a little. Each fifth record leaves `exists` out; one no-target answer is an empty claim."""
    lines = []
    for number, (name, mask) in enumerate(masks.items()):
        contours = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
        polygons = [(c[:, 0] + rng.integers(-2, 3, 2)).tolist() for c in contours]
        exists = {} if number % 5 == 0 else {"exists": bool(polygons)}
        if name == "0006":
            polygons, exists = [[[5, 5], [9, 9]]], {"exists": True}
        lines.append(json.dumps({"sample_id": name, **exists, "polygons": polygons}) + "\n")
    (folder / "predictions.jsonl").write_text("".join(lines))


def _noisy(masks: Mapping[str, NDArray[np.uint8]], folder: Path, rng: np.random.Generator) -> None:
    """Moved and swollen masks, several rows a sample; every tenth sample is missed, every eighth imagined."""
    rows: list[dict[str, Any]] = []
    for number, (name, mask) in enumerate(masks.items()):
        shift = tuple(rng.integers((-8, -16), (9, 17)).tolist())
        swollen = np.asarray(cv2.dilate(mask, np.ones((5, 9), np.uint8)), np.uint8)
        found = np.roll(swollen, shift, axis=(0, 1))
        drawn = [_filled([_outline(rng).ravel()])] if number % 8 == 0 else []
        instances = drawn + ([found] if found.any() and number % 10 else [])
        rows += [{"sample_id": name, "segmentation": _rle(m), "score": 0.9} for m in instances]
        rows += [] if instances else [{"sample_id": name, "segmentation": None}]
    (folder / "predictions.json").write_text(json.dumps(rows))


def _nothing(masks: Mapping[str, NDArray[np.uint8]], folder: Path, rng: np.random.Generator) -> None:  # noqa: ARG001
    for name, mask in masks.items():
        cv2.imwrite(str(folder / f"{name}.png"), np.zeros_like(mask))


_MODELS: Mapping[str, Any] = {"almost": _almost, "noisy": _noisy, "nothing": _nothing}
