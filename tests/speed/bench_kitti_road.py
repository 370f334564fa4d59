"""MaxF of KITTI road frames: from arrays against scikit-learn, and from files against the usual NumPy loop."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks.kitti_road import truth
from groundeval.metrics import maxf
from groundeval.sources import confidence
from tests.speed import Result, compare

SIZE, FRAMES = (375, 1242), 6
Maps = NDArray[np.uint8]


def run() -> list[Result]:
    """Two comparisons of the MaxF of the same six frames of official size."""
    with tempfile.TemporaryDirectory() as scratch:
        frames = [_write(Path(scratch), number) for number in range(FRAMES)]
        paths = [(Path(scratch, f"truth{n}.png"), Path(scratch, f"map{n}.png")) for n in range(FRAMES)]
        expected = _scikit_learn(frames)
        assert abs(_ours(frames) - expected) < 1e-12
        assert abs(_ours_from_files(paths) - expected) < 1e-12
        assert abs(_numpy_from_files(paths) - expected) < 1e-12
        return [
            compare(
                "kitti_road MaxF from arrays",
                "scikit-learn precision_recall_curve",
                lambda: _ours(frames),
                lambda: _scikit_learn(frames),
                0.1,
            ),
            compare(
                "kitti_road MaxF from files",
                "OpenCV and np.histogram",
                lambda: _ours_from_files(paths),
                lambda: _numpy_from_files(paths),
                0.5,
            ),
        ]


def _write(folder: Path, number: int) -> tuple[Maps, Maps]:
    """A truth image and a map on disk, and both as arrays: a class map and confidences."""
    rng = np.random.default_rng(number)
    rows, columns = np.mgrid[: SIZE[0], : SIZE[1]]
    road = np.abs(columns - 600 - 20 * number) < 1.8 * (rows - 160)
    valid = rows < SIZE[0] - 8
    image = np.stack([road & valid, np.zeros(SIZE, bool), valid], axis=2).astype(np.uint8) * 255
    blurred = cv2.GaussianBlur(np.roll(road, 9, axis=1).astype(np.float32) * 255, (31, 31), 8)
    found = np.clip(blurred + rng.normal(0, 4, SIZE), 0, 255).astype(np.uint8)
    cv2.imwrite(str(folder / f"truth{number}.png"), image)
    cv2.imwrite(str(folder / f"map{number}.png"), found)
    return np.where(valid, road, 255).astype(np.uint8), found


def _max_f(counts: NDArray[np.int64]) -> float:
    value = maxf.metrics(maxf.curve(counts[1], counts[0]))["MaxF"].value
    assert value is not None
    return value / 100


def _ours(frames: list[tuple[Maps, Maps]]) -> float:
    return _max_f(np.sum([maxf.histograms(*frame) for frame in frames], axis=0))


def _ours_from_files(paths: list[tuple[Path, Path]]) -> float:
    counts = np.zeros((2, maxf.LEVELS), np.int64)
    for label, found in paths:
        classes = truth.class_map(label.read_bytes(), str(label), Counter())
        counts += maxf.histograms(classes, confidence.decode(found.read_bytes(), str(found)))
    return _max_f(counts)


def _scikit_learn(frames: list[tuple[Maps, Maps]]) -> float:
    from sklearn.metrics import precision_recall_curve

    labels = np.concatenate([c[c < 2] for c, _ in frames])
    scores = np.concatenate([s[c < 2] for c, s in frames])
    precision, recall, _ = precision_recall_curve(labels, scores)
    return float(np.max(2 * precision * recall / (precision + recall)))


def _numpy_from_files(paths: list[tuple[Path, Path]]) -> float:
    """Floats in 0..1, a histogram of each class over the thresholds, rates: what evaluation scripts usually do."""
    edges = np.append((np.arange(256) - 0.5) / 255, 2.0)
    road, other = np.zeros(256, np.int64), np.zeros(256, np.int64)
    for label, found in paths:
        image = np.asarray(cv2.imread(str(label)))
        scores = np.asarray(cv2.imread(str(found), cv2.IMREAD_UNCHANGED)) / 255.0
        valid, mask = image[..., 2] > 0, image[..., 0] > 0
        road += np.histogram(scores[valid & mask], edges)[0]
        other += np.histogram(scores[valid & ~mask], edges)[0]
    tp, fp = np.cumsum(road[::-1]), np.cumsum(other[::-1])
    return float(np.max(2 * tp / (tp + fp + road.sum())))
