"""Predictions from one archive against the same from a folder: 20,000 masks, read, decoded, encoded.

Beside it the bytes alone: what listing and reading cost, which is a small part of the above.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pyarrow as pa

from groundeval import formats, tables
from groundeval.sources.folder import Source
from tests.sources import archives
from tests.speed import Result, compare

MASKS = 20_000
SIZE = (240, 320)
GOAL, GOAL_BYTES = 1.2, 3.0


def run() -> list[Result]:
    """Each kind of archive against the folder; rows and bytes are compared."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = _made(Path(scratch, "masks"))
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        manifest = _manifest(sorted(files))
        results, rows, contents = [], _rows(folder, manifest), _bytes(folder)
        for kind in archives.KINDS:
            path = archives.write(Path(scratch, f"masks{kind}"), files)
            assert (_rows(path, manifest), _bytes(path)) == (rows, contents)
            results += _compared(path, folder, manifest, kind)
        return results


def _compared(path: Path, folder: Path, manifest: pa.Table, kind: str) -> list[Result]:
    rows, alone = (f"{MASKS} masks from {kind}{what}" for what in ("", ", bytes alone"))
    return [
        compare(rows, "the folder", lambda: _rows(path, manifest), lambda: _rows(folder, manifest), GOAL),
        compare(alone, "the folder", lambda: _bytes(path), lambda: _bytes(folder), GOAL_BYTES, rounds=3),
    ]


def _rows(path: Path, manifest: pa.Table) -> int:
    """What convert does: a number that stands for all its rows."""
    batches = formats.module("mask_png").read(Source(path), manifest, {"names": "sample"}, Counter())
    return hash(tuple(b.column("mask")[i].as_py() for b in batches for i in range(b.num_rows)))


def _bytes(path: Path) -> int:
    source = Source(path)
    return hash(tuple(source.read(name) for name in source.names()))


def _made(folder: Path) -> Path:
    """Ellipses, small as masks go: larger ones cost more to decode, and no more to find."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(MASKS):
        mask = np.zeros(SIZE, np.uint8)
        (x, y), axes = rng.integers(40, 200, 2).tolist(), rng.integers(10, 60, 2).tolist()
        cv2.ellipse(mask, (x, y), axes, 0, 0, 360, 255, -1)
        (folder / f"{number:06d}-cup-handle.png").write_bytes(cv2.imencode(".png", mask)[1].tobytes())
    return folder


def _manifest(names: list[str]) -> pa.Table:
    rows = [{"sample_id": n[:-4], "image_id": n[:-4], "height": SIZE[0], "width": SIZE[1], "tags": {}} for n in names]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)
