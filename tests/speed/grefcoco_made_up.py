"""60,000 made-up expressions in the official layout, and a model's answers as COCO results.

In the proportions of the real files: three annotations to four expressions, a third of which no expression means, and
with outlines of 27 points some 550 bytes an annotation, as in COCO train2014.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

EXPRESSIONS = 60_000
_SHAPES = ((0, 30), (1, 30), (2, 25), (3, 10), (4, 5))  # number of true boxes, weight


def write(folder: Path, points: int) -> None:
    """`grefs(unc).json`, `instances.json` with outlines of so many points, and `predictions.json`."""
    rng = Random(1)
    images: list[Any] = []
    annotations: list[Any] = []
    refs: list[Any] = []
    rows: list[Any] = []
    sizes, weights = zip(*_SHAPES, strict=True)
    total = 0
    while total < EXPRESSIONS:
        ref_id = len(refs)
        images.append({"id": ref_id, "file_name": f"COCO_train2014_{ref_id:012d}.jpg", "height": 480, "width": 640})
        own = [
            _annotation(rng, ref_id, len(annotations) + i + 1, points) for i in range(rng.choices(sizes, weights)[0])
        ]
        count = min(rng.randrange(1, 5), EXPRESSIONS - total)
        sentences = [_sentence(rng, total + k) for k in range(count)]
        total += count
        annotations += own
        annotations += [_annotation(rng, ref_id, len(annotations) + 1, points)] * (rng.random() < 0.6)
        refs.append(_ref(ref_id, own, sentences))
        for sentence in sentences:
            rows += _answer(rng, f"{ref_id}:{sentence['sent_id']}", [a["bbox"] for a in own])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "instances.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    (folder / "grefs(unc).json").write_text(json.dumps(refs))
    (folder / "predictions.json").write_text(json.dumps(rows))


def _annotation(rng: Random, image: int, number: int, points: int) -> dict[str, Any]:
    x, y, w, h = rng.uniform(0, 440), rng.uniform(0, 330), rng.uniform(40, 200), rng.uniform(40, 150)
    outline = [round(rng.uniform(0, 480), 2) for _ in range(2 * points)]
    box = [round(v, 2) for v in (x, y, w, h)]
    return {
        "segmentation": [outline],
        "area": round(w * h, 4),
        "iscrowd": 0,
        "image_id": image,
        "bbox": box,
        "category_id": 1,
        "id": number,
    }


def _sentence(rng: Random, number: int) -> dict[str, Any]:
    words = [rng.choice(("the", "man", "left", "zebra", "two", "people", "behind", "red", "car")) for _ in range(6)]
    return {"tokens": words, "raw": " ".join(words), "sent_id": number, "sent": " ".join(words)}


def _ref(ref_id: int, own: list[dict[str, Any]], sentences: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "image_id": ref_id,
        "split": "val",
        "sentences": sentences,
        "file_name": f"COCO_train2014_{ref_id:012d}.jpg",
        "category_id": [1 for _ in own] or [-1],
        "ann_id": [a["id"] for a in own] or [-1],
        "sent_ids": [s["sent_id"] for s in sentences],
        "ref_id": ref_id,
        "no_target": not own,
    }


def _answer(rng: Random, name: str, true: list[list[float]]) -> list[dict[str, Any]]:
    """Boxes moved a little, now and then one lost; and one of a low score, as detectors write."""
    rows = []
    for x, y, w, h in true:
        if rng.random() > 0.1:
            box = [round(v + rng.gauss(0, 12), 2) for v in (x, y)] + [
                round(v * rng.uniform(0.8, 1.2), 2) for v in (w, h)
            ]
            rows.append({"image_id": name, "bbox": box, "score": round(rng.uniform(0.7, 1), 4)})
    low = {"image_id": name, "bbox": [5.0, 5.0, 50.0, 50.0], "score": round(rng.uniform(0, 0.72), 4)}
    return [*rows, low]
