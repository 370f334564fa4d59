"""Datasets in which the golden samples of `tests/formats/golden` are the samples of a split, and their files beside."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from formats.golden import PHOTOS, SAMPLES, SIZES, TEXTS, Golden, boxes, maps, masks
from groundeval import benchmarks, formats

# What stands for the golden samples and photos where ids have a form of their own.
EXPRESSIONS = {
    "photo-1-a": "1:10",
    "photo-2-b": "2:20",
    "photo-3-c": "3:30",
    **{f"photo-{n}.jpg": f"{n}" for n in (1, 2, 3)},
}
FRAMES = {"photo-1-a": "um_road_000001", "photo-2-b": "umm_road_000002", "photo-3-c": "uu_road_000003"}


@dataclass(frozen=True)
class Laid:
    """A benchmark, its folder and split, and a producer's files for it."""

    benchmark: str
    raw: Path
    split: str
    files: Path


def lay(sample: Golden, folder: Path) -> Laid:
    """Write both."""
    raw, files = folder / "raw", folder / "files"
    files.mkdir()
    raw.mkdir()
    sample.write(files)
    shape = formats.record(sample.format).shape
    if shape == "mask":
        return Laid("grin_drive", _grin_drive(raw), "test", files)
    if shape == "boxes":
        _rename(files, EXPRESSIONS)
        return Laid("grefcoco", _grefcoco(raw), "val", files)
    if sample.format == "confidence_png":
        _rename(files, FRAMES)
        return Laid("kitti_road", _kitti_road(raw), "training", files)
    return Laid("gmrp", _gmrp(raw), "test", files)


def _rename(files: Path, names: dict[str, str]) -> None:
    """In the names of files, and in what JSON files say."""
    for path in list(files.iterdir()):
        if path.suffix in (".json", ".jsonl"):
            text = path.read_text(encoding="utf-8")
            for old, new in names.items():
                text = text.replace(f'"original_id": "{old}"', f'"original_id": {new}').replace(f'"{old}"', f'"{new}"')
            path.write_text(text, encoding="utf-8")
        if path.stem in names:
            path.rename(path.with_stem(names[path.stem]))


def _grin_drive(raw: Path) -> Path:
    lines: list[dict[str, Any]] = []
    for s in SAMPLES:
        regions = [masks.rle(masks.whole(s))] if masks.TARGETS[s] else []
        head = {"sample_id": s, "image": PHOTOS[s], "height": SIZES[s][0], "width": SIZES[s][1]}
        lines.append({**head, "instruction": TEXTS[s], "regions": regions})
    (raw / "test.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return raw


def _grefcoco(raw: Path) -> Path:
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    refs: list[dict[str, Any]] = []
    for number, sample in enumerate(SAMPLES, 1):
        images.append(
            {"id": number, "file_name": f"{number}.jpg", "height": SIZES[sample][0], "width": SIZES[sample][1]}
        )
        own: list[dict[str, Any]] = []
        for x, y, right, bottom in boxes.BOXES[sample]:
            box = [x, y, right - x, bottom - y]
            own.append({"id": len(annotations) + len(own) + 1, "image_id": number, "category_id": 1, "bbox": box})
        annotations += own
        ids = [a["id"] for a in own] or [-1]
        refs.append({
            "ref_id": number, "image_id": number, "split": "val", "ann_id": ids, "file_name": f"{number}.jpg",
            "category_id": [1] * len(own) or [-1], "no_target": not own,
            "sentences": [{"sent_id": 10 * number, "sent": TEXTS[sample]}],
        })  # fmt: skip
    content = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "x"}]}
    (raw / "instances.json").write_text(json.dumps(content), encoding="utf-8")
    (raw / "grefs(unc).json").write_text(json.dumps(refs), encoding="utf-8")
    return raw


def _gmrp(raw: Path) -> Path:
    (raw / "label").mkdir()
    (raw / "splits").mkdir()
    for sample in SAMPLES:
        Image.fromarray(maps.classes(sample)).save(raw / "label" / f"{sample}.png")
    (raw / "splits" / "test.txt").write_text("\n".join(SAMPLES), encoding="utf-8")
    return raw


def _kitti_road(raw: Path) -> Path:
    """The truth's images are of the golden sizes; the calibration is one of the demo's."""
    demo = raw.parent / "demo"
    benchmarks.part("kitti_road", "demo").write(demo, 1)
    calibration = next((demo / "training" / "calib").iterdir())
    part = raw / "training"
    for name in ("image_2", "calib", "gt_image_2"):
        (part / name).mkdir(parents=True)
    for sample, name in FRAMES.items():
        frame = name.replace("_road", "")
        shutil.copy(calibration, part / "calib" / f"{frame}.txt")
        truth = np.zeros((*SIZES[sample], 3), np.uint8)
        truth[..., 0] = 255
        truth[len(truth) // 2 :, :, 2] = 255
        Image.fromarray(truth).save(part / "gt_image_2" / f"{name}.png")
        Image.fromarray(truth).save(part / "image_2" / f"{frame}.png")
    return raw
