"""Boxes, in pixels of the photo (xyxy), and each producer's way to write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from formats.golden import PHOTOS, SAMPLES, SIZES, TEXTS, Golden

BOXES: dict[str, list[list[float]]] = {
    "photo-1-a": [[12, 8, 36, 24]],
    "photo-2-b": [[0, 10, 12, 20], [6, 20, 24, 40]],
    "photo-3-c": [],
}
INPUT = (644, 476)  # width and height of a resized input
Box = list[float]


def fractions(sample: str, box: Box) -> Box:
    """xyxy as fractions of the photo."""
    height, width = SIZES[sample]
    return [box[0] / width, box[1] / height, box[2] / width, box[3] / height]


def bins(sample: str, box: Box, of: int) -> list[int]:
    """xyxy in whole numbers from 0 to `of`."""
    return [round(v * of) for v in fractions(sample, box)]


def _dump(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _coco(folder: Path) -> None:
    rows = [
        {"image_id": s, "category_id": 1, "bbox": [x, y, right - x, bottom - y], "score": 0.9}
        for s in SAMPLES
        for x, y, right, bottom in BOXES[s]
    ]
    _dump(folder / "results.json", rows)


def _dino(folder: Path) -> None:
    def centred(sample: str, box: Box) -> Box:
        x1, y1, x2, y2 = fractions(sample, box)
        return [(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1]

    _dump(folder / "boxes.json", {
        s: {"boxes": [centred(s, b) for b in BOXES[s]], "scores": [0.9] * len(BOXES[s])} for s in SAMPLES
    })  # fmt: skip


def _annotations(folder: Path) -> None:
    images = [
        {"id": n, "original_id": PHOTOS[s], "file_name": PHOTOS[s], "caption": TEXTS[s]} for n, s in enumerate(SAMPLES)
    ]
    _dump(folder / "finetune_grefcoco_val.json", {"images": images, "annotations": [], "categories": []})


def _mdetr(folder: Path) -> None:
    _annotations(folder)
    _dump(folder / "predictions.json", {
        str(n): {"scores": [0.9] * len(BOXES[s]), "labels": [1] * len(BOXES[s]), "boxes": BOXES[s]}
        for n, s in enumerate(SAMPLES)
    })  # fmt: skip


def _mmdet(folder: Path) -> None:
    _annotations(folder)
    records = [{"img_id": n, "bboxes": BOXES[s], "scores": [0.9] * len(BOXES[s])} for n, s in enumerate(SAMPLES)]
    _dump(folder / "predictions.json", records)


def _texts(write: Callable[[str], str], **more: Any) -> Callable[[Path], None]:
    def written(folder: Path) -> None:
        lines = [json.dumps({"sample_id": s, "response": write(s), **more}, ensure_ascii=False) for s in SAMPLES]
        (folder / "answers.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    return written


def _qwen2(sample: str) -> str:
    boxes = [bins(sample, b, 1000) for b in BOXES[sample]]
    spans = [f"<|box_start|>({a},{b}),({c},{d})<|box_end|>" for a, b, c, d in boxes]
    said = "".join(f"<|object_ref_start|>{TEXTS[sample]}<|object_ref_end|>{span}" for span in spans)
    return (said or "There is no such object.") + "<|im_end|>"


def _fenced(boxes: list[Any], sample: str) -> str:
    found = [{"bbox_2d": box, "label": TEXTS[sample]} for box in boxes]
    return f"```json\n{json.dumps(found, indent=1)}\n```"


def _qwen25(sample: str) -> str:
    of = [INPUT[0], INPUT[1]] * 2
    return _fenced([[v * k for v, k in zip(fractions(sample, b), of, strict=True)] for b in BOXES[sample]], sample)


def _vlm_r1(sample: str) -> str:
    return f"<think>The image shows [1, 2, 3, 4].</think><answer>{_qwen25(sample)}</answer>"


def _qwen3(sample: str) -> str:
    return _fenced([bins(sample, b, 1000) for b in BOXES[sample]], sample)


def _internvl(sample: str) -> str:
    return f"<ref>{TEXTS[sample]}</ref><box>{[bins(sample, b, 1000) for b in BOXES[sample]]}</box>"


def _ferret(sample: str) -> str:
    return ", ".join(f"a cup {bins(sample, b, 1000)}" for b in BOXES[sample]) or "None."


def _rex(sample: str) -> str:
    spans = ["".join(f"<{n}>" for n in bins(sample, b, 999)) for b in BOXES[sample]]
    inside = ",".join(spans) or "None"
    return f"<|object_ref_start|>{TEXTS[sample]}<|object_ref_end|><|box_start|>{inside}<|box_end|>"


def _deepseek(sample: str) -> str:
    found = [bins(sample, b, 999) for b in BOXES[sample]]
    return f"<|ref|>{TEXTS[sample]}<|/ref|><|det|>{found}<|/det|><｜end▁of▁sentence｜>"


def _rounded(of: int | None) -> dict[str, Any]:
    """The boxes after the rounding of a family's whole numbers."""

    def back(sample: str, box: Box) -> Box:
        height, width = SIZES[sample]
        if of is None:
            return box
        return [n / of * k for n, k in zip(bins(sample, box, of), [width, height] * 2, strict=True)]

    return {s: [back(s, b) for b in BOXES[s]] or None for s in SAMPLES}


def _golden(producer: str, format_: str, files: str, write: Any, said: dict[str, str], of: int | None = None) -> Golden:
    return Golden(producer, format_, files, write, _rounded(of), said)


def _vlm(producer: str, family: str, write: Any, of: int | None, **more: Any) -> Golden:
    none = {"none_text": more.pop("none_text")} if "none_text" in more else {}
    files = "one `.jsonl` of `{sample_id, response" + (", width, height}`" if more else "}`")
    return _golden(producer, "vlm_text", files, _texts(write, **more), {"family": family, **none}, of)


_XYXY = {"boxes": "xyxy", "unit": "px", "score_threshold": "0.7"}
_RUN_ON = {"annotations": "finetune_grefcoco_val.json", **_XYXY}
_SIZE = {"width": INPUT[0], "height": INPUT[1]}
GOLDEN = [
    _golden(
        "COCO results", "boxes_json", "one `.json` list", _coco,
        {"boxes": "xywh", "unit": "px", "score_threshold": "0.7", "absent": "none"},
    ),
    _golden(
        "Grounding DINO", "boxes_json", "one `.json` by sample id", _dino,
        {"boxes": "cxcywh", "unit": "norm1", "score_threshold": "0.3"},
    ),
    _golden("MDETR", "mdetr_json", "a folder with `{number: {boxes, scores}}` and the annotations", _mdetr, _RUN_ON),
    _golden("mmdet, SimVG", "mdetr_json", "a folder with `[{img_id, bboxes, scores}]` and the annotations", _mmdet, _RUN_ON),
    _vlm("Qwen2-VL", "qwen2_vl", _qwen2, 1000, none_text="there is no such object"),
    _vlm("Qwen2.5-VL", "qwen2_5_vl", _qwen25, None, **_SIZE),
    _vlm("VLM-R1", "qwen2_5_vl", _vlm_r1, None, **_SIZE),
    _vlm("Qwen3-VL", "qwen3_vl", _qwen3, 1000),
    _vlm("InternVL", "internvl", _internvl, 1000),
    _vlm("Ferret", "ferret", _ferret, 1000, none_text="none"),
    _vlm("Rex-Omni", "rex_omni", _rex, 999),
    _vlm("DeepSeek-VL2", "deepseek_vl2", _deepseek, 999),
]  # fmt: skip
