"""InstructPart's test split from PNG, from files to numbers, against OpenCV's mere decoding of the same files.

The official split (600 pairs) where the real inputs are, otherwise pairs of 2 megapixels made here.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np

from groundeval.benchmarks import instructpart
from groundeval.stages import evaluate
from tests.speed import Result, compare

GOAL = 1 / 3
MADE = 60
_REAL = Path(os.environ.get("GROUNDEVAL_REAL", Path(__file__).parents[3] / "shared" / "real")) / "instructpart"


def run() -> list[Result]:
    """Truth as prediction, so that the answer is known: 100 in every metric."""
    with _split() as raw:
        folder = raw / instructpart.FILES["test"][0] / "masks"
        names = sorted(str(path) for path in folder.glob("*.png"))
        _check_decoders_agree(names[::50])
        name = f"InstructPart, {len(names)} pairs of PNG to numbers"
        return [compare(name, "cv2.imread of both", lambda: _score(raw, folder), lambda: _decode(names * 2), GOAL)]


def _score(raw: Path, predictions: Path) -> None:
    content = evaluate.run("instructpart", raw, "test", predictions, "mask_png", {}, None, "truth")
    assert [content["metrics"][name]["value"] for name in instructpart.RECORD.columns] == [100, 100, 100, 100]


def _decode(names: list[str]) -> None:
    for name in names:
        assert cv2.imread(name, cv2.IMREAD_UNCHANGED) is not None


def _check_decoders_agree(names: list[str]) -> None:
    from groundeval.sources import images

    for name in names:
        ours = images.decode(Path(name).read_bytes(), name)
        assert np.array_equal(ours, cv2.imread(name, cv2.IMREAD_UNCHANGED)), name


@contextmanager
def _split() -> Iterator[Path]:
    if _REAL.is_dir():
        yield _REAL
        return
    print("InstructPart: the real inputs are absent, masks of 2 megapixels are made instead", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        _make(Path(folder))
        yield Path(folder)


def _make(raw: Path) -> None:
    """Pairs with one to three ellipses, written by OpenCV as the official masks are."""
    part, annotations = instructpart.FILES["test"]
    (raw / part / "masks").mkdir(parents=True)
    entries, rng = [], np.random.default_rng(0)
    for number in range(MADE):
        mask = np.zeros((1250, 1600), np.uint8)
        for _ in range(1 + number % 3):
            (x, y), axes = rng.integers(200, 1000, 2).tolist(), rng.integers(20, 300, 2).tolist()
            cv2.ellipse(mask, (x, y), axes, float(rng.uniform(0, 180)), 0, 360, 1, -1)
        assert cv2.imwrite(str(raw / part / "masks" / f"{number}-cup-handle.png"), mask)
        told = {"object": "cup", "part": "handle", "affordance": "grasp", "action": "lift", "instruction": ["?"] * 6}
        entries.append({"image_path": f"{number}.jpg", "part_list": [told]})
    (raw / part / annotations).write_text(json.dumps(entries))
