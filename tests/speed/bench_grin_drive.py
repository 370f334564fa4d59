"""GRiN-Drive at 1600x900, files to counts: run-lengths against the same masks as whole frames."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pycocotools import mask as coco

from groundeval import formats, tables
from groundeval.benchmarks.grin_drive import protocol, truth
from groundeval.sources.folder import Source
from tests.speed import Result, compare, cpu

HEIGHT, WIDTH = 900, 1600
SAMPLES, ALL = 340, 17_000
GOAL = 1 / 15
GOAL_OPENCV = 1 / 6  # the fastest way to draw a frame, of the few outlines on which it agrees

Counts = NDArray[np.int64]  # intersection and union of each sample, [n, 2]


def run() -> list[Result]:
    """Polygons and run-lengths; the names give the CPU time of 17,000 samples, without the peer's."""
    with tempfile.TemporaryDirectory() as folder:
        return [_polygons(Path(folder)), _rectangles(Path(folder)), _run_lengths(Path(folder))]


def _polygons(folder: Path) -> Result:
    """The same rasteriser, each mask as a frame."""
    files = _Files(folder / "polygons", "polygons_jsonl", {"unit": "px"})
    rng = np.random.default_rng(0)
    files.write((_outlines(rng), _outlines(rng)) for _ in range(ALL))
    return files.compare("polygons", "frames of pycocotools' decode, NumPy's logical_and", _decoded_polygons, GOAL)


def _rectangles(folder: Path) -> Result:
    """OpenCV, on the only outlines that it fills alike once their far edges are moved in by one."""
    files = _Files(folder / "rectangles", "polygons_jsonl", {"unit": "px"})
    rng = np.random.default_rng(1)
    files.write((_rectangle_list(rng), _rectangle_list(rng)) for _ in range(ALL))
    return files.compare(
        "rectangles", "frames of OpenCV's fillPoly, NumPy's logical_and", _drawn_rectangles, GOAL_OPENCV
    )


def _run_lengths(folder: Path) -> Result:
    files = _Files(folder / "rle", "coco_rle", {})
    rng = np.random.default_rng(2)
    files.write((_rle(_outlines(rng)), _rle(_outlines(rng))) for _ in range(ALL))
    return files.compare(
        "run-lengths", "frames of pycocotools' decode, NumPy's logical_and", _decoded_run_lengths, GOAL
    )


class _Files:
    """Truth and predictions of all samples, and of the few that the peer can be made to wait for."""

    def __init__(self, folder: Path, format_name: str, options: dict[str, Any]) -> None:
        self.folder, self.format, self.options = folder, formats.module(format_name), options
        self.lines = format_name == "polygons_jsonl"

    def write(self, pairs: Iterator[tuple[Any, Any]]) -> None:
        """The pairs' two sides are lists of polygons, or an RLE."""
        truths, answers = [], []
        for number, (true, said) in enumerate(pairs):
            head = {"sample_id": f"{number:05d}", "image": "i", "height": HEIGHT, "width": WIDTH, "unit": "px"}
            region = {"polygons": true} if self.lines else true
            truths.append(head | {"regions": [region] if true else []})
            answers.append({"sample_id": head["sample_id"], ("polygons" if self.lines else "segmentation"): said})
        for name, count in (("few", SAMPLES), ("all", ALL)):
            (self.folder / name).mkdir(parents=True)
            (self.folder / name / "test.jsonl").write_text("\n".join(map(json.dumps, truths[:count])))
            text = "\n".join(map(json.dumps, answers[:count])) if self.lines else json.dumps(answers[:count])
            (self.folder / name / self._answers()).write_text(text)

    def compare(self, what: str, peer: str, theirs: Any, goal: float) -> Result:
        """CPU time of both for the few, equal counts asserted; our own for all, in the name."""
        few, name = self.folder / "few", self._answers()
        for folder in ("few", "all"):
            self._manifest(self.folder / folder)
        assert (self.ours("few") == theirs(few / "test.jsonl", few / name)).all()
        seconds = cpu(lambda: self.ours("all"))
        title = f"GRiN-Drive, {what}, {SAMPLES} samples ({ALL} take {seconds:.1f} s)"
        return compare(title, peer, lambda: self.ours("few"), lambda: theirs(few / "test.jsonl", few / name), goal)

    def ours(self, name: str) -> Counts:
        """Truth, conversion and counting as the stages do it; the manifest is read from the split stage."""
        folder = self.folder / name
        manifest = self._manifest(folder)
        expected = truth.truth(folder, manifest, {}, Counter())
        answers = self.format.read(Source(folder / self._answers()), manifest, self.options, Counter())
        parts = tables.align(expected, answers, iter(manifest.to_batches()))
        found = [protocol.counts(t, a, m, {}, {}) for t, a, m in parts]
        return np.concatenate([np.stack([f["intersection"], f["union"]], axis=1) for f in found])

    def _manifest(self, folder: Path) -> pa.Table:
        path = folder / "manifest.parquet"
        if not path.exists():
            tables.write(path, truth.manifest(folder, "test", {}, Counter()).to_batches(), tables.MANIFEST, {})
        return tables.read(path)

    def _answers(self) -> str:
        return "answers.jsonl" if self.lines else "answers.json"


