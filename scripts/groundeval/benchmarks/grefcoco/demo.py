"""A small made-up gRefCOCO in the official layout, with its traps, and the predictions of three models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from groundeval.benchmarks.grefcoco import RECORD, official, truth

SPLIT = "val"  # that `predict` answers unless told otherwise
_REFS_PER_SPLIT = 40
_NOUNS = ("man", "woman", "dog", "zebra", "chair", "umbrella", "café sign")
_PLACES = ("on the left", "in the back", "closest to us", "next to the other one", "wearing red")

Box = tuple[float, float, float, float]  # xyxy
MODELS: Mapping[str, dict[str, Any]] = {
    "almost": {"format": "boxes_json", "options": {"boxes": "xywh", "unit": "px", "score_threshold": 0.7}},
    "noisy": {"format": "boxes_json", "options": {"boxes": "xyxy", "unit": "norm1000"}},
    "nothing": {"format": "boxes_json", "options": {"boxes": "xyxy", "unit": "px"}},
}


def write(folder: Path, seed: int) -> None:
    """Write `grefs(unc).json` and `instances.json`, and a pickle that must never be opened."""
    rng = Random(seed)  # noqa: S311
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    refs: list[dict[str, Any]] = []
    for split in RECORD.splits:
        for number in range(_REFS_PER_SPLIT):
            image = _image(rng, 7 * len(images) + 9)
            own = _annotations(rng, image, len(annotations) + 1)
            refs.append(_ref(rng, split, number, len(refs), image, own))
            images.append(image)
            annotations += own
    folder.mkdir(parents=True, exist_ok=True)
    content = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "person"}]}
    (folder / official.INSTANCES).write_text(json.dumps(content), encoding="utf-8")
    (folder / official.REFS).write_text(json.dumps(refs), encoding="utf-8")
    (folder / "grefs(unc).p").write_bytes(b"cos\nsystem\n(S'false'\ntR.")


def _image(rng: Random, image_id: int) -> dict[str, Any]:
    name = f"COCO_train2014_{image_id:012d}.jpg"
    return {"id": image_id, "file_name": name, "height": rng.randrange(300, 480), "width": rng.randrange(400, 641)}


def _annotations(rng: Random, image: Mapping[str, Any], first_id: int) -> list[dict[str, Any]]:
    """Up to four boxes of an image; half of the time a chain of boxes that overlap their neighbours by 0.54."""
    width, height = rng.uniform(60, 100), rng.uniform(60, 120)
    x, y = rng.uniform(0, 40), rng.uniform(0, 100)
    chain = rng.random() < 0.5
    made = []
    for i in range(rng.randrange(1, 5)):
        step = 0.3 * width * i if chain else 0.0
        left = x + step if chain else rng.uniform(0, image["width"] - width)
        made.append(_annotation(image, first_id + i, (left, y, left + width, y + height), crowd=rng.random() < 0.1))
    return made


def _annotation(image: Mapping[str, Any], number: int, box: Box, crowd: bool) -> dict[str, Any]:
    x, y, right, bottom = (round(v, 2) for v in box)
    outline: Any = [[x, y, right, y, right, bottom, x, bottom]]
    if crowd:
        size = [image["height"], image["width"]]
        outline = {"size": size, "counts": [image["height"] * image["width"]]}
    return {
        "id": number,
        "image_id": image["id"],
        "category_id": 1,
        "iscrowd": int(crowd),
        "area": round((right - x) * (bottom - y), 2),
        "bbox": [x, y, round(right - x, 2), round(bottom - y, 2)],
        "segmentation": outline,
    }


def _ref(
    rng: Random, split: str, number: int, ref_id: int, image: Mapping[str, Any], own: list[dict[str, Any]]
) -> dict[str, Any]:
    ids: Any = [a["id"] for a in own] if number % 3 else [official.NO_TARGET]
    categories: Any = [1] * len(ids) if number % 3 else [official.NO_TARGET]
    if len(ids) == 1 and number % 2:
        ids, categories = ids[0], categories[0]  # some refs have bare numbers in place of lists
    name = str(image["file_name"])
    said = range(0 if number == 10 else rng.randrange(1, 5))  # one ref has no sentence
    return {
        "ref_id": ref_id,
        "image_id": image["id"],
        "split": split,
        "file_name": name.replace(".jpg", f"_{number}.jpg") if number % 4 == 1 else name,  # as in RefCOCO
        "ann_id": ids,
        "category_id": categories,
        "no_target": number % 3 == 0,
        "sentences": [{"sent_id": 10 * ref_id + k, "sent": _sentence(rng)} for k in said],
    }


def _sentence(rng: Random) -> str:
    return f"the {rng.choice(_NOUNS)} {rng.choice(_PLACES)}"


def predict(raw: Path, folder: Path, model: str, seed: int, split: str = SPLIT) -> None:
    """Write `{split}.json`, the answers of one model."""
    rng = Random(f"{seed}/{model}/{split}")  # noqa: S311
    table = truth.manifest(raw, split, {}, Counter())
    rows = [row for batch in truth.truth(raw, table, {}, Counter()) for row in batch.to_pylist()]
    sizes = list(zip(table["width"].to_pylist(), table["height"].to_pylist(), strict=True))
    answers = _WRITERS[model](rng, {r["sample_id"]: r["boxes"] for r in rows}, sizes)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{split}.json").write_text(json.dumps(answers), encoding="utf-8")


def _almost(rng: Random, boxes: Mapping[str, list[Box]], sizes: list[Any]) -> list[dict[str, Any]]:  # noqa: ARG001
    """COCO results: nearly all boxes, nearly in place, and a decoy of a low score for every sample."""
    rows = []
    for name, true in boxes.items():
        found = [(_moved(rng, box, 0.05), rng.uniform(0.72, 1)) for box in true if rng.random() > 0.05]
        for (x, y, right, bottom), score in [*found, ((5.0, 5.0, 60.0, 70.0), rng.uniform(0, 0.65))]:
            bbox = [round(v, 1) for v in (x, y, right - x, bottom - y)]
            rows.append({"image_id": name, "category_id": 1, "bbox": bbox, "score": round(score, 4)})
    return rows


def _noisy(rng: Random, boxes: Mapping[str, list[Box]], sizes: list[Any]) -> dict[str, list[list[int]]]:
    """Whole numbers of thousandths of the image, as language models write them; often a box too many or too few."""
    answers = {}
    for (name, true), (width, height) in zip(boxes.items(), sizes, strict=True):
        found = [_moved(rng, box, 0.3) for box in true if rng.random() > 0.1]
        if rng.random() < 0.25:
            found.append((10, 10, width / 2, height / 2))
        answers[name] = [[round(1000 * v / s) for v, s in zip(b, (width, height) * 2, strict=True)] for b in found]
    return answers


def _nothing(rng: Random, boxes: Mapping[str, list[Box]], sizes: list[Any]) -> dict[str, list[Any]]:  # noqa: ARG001
    return {name: [] for name in boxes}


_WRITERS: Mapping[str, Callable[[Random, Mapping[str, list[Box]], list[Any]], Any]] = {
    "almost": _almost,
    "noisy": _noisy,
    "nothing": _nothing,
}


def _moved(rng: Random, box: Box, most: float) -> Box:
    """The box, shifted by up to a share of its size."""
    x, y, right, bottom = box
    dx, dy = rng.uniform(-most, most) * (right - x), rng.uniform(-most / 3, most / 3) * (bottom - y)
    return x + dx, y + dy, right + dx, bottom + dy
