"""Class maps and score maps; every sample has one, as there is no "none" of a map."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from formats.golden import SAMPLES, SIZES, Golden

CLASSES = 3


def classes(sample: str) -> NDArray[np.uint8]:
    """A class map [H, W] of 0, 1 and 2."""
    return np.random.default_rng(SAMPLES.index(sample)).integers(0, CLASSES, SIZES[sample]).astype(np.uint8)


def scores(sample: str) -> NDArray[np.uint16]:
    """Score maps [C, H, W] that use 16 bits."""
    shape = (CLASSES, *SIZES[sample])
    return np.random.default_rng(SAMPLES.index(sample)).integers(0, 65536, shape).astype(np.uint16)


def confidence(sample: str) -> NDArray[np.uint8]:
    """One confidence map [H, W]."""
    return (scores(sample)[0] >> 8).astype(np.uint8)


def _each(save: Callable[[str, Path], Any]) -> Callable[[Path], None]:
    def written(folder: Path) -> None:
        for sample in SAMPLES:
            save(sample, folder)

    return written


def _class_png(sample: str, folder: Path) -> None:
    Image.fromarray(classes(sample)).save(folder / f"{sample}.png")


def _class_npy(sample: str, folder: Path) -> None:
    np.save(folder / f"{sample}.npy", classes(sample).astype(np.int64))


def _scores_npz(sample: str, folder: Path) -> None:
    np.savez_compressed(folder / f"{sample}.npz", scores=scores(sample))


def _scores_png(sample: str, folder: Path) -> None:
    for number, plane in enumerate(scores(sample)):
        Image.fromarray(plane).save(folder / f"{sample}_{number}.png")


def _confidence(sample: str, folder: Path) -> None:
    Image.fromarray(confidence(sample)).save(folder / f"{sample}.png")


def _golden(
    producer: str, format_: str, files: str, save: Any, of: Callable[[str], NDArray[Any]], **more: Any
) -> Golden:
    expected = {s: of(s).tobytes() for s in SAMPLES}
    return Golden(producer, format_, files, _each(save), expected, none="answered", **more)


GOLDEN = [
    _golden("any, class maps", "class_png", "`{sample_id}.png`", _class_png, classes, sealed=True),
    _golden("any, class maps as arrays", "class_npy", "`{sample_id}.npy`", _class_npy, classes),
    _golden(
        "any, scores", "scores_npz", "`{sample_id}.npz`, `scores` [C, H, W]", _scores_npz, scores,
        sealed=True, said={"dtype": "uint16"},
    ),
    _golden("any, scores, one file a class", "scores_png16", "`{sample_id}_{class}.png`", _scores_png, scores, sealed=True),
    _golden("SNE-RoadSeg, KITTI road", "confidence_png", "`{sample_id}.png`, 8-bit grey", _confidence, confidence, sealed=True),
]  # fmt: skip
