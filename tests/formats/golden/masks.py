"""Masks. The targets are rectangles whose borders lie on multiples of 8: polygons and JPEG blocks alike keep them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pycocotools.mask as coco
from numpy.typing import NDArray
from PIL import Image

from formats.golden import PHOTOS, SAMPLES, SIZES, TEXTS, Golden
from groundeval.metrics import masks as counts

TARGETS = {"photo-1-a": [(8, 8, 24, 24), (24, 32, 32, 48)], "photo-2-b": [(16, 8, 40, 16)], "photo-3-c": []}


def part(sample: str, box: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    """One rectangle (top, left, bottom, right)."""
    mask = np.zeros(SIZES[sample], np.bool_)
    top, left, bottom, right = box
    mask[top:bottom, left:right] = True
    return mask


def parts(sample: str) -> list[NDArray[np.bool_]]:
    """The instances of a sample's target."""
    return [part(sample, box) for box in TARGETS[sample]]


def whole(sample: str) -> NDArray[np.bool_]:
    """Their union."""
    return np.any([*parts(sample), np.zeros(SIZES[sample], np.bool_)], axis=0)


def rle(mask: NDArray[np.bool_]) -> dict[str, Any]:
    """As pycocotools users write it."""
    found = coco.encode(np.asfortranarray(mask, np.uint8))
    return {"size": found["size"], "counts": found["counts"].decode()}


def stem(sample: str) -> str:
    """The photo's name without its suffix."""
    return PHOTOS[sample].split(".")[0]


def _png(folder: Path) -> None:
    for sample in SAMPLES:
        Image.fromarray(whole(sample).astype(np.uint8) * 255).save(folder / f"{sample}.png")


def _jpeg(folder: Path) -> None:
    for sample in SAMPLES:
        cv2.imwrite(str(folder / f"{sample}.jpg"), whole(sample).astype(np.uint8) * 255)


def _lisa(folder: Path) -> None:
    """As chat.py: nothing is written where there is no mask."""
    for sample in SAMPLES:
        for i, mask in enumerate(parts(sample)):
            cv2.imwrite(str(folder / f"{stem(sample)}_mask_{i}.jpg"), mask.astype(np.uint8) * 100)
            overlay = np.random.default_rng(i).integers(0, 255, (*mask.shape, 3), np.uint8)
            cv2.imwrite(str(folder / f"{stem(sample)}_masked_img_{i}.jpg"), overlay)


def _arrays(folder: Path) -> None:
    for sample in SAMPLES:
        np.save(folder / f"{sample}.npy", np.stack(parts(sample) or [whole(sample)]))


def _folders(folder: Path) -> None:
    for sample in SAMPLES:
        (folder / stem(sample)).mkdir()
        np.save(folder / stem(sample) / "predicted_mask.npy", whole(sample))


def _probabilities(folder: Path) -> None:
    for sample in SAMPLES:
        np.save(folder / f"{sample}.npy", np.where(whole(sample), 0.8, 0.3).astype(np.float32))


def _logits(folder: Path) -> None:
    for sample in SAMPLES:
        np.save(folder / f"{sample}.npy", np.where(whole(sample), 4.5, -7.25).astype(np.float16))


def _rows(folder: Path) -> None:
    rows = [{"image_id": s, "category_id": 1, "segmentation": rle(m), "score": 0.9} for s in SAMPLES for m in parts(s)]
    _dump(folder / "results.json", [*rows, {"image_id": "photo-3-c", "segmentation": None}])


def _bare(folder: Path) -> None:
    rows = [{"sample_id": s, "segmentation": rle(whole(s))["counts"]} for s in SAMPLES]
    _dump(folder / "results.json", rows)


def _glamm(folder: Path) -> None:
    for sample in SAMPLES:
        content = {"image_id": stem(sample), "caption": "A scene.", "phrases": ["a scene"]}
        _dump(folder / f"{stem(sample)}.json", {**content, "pred_masks": [rle(m) for m in parts(sample)]})


