"""One sample drawn: the truth, and how each model's answer differs from it, over the image or over a plain canvas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval import benchmarks, tables
from groundeval.benchmarks import Record
from groundeval.benchmarks._picture import CLEAR, Layers
from groundeval.metrics import resize
from groundeval.report import draw
from groundeval.report.collect import Run

HIT, MISSED, EXTRA = "in both", "in the truth alone", "in the answer alone"
AGREEMENT = (draw.CLEAR, draw.HIT, draw.MISSED, draw.EXTRA)


@dataclass(frozen=True)
class Box:
    """A rectangle in the picture's own pixels; truth or answer."""

    side: str
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True)
class Picture:
    """What is drawn of one side, over the image. about: the same in words."""

    title: str
    about: str
    overlays: Sequence[str] = ()
    boxes: Sequence[Box] = field(default_factory=tuple)


@dataclass(frozen=True)
class Sample:
    """The two sides of one sample: its row in the manifest and its truth's row."""

    record: Record
    known: Mapping[str, Any]
    truth: pa.RecordBatch

    @property
    def size(self) -> tuple[int, int]:
        """Of the picture."""
        return draw.size(self.known["height"], self.known["width"])

    @property
    def shape(self) -> tuple[int, int]:
        """Of the image."""
        return self.known["height"], self.known["width"]


def of_truth(sample: Sample, run: Run) -> Picture:
    """The truth alone. run: one whose options say how the truth is read."""
    if sample.record.shape == "boxes":
        boxes = tables.boxes_of(sample.truth)[0]
        return Picture("Truth", _amount(len(boxes), "box", "es"), boxes=list(_boxes("truth", boxes, sample)))
    if sample.record.shape == "mask":
        mask = _mask(sample.truth, sample)
        about = f"{int(mask.sum()):,} of {mask.size:,} pixels" if mask is not None and mask.any() else "no target"
        return Picture("Truth", about, [] if mask is None else [_drawn(mask, sample, (draw.CLEAR, draw.HIT))])
    layers = _layers(sample, None, run)
    names = [name for c, name in enumerate(layers.names) if (layers.truth == c).any()]
    return Picture("Truth", ", ".join(names) or "nothing is evaluated", [_classes(layers.truth, len(layers.names))])


def of_answer(sample: Sample, answer: pa.RecordBatch | None, run: Run) -> list[Picture]:
    """The pictures of a model's answer: how it and the truth lie on each other; of several classes, the answer first."""
    about = "no answer" if answer is None else answer.column("status")[0].as_py()
    if sample.record.shape == "boxes":
        return [_answered_boxes(sample, answer, run, about)]
    if sample.record.shape == "mask":
        return [_answered_mask(sample, answer, about)]
    return _answered_map(sample, answer, run, about)


def legend(record: Record, run: Run, sample: Sample | None) -> list[tuple[str, str]]:
    """What the colours mean: (what, css colour)."""
    agreement = [(HIT, draw.HIT), (MISSED, draw.MISSED), (EXTRA, draw.EXTRA)]
    if record.shape == "boxes":
        return draw.legend([("truth", draw.HIT), ("answer", draw.EXTRA)])
    if record.shape == "mask" or sample is None:
        return draw.legend(agreement)
    names = _layers(sample, None, run).names
    classes = [*zip(names, draw.CLASSES, strict=False)]
    return draw.legend(agreement if len(names) == 2 else [*classes, ("wrong class", draw.WRONG)])


def _answered_boxes(sample: Sample, answer: pa.RecordBatch | None, run: Run, about: str) -> Picture:
    boxes = np.zeros((0, 4)) if answer is None else tables.boxes_of(answer)[0]
    threshold = run.options.get("score_threshold")
    scores = None if answer is None else answer.column("scores")[0].as_py()
    if threshold is not None and scores is not None:
        boxes = boxes[np.asarray(scores, np.float64) >= threshold]
    said = _amount(len(boxes), "box", "es") if about in ("answered", "none") else about
    truth = list(_boxes("truth", tables.boxes_of(sample.truth)[0], sample))
    return Picture("Answer", said, boxes=[*truth, *_boxes("answer", boxes, sample)])


