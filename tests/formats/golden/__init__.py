"""A golden sample of each producer: the files as it writes them, and the rows that they are.

All say the same of three samples: `photo-1-a` and `photo-2-b` have a target, `photo-3-c` has none.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval import formats, options, tables
from groundeval.sources.folder import Source

SAMPLES = ("photo-1-a", "photo-2-b", "photo-3-c")
PHOTOS = {"photo-1-a": "photo-1.jpg", "photo-2-b": "photo-2.jpg", "photo-3-c": "photo-3.jpg"}
TEXTS = {"photo-1-a": "the cup", "photo-2-b": "all cats, left", "photo-3-c": "a dog"}
SIZES = {"photo-1-a": (32, 48), "photo-2-b": (40, 24), "photo-3-c": (24, 24)}  # height, width
BENCHMARK = {"map": {"classes": "3", "eval_size": None}}  # the options that a benchmark of maps declares


@dataclass(frozen=True)
class Golden:
    """producer, files: as the README's table names them. write: puts the files into an empty folder.

    sealed: whether its files carry checksums, so that no changed bit goes unnoticed.
    none: the status of the sample without a target.
    """

    producer: str
    format: str
    files: str
    write: Callable[[Path], None]
    expected: Mapping[str, Any]
    said: Mapping[str, str] = field(default_factory=dict)
    sealed: bool = False
    none: str = "none"

    @property
    def command(self) -> str:
        """What the README's table says of it."""
        return " ".join(
            [f"--format {self.format}", *(f"--set {shlex.quote(f'{k}={v}')}" for k, v in self.said.items())]
        )

    def options(self) -> dict[str, Any]:
        """All options, as the stage would hand them over."""
        record = formats.record(self.format)
        return {**options.resolve(record.options, self.said, "test"), **BENCHMARK.get(record.shape, {})}

    def read(self, path: Path, notes: Counter[str] | None = None) -> dict[str, dict[str, Any]]:
        """The rows by id, after checking their schema and order."""
        record = formats.record(self.format)
        source, kept = Source(path), Counter[str]() if notes is None else notes
        batches = list(formats.module(self.format).read(source, manifest(), self.options(), kept))
        assert all(b.schema.equals(tables.predictions_schema(record.shape)) for b in batches)
        rows = [row for b in batches for row in b.to_pylist()]
        assert [row["sample_id"] for row in rows] == list(SAMPLES)
        return {row.pop("sample_id"): row for row in rows}


def manifest() -> pa.Table:
    """The three samples, each with a photo and a text of its own."""
    rows = [
        {"sample_id": s, "image_id": PHOTOS[s], "height": h, "width": w, "text": TEXTS[s], "tags": {}}
        for s, (h, w) in SIZES.items()
    ]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def everything() -> list[Golden]:
    """All of them, in the order of the table."""
    from formats.golden import boxes, maps, masks

    return [*masks.GOLDEN, *boxes.GOLDEN, *maps.GOLDEN]


def same(found: Any, expected: Any) -> bool:
    """Equality; of boxes to a rounding error."""
    if isinstance(expected, list) and isinstance(found, list):
        return np.shape(found) == np.shape(expected) and bool(np.allclose(found, expected, rtol=1e-9, atol=1e-6))
    return bool(found == expected)