def _outlines(rng: np.random.Generator) -> list[list[float]]:
    """None, one or two regions of a road: 8 to 30 points, some 50 to 500 pixels wide."""
    out = []
    for _ in range(rng.integers(3)):
        angles = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(8, 31))))
        radii = rng.uniform(0.7, 1, len(angles))[:, None] * rng.uniform((25, 15), (250, 80))
        points = rng.uniform((250, 500), (1350, 820)) + radii * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        out.append(points.ravel().round(2).tolist())
    return out


def _rectangle_list(rng: np.random.Generator) -> list[list[int]]:
    out = []
    for _ in range(rng.integers(3)):
        (left, top), (width, height) = rng.integers((0, 400), (1100, 740)), rng.integers((50, 30), (500, 160))
        x, y = (int(left), int(left + width)), (int(top), int(top + height))
        out.append([x[0], y[0], x[1], y[0], x[1], y[1], x[0], y[1]])
    return out


def _rle(polygons: list[list[float]]) -> dict[str, Any] | None:
    if not polygons:
        return None
    rle = coco.merge(coco.frPyObjects(polygons, HEIGHT, WIDTH))
    return {"size": rle["size"], "counts": rle["counts"].decode()}


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _frame_counts(pairs: Iterator[tuple[Any, Any]]) -> Counts:
    return np.array([(np.logical_and(a, b).sum(), np.logical_or(a, b).sum()) for a, b in pairs], dtype=np.int64)


def _decoded_polygons(true: Path, said: Path) -> Counts:
    def frame(polygons: list[list[float]]) -> NDArray[np.uint8]:
        rle = coco.merge(coco.frPyObjects(polygons, HEIGHT, WIDTH)) if polygons else None
        return coco.decode(rle) if rle else np.zeros((HEIGHT, WIDTH), np.uint8, order="F")

    pairs = zip(_lines(true), _lines(said), strict=True)
    return _frame_counts((frame(_polygons_of(t)), frame(p["polygons"])) for t, p in pairs)


def _drawn_rectangles(true: Path, said: Path) -> Counts:
    def frame(polygons: list[list[int]]) -> NDArray[np.uint8]:
        out = np.zeros((HEIGHT, WIDTH), np.uint8)
        for polygon in polygons:
            points = np.array(polygon, np.int32).reshape(-1, 2)
            cv2.fillPoly(out, [points - (points == points.max(axis=0))], 1)
        return out

    pairs = zip(_lines(true), _lines(said), strict=True)
    return _frame_counts((frame(_polygons_of(t)), frame(p["polygons"])) for t, p in pairs)


def _polygons_of(record: dict[str, Any]) -> list[Any]:
    return [polygon for region in record["regions"] for polygon in region["polygons"]]


def _decoded_run_lengths(true: Path, said: Path) -> Counts:
    def frame(rle: dict[str, Any] | None) -> NDArray[np.uint8]:
        return coco.decode(rle) if rle else np.zeros((HEIGHT, WIDTH), np.uint8, order="F")

    pairs = zip(_lines(true), json.loads(said.read_text()), strict=True)
    return _frame_counts((frame((t["regions"] or [None])[0]), frame(p["segmentation"])) for t, p in pairs)
