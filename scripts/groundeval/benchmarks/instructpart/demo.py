"""A small made dataset in InstructPart's layout (without the photos, which scoring does not read), and three models for it.

It has the real one's traps: several samples of one photo, names with spaces and slashes, stems that begin with another
object's name, parts in several pieces, parts of a few pixels, images that are not square.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from groundeval.benchmarks.instructpart import FILES, truth
from groundeval.metrics import masks
from groundeval.sources import binary, images

MODELS: dict[str, dict[str, Any]] = {
    "almost": {"format": "mask_png", "options": {}},
    "noisy": {"format": "coco_rle", "options": {}},
    "nothing": {"format": "coco_rle", "options": {}},
}
PHOTOS = 45

# Object, part, affordance, action; the photo's stem begins with the name of the next object.
_PARTS = (
    ("cup", "handle", "grasp", "lift"),
    ("wine glass", "stem", "hold", "drink from"),
    ("light switch", "switch toggle", "flip up/down", "turn on"),
    ("scissors", "blades", "cut", "use"),
    ("sofa", "couch cushion", "support", "sit on"),
    ("computer mouse", "scroll wheel", "scroll", "use"),
)
_EVERY_SHARED = 4  # each fourth photo has a second part

Mask = NDArray[np.bool_]


def write(folder: Path, seed: int) -> None:
    """Write the test split: data_test.json and masks of 0 and 1, as the official ones are."""
    rng, part = np.random.default_rng(seed), folder / FILES["test"][0]
    (part / "masks").mkdir(parents=True, exist_ok=True)
    entries = []
    for photo in range(PHOTOS):
        stem = f"{_PARTS[(photo + 1) % len(_PARTS)][0].replace(' ', '_')}_{photo:06d}"
        shape = (int(rng.integers(48, 97)), int(rng.integers(48, 129)))
        for step in (0, 1) if photo % _EVERY_SHARED == 0 else (0,):
            names = _PARTS[(photo + 2 * step) % len(_PARTS)]
            entries.append({"image_path": f"{stem}.jpg", "part_list": [_part(*names)]})
            name = f"{stem}-{names[0]}-{names[1]}.png".replace(" ", "_")
            _save(part / "masks" / name, _shape(shape, rng).astype(np.uint8))
    (part / FILES["test"][1]).write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def predict(raw: Path, folder: Path, model: str, seed: int) -> None:
    """Write one model's predictions for the test split."""
    folder.mkdir(parents=True, exist_ok=True)
    known, rng = list(_truth(raw)), np.random.default_rng((seed, sorted(MODELS).index(model)))
    if model == "almost":
        for number, (sample_id, mask) in enumerate(known):
            answer = _first_half(mask) if number == 0 else np.roll(mask, rng.integers(-1, 2), axis=1)
            _save(folder / f"{sample_id}.png", np.where(answer, np.uint8(255), np.uint8(0)))
        return
    rows = _instances(known, rng) if model == "noisy" else _nothing(known)
    (folder / "predictions.json").write_text(json.dumps(list(rows), indent=1) + "\n", encoding="utf-8")


def _part(name: str, part: str, affordance: str, action: str) -> dict[str, Any]:
    plain = f"{part} of the {name}"
    instructions = [
        f"If I want to {action} the {name}, where do I put my hand?",
        f"Which part of the {name} is it that I use to {action} it?",
        f"Where is the {plain}?",
        f"Where is the {plain} that I can {affordance}?",
        plain,
        f"{plain} that I can {affordance}",
    ]
    return {"object": name, "part": part, "affordance": affordance, "action": action, "instruction": instructions}


def _shape(size: tuple[int, int], rng: np.random.Generator) -> Mask:
    """One to three ellipses, in one of ten masks no more than a few pixels."""
    height, width = size
    rows, columns = np.mgrid[:height, :width]
    mask = np.zeros(size, np.bool_)
    for _ in range(rng.integers(1, 4)):
        y, x = rng.uniform(0.2, 0.8, 2) * size
        a, b = rng.uniform(1, 2, 2) if rng.random() < 0.1 else rng.uniform(0.05, 0.25, 2) * size
        mask |= ((rows - y) / a) ** 2 + ((columns - x) / b) ** 2 <= 1
    mask[height // 2, width // 2 : width // 2 + 2] = True  # never empty, as in the official splits
    return mask


def _truth(raw: Path) -> Iterator[tuple[str, Mask]]:
    for sample_id in truth.manifest(raw, "test", {}, Counter()).column("sample_id").to_pylist():
        path = raw / FILES["test"][0] / "masks" / f"{sample_id}{truth.SUFFIX}"
        yield sample_id, binary.binarise(images.decode(path.read_bytes(), str(path)), str(path))


def _first_half(mask: Mask) -> Mask:
    """Every second foreground pixel: an IoU of exactly 1/2 where their number is even, which is not above 0.5."""
    half = np.zeros_like(mask)
    half.flat[np.flatnonzero(mask)[::2]] = True
    return half


def _instances(known: list[tuple[str, Mask]], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Compressed run-lengths, two instances a sample, scored; one sample in ten is explicitly nothing."""
    for sample_id, mask in known:
        if rng.random() < 0.1:
            yield {"sample_id": sample_id, "segmentation": None}
            continue
        moved = np.roll(mask, rng.integers(-6, 7, 2), axis=(0, 1))
        left = np.arange(mask.shape[1]) < mask.shape[1] // 2
        for instance in (moved & left, moved & ~left):
            counts = masks.encode(instance).decode("ascii")
            segmentation = {"size": list(mask.shape), "counts": counts}
            yield {"sample_id": sample_id, "segmentation": segmentation, "score": round(float(rng.random()), 3)}


def _nothing(known: list[tuple[str, Mask]]) -> Iterator[dict[str, Any]]:
    """Nothing, said in each of the ways there are: null, an empty list, an uncompressed run-length without foreground."""
    for number, (sample_id, mask) in enumerate(known):
        ways: tuple[Any, ...] = (None, [], {"size": list(mask.shape), "counts": [mask.size]})
        yield {"sample_id": sample_id, "segmentation": ways[number % len(ways)]}


def _save(path: Path, samples: NDArray[np.uint8]) -> None:
    Image.fromarray(samples).save(path)
