"""Class maps and score maps: confusion matrices, and average precision of score maps from files to numbers.

Peers: scikit-learn (confusion_matrix, average_precision_score on all pixels), and the usual loop that decodes with PIL and
counts with np.bincount. Class maps are 1280x720 as in GMRP; score maps are 320x480 of three classes, with labels of that
size. Both sides read the same files and give the same numbers; ours makes all checks of a user's run. Time is compared on
FRAMES frames, fewer than a split has, as the peer's time grows at least as fast as their number. Memory is that of whole
runs, with confusion matrices and every metric, in processes of their own on WHOLE frames, names of the same files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from groundeval import tables
from groundeval.benchmarks import _curves
from groundeval.benchmarks.gmrp import RECORD, TASK, protocol, truth
from groundeval.formats import class_png, scores_npz
from groundeval.metrics import confusion as cm
from groundeval.metrics import resize
from groundeval.options import resolve
from groundeval.sources.folder import Source
from tests.speed import Result, compare

FRAMES, WHOLE = 40, 585
TOP = {"uint8": 255, "uint16": 65535, "float16": 1, "float32": 1}
GOALS = {"uint8": 1 / 20, "uint16": 1 / 12, "float16": 1 / 12, "float32": 1 / 4}


def run() -> list[Result]:
    """All comparisons."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, FRAMES)
        results = [_matrices(folder), _matrices_from_files(folder)]
        results += [_average_precision(folder, dtype, goal) for dtype, goal in GOALS.items()]
        _memory(folder)
        return results


def write(folder: Path, frames: int) -> None:
    """GMRP folders large/ and small/ (labels of 1280x720 and 320x480), class maps in maps/, score maps by dtype."""
    rng = np.random.default_rng(0)
    for name in ("large/label", "large/splits", "small/label", "small/splits", "maps", *TOP):
        (folder / name).mkdir(parents=True)
    for stem in (f"{i:04d}" for i in range(frames)):
        label = _label(rng)
        Image.fromarray(label).save(folder / "large" / "label" / f"{stem}.png")
        Image.fromarray(resize.nearest(label, TASK.size)).save(folder / "small" / "label" / f"{stem}.png")
        Image.fromarray(np.roll(label, (2, 5), (0, 1))).save(folder / "maps" / f"{stem}.png")
        for dtype, scores in _scores(label, rng).items():
            np.savez(folder / dtype / f"{stem}.npz", scores=scores)
    _list(folder, frames)


def _label(rng: np.random.Generator) -> NDArray[np.uint8]:
    """A road that narrows, with anomalies on it."""
    label = np.zeros((720, 1280), np.uint8)
    middle, top = (int(n) for n in rng.integers([500, 250], [780, 400]))
    cv2.fillPoly(label, [np.array([[0, 719], [middle - 60, top], [middle + 60, top], [1279, 719]])], 1)
    for x, y, size in rng.integers([400, 450, 5], [900, 690, 40], (4, 3)).tolist():
        cv2.circle(label, (x, y), size, 2, -1)
    return label