def _answered_mask(sample: Sample, answer: pa.RecordBatch | None, about: str) -> Picture:
    truth, given = _mask(sample.truth, sample), None if answer is None else _mask(answer, sample)
    empty = np.zeros(sample.shape, np.uint8)
    truth, given = (empty if mask is None else mask for mask in (truth, given))
    said = f"{int(given.sum()):,} pixels" if about == "answered" else about
    return Picture("Answer", said, [_drawn(draw.agreement(truth, given), sample, AGREEMENT)])


def _answered_map(sample: Sample, answer: pa.RecordBatch | None, run: Run, about: str) -> list[Picture]:
    layers = _layers(sample, answer, run)
    if layers.answer is None:
        return [Picture("Answer", about)]
    seen = layers.truth != CLEAR
    wrong = seen & (layers.truth != layers.answer)
    said = f"{100 * float(wrong.sum()) / max(1, int(seen.sum())):.1f} % of what is drawn is wrong"
    if len(layers.names) == 2:
        sides = (((side == 1) & seen).astype(np.uint8) for side in (layers.truth, layers.answer))
        return [Picture("Answer", said, [draw.overlay(draw.agreement(*sides), AGREEMENT)])]
    difference = draw.overlay(wrong.astype(np.uint8), (draw.CLEAR, draw.WRONG))
    shown = _classes(layers.answer, len(layers.names))
    return [Picture("Answer", "its classes", [shown]), Picture("Difference", said, [difference])]


def _layers(sample: Sample, answer: pa.RecordBatch | None, run: Run) -> Layers:
    """Reduced first, so that classes are found for a picture's pixels only."""
    given = None if answer is None else tables.unpack_map(answer, 0)
    truth = tables.unpack_map(sample.truth, 0)
    truth = np.full(sample.size, CLEAR, np.uint8) if truth is None else resize.nearest(truth, sample.size)
    given = None if given is None else resize.nearest(given, sample.size)
    part = benchmarks.part(sample.record.name, "picture")
    found: Layers = part.layers(truth, given, dict(sample.known["tags"]), run.options, run.metrics)
    return found


def _classes(classes: Any, count: int) -> str:
    """Class numbers in their colours, of two the second alone; a value that is no class is drawn as wrong."""
    colours = [*(draw.CLASSES[c % len(draw.CLASSES)] for c in range(count)), draw.WRONG]
    colours[0] = draw.CLEAR if count == 2 else colours[0]
    shown = np.where(classes == CLEAR, count + 1, np.minimum(classes, count)).astype(np.uint8)
    return draw.overlay(shown, [*colours, draw.CLEAR])


def _mask(row: pa.RecordBatch, sample: Sample) -> Any:
    counts = row.column("mask")[0].as_py()
    return None if counts is None else draw.pixels(counts, *sample.shape)


def _drawn(classes: Any, sample: Sample, colours: Sequence[draw.Colour]) -> str:
    return draw.overlay(resize.nearest(classes, sample.size), colours)


def _boxes(side: str, boxes: Any, sample: Sample) -> Iterator[Box]:
    """What lies far outside is drawn at the border; a box without finite corners is not drawn."""
    height, width = sample.size
    scale = width / sample.known["width"]
    for box in boxes[np.isfinite(boxes).all(axis=1)] * scale:
        x0, x1 = np.clip(box[[0, 2]], -10, width + 10).tolist()
        y0, y1 = np.clip(box[[1, 3]], -10, height + 10).tolist()
        yield Box(side, *(f"{value:.1f}" for value in (x0, y0, max(0.0, x1 - x0), max(0.0, y1 - y0))))


def _amount(count: int, one: str, plural: str) -> str:
    return "no target" if count == 0 else f"{count} {one}{plural if count > 1 else ''}"
