"""gRefCOCO, 60,000 expressions: the four set accuracies alone, and the whole process from files to numbers.

Peers, both written here from their definitions: the loop of the official evaluator (one expression after the other, GIoU
in float32, the largest entry of the matrix first), and the pure Python recipe that circulates.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import options, tables
from groundeval.benchmarks.grefcoco import protocol, truth
from groundeval.formats import boxes_json
from groundeval.sources.folder import Source
from tests.speed import Result, compare, grefcoco_made_up, grefcoco_peer

SAID = {"boxes": "xywh", "unit": "px", "score_threshold": 0.7}
OPTIONS = options.resolve(boxes_json.FORMAT.options, SAID, "bench")
Floats = NDArray[np.float32]
Expression = tuple[NDArray[np.float64], Floats, list[dict[str, Any]]]


def run() -> list[Result]:
    """All comparisons."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        grefcoco_made_up.write(folder, points=27)
        results = [*_variants(folder), _process(folder, "whole process, outlines as in COCO")]
        grefcoco_made_up.write(folder, points=4)
        return [*results, _process(folder, "whole process, outlines of 4 points only")]


def _variants(folder: Path) -> list[Result]:
    manifest = truth.manifest(folder, "val", {}, Counter())
    expected = pa.Table.from_batches(truth.truth(folder, manifest, {}, Counter())).combine_chunks().to_batches()[0]
    source = Source(folder / "predictions.json")
    batches = boxes_json.read(source, manifest, OPTIONS, Counter())
    answers = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    known = manifest.combine_chunks().to_batches()[0]
    expressions = _expressions(expected, answers)
    lists = [([list(map(float, p)) for p in q], [list(map(float, b)) for b in t]) for q, t in _kept(expected, answers)]

    def ours() -> dict[str, NDArray[Any]]:
        return protocol.counts(expected, answers, known, OPTIONS, {})

    counted = ours()
    assert counted["correct_official_code"].tolist() == [official(*e) for e in expressions]
    assert counted["correct_circulated_recipe"].tolist() == [grefcoco_peer.correct(*e) for e in lists]
    return [
        compare(
            "four set accuracies", "the official loop in NumPy", ours, lambda: [official(*e) for e in expressions], 0.01
        ),
        compare("four set accuracies", "the recipe", ours, lambda: [grefcoco_peer.correct(*e) for e in lists], 0.2),
    ]


def _expressions(expected: pa.RecordBatch, answers: pa.RecordBatch) -> list[Expression]:
    """For the official loop: scores, predicted boxes xyxy, and annotations; the dummy one for no target."""
    true, true_ends = tables.boxes_of(expected)
    found, ends = tables.boxes_of(answers)
    scores, found = answers["scores"].flatten().to_numpy(), found.astype(np.float32)
    boxes = np.hstack([true[:, :2], true[:, 2:] - true[:, :2]]).tolist()
    annotations = [{"bbox": box, "category_id": 1} for box in boxes]
    dummy = [{"bbox": [0, 0, 0, 0], "category_id": -1}]
    cuts = zip(ends[:-1], ends[1:], true_ends[:-1], true_ends[1:], strict=True)
    return [(scores[a:b], found[a:b], annotations[c:d] or dummy) for a, b, c, d in cuts]


def _kept(expected: pa.RecordBatch, answers: pa.RecordBatch) -> list[tuple[Any, Any]]:
    """Predicted boxes at or above the threshold, and true boxes, in float64."""
    true, true_ends = tables.boxes_of(expected)
    found, ends = tables.boxes_of(answers)
    keep = answers["scores"].flatten().to_numpy() >= OPTIONS["score_threshold"]
    cuts = zip(ends[:-1], ends[1:], true_ends[:-1], true_ends[1:], strict=True)
    return [(found[a:b][keep[a:b]], true[c:d]) for a, b, c, d in cuts]


def official(scores: NDArray[np.float64], predicted: Floats, annotations: list[dict[str, Any]]) -> bool:
    """One expression in the steps of the official evaluator: sort by score, filter, GIoU, the largest entry first."""
    ranked = sorted(zip(scores.tolist(), predicted.tolist(), strict=True), reverse=True)
    ranked_scores, ranked_boxes = zip(*ranked, strict=True)
    kept = np.array(ranked_boxes, np.float32)[np.array(ranked_scores) >= 0.7]
    no_target, corners = False, []
    for annotation in annotations:
        no_target |= annotation["category_id"] == -1
        x, y, w, h = annotation["bbox"]
        corners.append(np.array([x, y, x + w, y + h], np.float32))
    true = np.stack(corners)
    matrix, pairs = _giou(kept, true), 0
    if no_target:
        return len(kept) == 0
    for _ in range(min(matrix.shape)):
        at = int(matrix.argmax())
        row, column = at // len(true), at % len(true)
        if matrix[row, column] < 0.5:
            break
        pairs += 1
        matrix[row, :] = 0
        matrix[:, column] = 0
    return bool(2 * pairs / (2 * pairs + (len(kept) - pairs) + (len(true) - pairs)) >= 1)


def _giou(a: Floats, b: Floats) -> Floats:
    assert (a[:, 2:] >= a[:, :2]).all()
    assert (b[:, 2:] >= b[:, :2]).all()
    inner = np.maximum(np.minimum(a[:, None, 2:], b[:, 2:]) - np.maximum(a[:, None, :2], b[:, :2]), 0)
    outer = np.maximum(np.maximum(a[:, None, 2:], b[:, 2:]) - np.minimum(a[:, None, :2], b[:, :2]), 0)
    shared, around = inner[..., 0] * inner[..., 1], outer[..., 0] * outer[..., 1]
    area_a, area_b = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1]), (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    union = area_a[:, None] + area_b - shared
    return np.asarray(shared / union - (around - union) / around)


def _process(folder: Path, name: str) -> Result:
    # Compiled modules are kept as in any installation, whatever this environment says.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    files = [str(folder / n) for n in ("grefs(unc).json", "instances.json", "predictions.json")]
    said = [word for key, value in SAID.items() for word in ("--set", f"{key}={value}")]
    ours = [sys.executable, "-m", "groundeval", "evaluate", "grefcoco", "--truth", str(folder), "--split", "val"]
    ours += ["--predictions", files[2], "--format", "boxes_json", *said, "--out", str(folder / "out")]
    theirs = [sys.executable, grefcoco_peer.__file__, *files]
    _output(ours)
    counted = json.loads((folder / "out" / "metrics.json").read_text())["metrics"]["set_accuracy_circulated_recipe"]
    assert counted["numerator"] == int(_output(theirs))
    return compare(name, "the recipe and json", lambda: _output(ours), lambda: _output(theirs), 1.0, 3, children=True)


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