def _scores(label: NDArray[np.uint8], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """A softmax over blurred, noisy logits, stored four ways."""
    hard = (resize.nearest(label, TASK.size) == np.arange(3)[:, None, None]).astype(np.float32)
    logits = np.stack([cv2.GaussianBlur(m, (21, 21), 4) for m in hard]) * 9 + rng.normal(0, 1, hard.shape)
    soft = np.exp(logits) / np.exp(logits).sum(axis=0)
    return {dtype: (soft * top).astype(dtype) for dtype, top in TOP.items()}


def _list(folder: Path, frames: int) -> None:
    for size in ("large", "small"):
        (folder / size / "splits" / "test.txt").write_text("".join(f"{i:04d}\n" for i in range(frames)))


def ours(raw: Path, predictions: Path, form: Any, said: Mapping[str, Any]) -> tuple[NDArray[np.int64], dict[str, Any]]:
    """From files to the confusion matrix at native size and all metrics."""
    options = resolve({**RECORD.options, **form.FORMAT.options}, said, "bench")
    totals: dict[str, NDArray[Any]] = {}
    manifest = truth.manifest(raw, "test", options, Counter())
    streams = (
        truth.truth(raw, manifest, options, Counter()),
        form.read(Source(predictions), manifest, options, Counter()),
        manifest.to_batches(),
    )
    parts = [protocol.counts(*batch, options, totals) for batch in tables.align(*streams)]
    samples = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
    counted = samples["native_confusion"].sum(axis=0).reshape(3, 4)[:, :3]
    return counted, {n: m.value for n, m in protocol.metrics(samples, totals, options).items()}


def average_precision(raw: Path, predictions: Path, dtype: str) -> list[float | None]:
    """From files to the average precision of each class alone."""
    options = resolve({**RECORD.options, **scores_npz.FORMAT.options}, {"dtype": dtype}, "bench")
    totals: dict[str, NDArray[Any]] = {}
    manifest = truth.manifest(raw, "test", options, Counter())
    expected = truth.truth(raw, manifest, options, Counter())
    found = scores_npz.read(Source(predictions), manifest, options, Counter())
    for labels, answers in tables.align(expected, found):
        for i, name in enumerate(labels.column("sample_id").to_pylist()):
            label, scores = tables.unpack_map(labels, i), tables.unpack_map(answers, i)
            assert label is not None
            _curves.add(totals, "eval", name, range(len(TASK.classes)), label, scores)
    values = _curves.averages(totals, "eval", TASK.classes)
    return [values[f"AP/{name}"].value for name in TASK.classes]


def _matrices(folder: Path) -> Result:
    """Ten times one image in memory."""
    from sklearn.metrics import confusion_matrix

    label, found = (np.asarray(Image.open(folder / d / "0000.png")) for d in ("large/label", "maps"))

    def mine() -> list[NDArray[np.int64]]:
        return [cm.confusion(label, found, 3, 3) for _ in range(10)]

    def peer() -> list[NDArray[np.int64]]:
        return [confusion_matrix(label.ravel(), found.ravel(), labels=[0, 1, 2]) for _ in range(10)]

    np.testing.assert_array_equal(mine()[0][:, :3], peer()[0])
    return compare("confusion matrix of 1280x720", "scikit-learn", mine, peer, 1 / 13)


def _matrices_from_files(folder: Path) -> Result:
    def mine() -> NDArray[np.int64]:
        return ours(folder / "large", folder / "maps", class_png, {})[0]

    def peer() -> NDArray[np.int64]:
        counted = np.zeros((3, 3), np.int64)
        for path in sorted((folder / "large" / "label").iterdir()):
            label, found = (np.array(Image.open(p)) for p in (path, folder / "maps" / path.name))
            valid = (label >= 0) & (label < 3)
            cells = np.bincount(3 * label[valid].astype(int) + found[valid], minlength=9)
            counted += cells.reshape(3, 3)
        return counted

    np.testing.assert_array_equal(mine(), peer())
    name = f"{FRAMES} class maps of 1280x720, files to numbers at both sizes"
    return compare(name, "PIL and np.bincount at one size", mine, peer, 1 / 3)


def _average_precision(folder: Path, dtype: str, goal: float) -> Result:
    def mine() -> list[float | None]:
        return average_precision(folder / "small", folder / dtype, dtype)

    def peer() -> list[float]:
        return scikit_learn(folder, dtype)

    np.testing.assert_allclose(np.array(mine(), np.float64), peer(), atol=1e-12)
    name = f"average precision of {FRAMES} score maps of 320x480x3, {dtype}, files to numbers"
    return compare(name, "scikit-learn", mine, peer, goal)


def scikit_learn(folder: Path, dtype: str, classes: int = 3) -> list[float]:
    """Average precision of the first classes, all pixels of the split in memory."""
    from sklearn.metrics import average_precision_score

    stems = (folder / "small" / "splits" / "test.txt").read_text().split()
    labels = [np.array(Image.open(folder / "small" / "label" / f"{stem}.png")).ravel() for stem in stems]
    stored = [np.load(folder / dtype / f"{stem}.npz")["scores"][:classes].reshape(classes, -1).copy() for stem in stems]
    truths, scores = np.concatenate(labels), np.concatenate(stored, axis=1)
    del labels, stored
    return [float(average_precision_score(truths == c, scores[c])) for c in range(classes)]


def _memory(folder: Path) -> None:
    """Peak resident memory of whole processes on WHOLE frames (Linux); the peer does one class, the least it can hold."""
    if not Path("/proc/self/status").exists():
        return
    for name, suffix in (("small/label", ".png"), *((dtype, ".npz") for dtype in TOP)):
        for i in range(FRAMES, WHOLE):
            os.link(folder / name / f"{i % FRAMES:04d}{suffix}", folder / name / f"{i:04d}{suffix}")
    _list(folder, WHOLE)
    peaks = {dtype: _peak(folder, dtype, "ours") for dtype in TOP}
    said = ", ".join(f"{dtype} {mebibytes}" for dtype, mebibytes in peaks.items())
    print(
        f"  peak memory in MiB, {WHOLE} frames: {said}; scikit-learn, float32: {_peak(folder, 'float32', 'peer')}",
        flush=True,
    )


def _peak(folder: Path, dtype: str, who: str) -> int:
    command = [sys.executable, "-m", "tests.speed.bench_maps", str(folder), dtype, who]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    where, stored, side = Path(sys.argv[1]), *sys.argv[2:]
    if side == "peer":
        scikit_learn(where, stored, classes=1)
    else:
        ours(where / "small", where / stored, scores_npz, {"dtype": stored})
    # Not ru_maxrss, in which a process keeps the peak of its parent.
    print(int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) // 1024)
