"""The layout of our own: {split}.jsonl, one sample a line, its regions as polygons, run-lengths or PNG files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from groundeval.benchmarks.grin_drive.samples import FIX, Region, Sample
from groundeval.errors import InputError, first_of, quoted
from groundeval.metrics.masks import MAX_PIXELS
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

UNITS = ("px", "norm1")


def read(source: Source, split: str) -> list[Sample]:
    """The samples in the file's order. InputError with line and id for a record that is not of the layout."""
    name = f"{split}.jsonl"
    where, files = source.where(name), set(source.names(".png"))
    lines = jsonfile.load_lines(source.read(name), where)
    samples = [_sample(record, f"{where}, line {line}", files) for line, record in lines]
    doubled = [i for i, n in Counter(s.sample_id for s in samples).items() if n > 1]
    if doubled:
        raise InputError(where, f"{len(doubled)} sample_ids stand more than once, {first_of(doubled)}", FIX)
    return samples


def _sample(record: dict[str, Any], where: str, files: set[str]) -> Sample:
    sample_id, image = (_text(record, key, where) for key in ("sample_id", "image"))
    height, width = (_side(record, key, where) for key in ("height", "width"))
    if height * width > MAX_PIXELS:
        raise InputError(where, f"an image of {height} x {width} pixels, more than {MAX_PIXELS}", FIX)
    text = _text(record, "instruction", where) if record.get("instruction") is not None else None
    sample = Sample(sample_id, image, height, width, text, where, ())
    return sample._replace(regions=_regions(sample, record, files))


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(where, f"{key} is {_shown(record, key)}, not a text", FIX)
    return value


def _side(record: Mapping[str, Any], key: str, where: str) -> int:
    value = record.get(key)
    if type(value) is not int or value < 1:
        raise InputError(where, f"{key} is {_shown(record, key)}, not a number of pixels", FIX)
    return value


def _shown(record: Mapping[str, Any], key: str) -> str:
    return quoted(record[key]) if key in record else "missing"


def _regions(sample: Sample, record: Mapping[str, Any], files: set[str]) -> tuple[Region, ...]:
    regions = record.get("regions")
    if not isinstance(regions, list):
        sample.refuse(f"regions is {_shown(record, 'regions')}, not a list (an empty one says that there is no target)")
    return tuple(_region(sample, n, region, record, files) for n, region in enumerate(regions, 1))


def _region(sample: Sample, number: int, region: Any, record: Mapping[str, Any], files: set[str]) -> Region:
    kinds = {"polygons", "counts", "png"} & region.keys() if isinstance(region, dict) else set()
    if len(kinds) != 1:
        sample.refuse(f"region {number} has to be one of polygons, a run-length with size and counts, or a png")
    if "counts" in kinds:
        return Region("rle", region)
    if "png" in kinds:
        if str(region["png"]) not in files:  # the files below the folder: no path leads out of it
            sample.refuse(f"region {number}, there is no file {quoted(region['png'])} in the folder")
        return Region("png", region["png"])
    unit = record.get("unit")
    if unit not in UNITS:
        sample.refuse(f"region {number} has polygons, and unit is {_shown(record, 'unit')}, not px or norm1")
    return Region("polygons", region["polygons"], unit)
