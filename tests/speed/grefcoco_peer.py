"""What people run: `python grefcoco_peer.py GREFS INSTANCES PREDICTIONS` parses the three files with the standard library
and scores the expressions one by one with the recipe that circulates. It checks nothing. Prints the number correct."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

Box = list[float]


def overlap(a: Box, b: Box) -> float:
    """IoU of two boxes xyxy."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def correct(predicted: list[Box], true: list[Box], threshold: float = 0.5) -> bool:
    """Each prediction in file order takes its best free truth; correct if F1 is 1, or if there is nothing on either side."""
    if not true:
        return not predicted
    taken: set[int] = set()
    for box in predicted:
        best, best_at = 0.0, -1
        for at, other in enumerate(true):
            if at not in taken and (found := overlap(box, other)) > best:
                best, best_at = found, at
        if best >= threshold:
            taken.add(best_at)
    tp, fp, fn = len(taken), len(predicted) - len(taken), len(true) - len(taken)
    return 2 * tp / (2 * tp + fp + fn) >= 1.0


def main(grefs: str, instances: str, predictions: str) -> int:
    """Parse and score."""
    refs, coco, rows = (json.loads(Path(p).read_text()) for p in (grefs, instances, predictions))
    boxes = {a["id"]: _corners(a["bbox"]) for a in coco["annotations"]}
    found: dict[str, list[Box]] = defaultdict(list)
    for row in rows:
        if row["score"] >= 0.7:
            found[row["image_id"]].append(_corners(row["bbox"]))
    return sum(_right(ref, s, found, boxes) for ref in refs for s in ref["sentences"])


def _corners(box: Box) -> Box:
    x, y, w, h = box
    return [x, y, x + w, y + h]


def _right(ref: dict[str, Any], sentence: dict[str, Any], found: dict[str, list[Box]], boxes: dict[int, Box]) -> bool:
    true = [] if ref["ann_id"] == [-1] else [boxes[i] for i in ref["ann_id"]]
    return correct(found.get(f"{ref['ref_id']}:{sentence['sent_id']}", []), true)


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