def _sam3(folder: Path) -> None:
    for sample in SAMPLES:
        height, width = SIZES[sample]
        found = parts(sample)
        content = {
            "orig_img_h": height,
            "orig_img_w": width,
            "pred_boxes": [[0.1, 0.1, 0.2, 0.2] for _ in found],
            "pred_scores": [0.9 for _ in found],
            "pred_masks": [rle(m)["counts"] for m in found],
            "text_prompt": TEXTS[sample],
            "image_path": f"images/{PHOTOS[sample]}",
        }
        name = f"{stem(sample)}_{TEXTS[sample].replace(' ', '_').replace(',', '')}_agent_llm"
        _dump(folder / f"{name}_pred.json", content)
        _dump(folder / f"{name}_history.json", [{"role": "user"}])


def _grounded_sam2(folder: Path) -> None:
    for sample in SAMPLES:
        height, width = SIZES[sample]
        found = [
            {"class_name": "x", "bbox": [0.0, 0.0, 8.0, 8.0], "segmentation": rle(m), "score": [0.97]}
            for m in parts(sample)
        ]
        head = {"image_path": f"images/{PHOTOS[sample]}", "box_format": "xyxy"}
        _dump(folder / f"{sample}.json", {**head, "annotations": found, "img_width": width, "img_height": height})


def _labelme(folder: Path) -> None:
    for sample in SAMPLES:
        height, width = SIZES[sample]
        shapes = [
            {
                "label": "x",
                "shape_type": "polygon",
                "points": [[x1, y1], [x2, y1], [x2, y2], [x1, y2]],
                "group_id": None,
            }
            for y1, x1, y2, x2 in TARGETS[sample]
        ]
        head = {"version": "5.5.0", "flags": {}, "imagePath": PHOTOS[sample], "imageData": None}
        _dump(folder / f"{sample}.json", {**head, "shapes": shapes, "imageHeight": height, "imageWidth": width})


def _polygons(folder: Path) -> None:
    lines = io.StringIO()
    for sample in SAMPLES:
        found = [[[x1, y1], [x2, y1], [x2, y2], [x1, y2]] for y1, x1, y2, x2 in TARGETS[sample]]
        lines.write(json.dumps({"sample_id": sample, "exists": bool(found), "polygons": found}) + "\n")
    (folder / "answers.jsonl").write_text(lines.getvalue(), encoding="utf-8")


def _dump(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


EXPECTED = {s: counts.encode(whole(s)) if TARGETS[s] else None for s in SAMPLES}


def _golden(producer: str, format_: str, files: str, write: Any, **more: Any) -> Golden:
    return Golden(producer, format_, files, write, EXPECTED, **more)


_IMAGE = {"names": "image"}
GOLDEN = [
    _golden("any, masks named as the samples", "mask_png", "`{sample_id}.png`", _png, sealed=True),
    _golden("any, masks as JPEG", "mask_jpeg", "`{sample_id}.jpg`", _jpeg, said={"threshold": "127"}),
    _golden("any, masks as arrays", "mask_npy", "`{sample_id}.npy`, [H, W] or [N, H, W]", _arrays),
    _golden("any, probabilities", "mask_npy", "`{sample_id}.npy`", _probabilities, said={"values": "probability"}),
    _golden("any, logits", "mask_npy", "`{sample_id}.npy`", _logits, said={"values": "logit"}),
    _golden("predicted_mask.npy scripts", "mask_npy", "`{image}/predicted_mask.npy`", _folders, said=_IMAGE),
    _golden(
        "LISA, PixelLM", "lisa_demo", "`{image}_mask_{i}.jpg`, 0 and 100", _lisa, said={**_IMAGE, "absent": "none"}
    ),
    _golden("GLaMM", "glamm_json", "`{image}.json`", _glamm, said=_IMAGE),
    _golden("SAM 3 agent", "sam3_agent", "`*_pred.json`", _sam3, said={"names": "image_text"}),
    _golden("Grounded-SAM-2", "grounded_sam2", "`{sample_id}.json`", _grounded_sam2),
    _golden("VLPart, Detectron2, COCO results", "coco_rle", "one `.json` list", _rows),
    _golden("counts strings without a size", "coco_rle", "one `.json` list", _bare, said={"size": "manifest"}),
    _golden("LabelMe", "labelme", "`{sample_id}.json`", _labelme),
    _golden("any, polygons", "polygons_jsonl", "one `.jsonl`", _polygons, said={"unit": "px"}),
]
