"""What both layouts are read into, and how their regions become masks. All faults here are the truth's: InputError."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from groundeval.errors import InputError, quoted
from groundeval.metrics import masks
from groundeval.metrics.polygons import Unit, rasterise
from groundeval.sources import images
from groundeval.sources.binary import binarise
from groundeval.sources.folder import Source

FIX = "Correct the record, or make the file again."


class Region(NamedTuple):
    """content: a list of polygons, an RLE {"size", "counts"}, or a PNG file's name in the raw folder."""

    kind: Literal["polygons", "rle", "png"]
    content: Any
    unit: Unit = "px"
    threshold: float | None = None  # of a PNG: None for images of two values


class Sample(NamedTuple):
    """One instruction about one image. where: the file and line of its record, for messages."""

    sample_id: str
    image: str
    height: int
    width: int
    text: str | None
    where: str
    regions: tuple[Region, ...]
    sha256: str | None = None

    def refuse(self, what: str, fix: str = FIX) -> NoReturn:
        """Raise the InputError about this sample."""
        raise InputError(self.where, f"sample {quoted(self.sample_id)}: {what}", fix)


def region_masks(source: Source, samples: Sequence[Sample], notes: Counter[str]) -> list[list[bytes]]:
    """The run-lengths of each region of each sample; all polygons go through the rasteriser together."""
    drawn = iter(_rasterised(samples, notes))
    return [[_mask(source, sample, n, drawn) for n in range(len(sample.regions))] for sample in samples]


def _rasterised(samples: Sequence[Sample], notes: Counter[str]) -> list[bytes]:
    owners = [(s, n) for s in samples for n, r in enumerate(s.regions, 1) if r.kind == "polygons"]
    regions = [s.regions[n - 1] for s, n in owners]
    heights, widths = [s.height for s, _ in owners], [s.width for s, _ in owners]
    rasters = rasterise([r.content for r in regions], heights, widths, [r.unit for r in regions])
    for i, fault in sorted(rasters.faults.items()):
        sample, number = owners[i]
        sample.refuse(f"region {number}, {fault} (unit {regions[i].unit})")
    notes.update({f"truth: {name}": count for name, count in rasters.notes.items()})
    return rasters.counts


def _mask(source: Source, sample: Sample, number: int, drawn: Any) -> bytes:
    region = sample.regions[number]
    if region.kind == "polygons":
        counts: bytes = next(drawn)
        return counts
    if region.kind == "rle":
        return _from_rle(sample, number + 1, region.content)
    where = source.where(region.content)
    mask = binarise(images.decode(source.read(region.content), where), where, region.threshold)
    _check_size(sample, number + 1, list(mask.shape))
    return masks.encode(mask)


def _from_rle(sample: Sample, number: int, rle: Mapping[str, Any]) -> bytes:
    _check_size(sample, number, rle.get("size"))
    try:
        return masks.canonical(_runs(rle["counts"]), sample.height, sample.width)
    except ValueError as error:
        sample.refuse(f"region {number}: {error}")


def _runs(counts: Any) -> masks.Runs:
    if isinstance(counts, str):
        return masks.unpack(counts.encode())
    if not isinstance(counts, list) or set(map(type, counts)) != {int} or max(counts) > masks.MAX_PIXELS:
        raise ValueError("counts is neither COCO's string nor a list of runs")
    return np.array(counts, dtype=np.int64)


def _check_size(sample: Sample, number: int, size: Any) -> None:
    expected = [sample.height, sample.width]
    if size == expected:
        return
    hint = ", height and width are swapped" if size == expected[::-1] else ""
    sample.refuse(f"region {number} is of size {size}, the image is of {expected} (height, width){hint}")
