"""class_png: a folder of PNG class maps, one a sample, in which each pixel is a class number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.errors import InputError, quoted
from groundeval.formats import Format, _class_values, _maps
from groundeval.options import Option
from groundeval.sources import images
from groundeval.sources.folder import Source

FORMAT = Format(
    name="class_png",
    shape="map",
    maps="classes",
    reads="a folder of PNG class maps, {sample_id}.png, each pixel a class number",
    options={
        "resize": Option(
            "choice",
            "nearest: bring maps of any other size to the scored size by index table",
            "none",
            ("none", "nearest"),
        ),
        "colours": Option("text", 'which colour is which class, for RGB maps: "0=#000000 1=#00ff00 2=#ff0000"'),
    },
    example="000000.png\n000001.png",
    traps="""\
Grey of 8 or 16 bits counts by its value, a palette by its index, never by its colours. RGB needs the option colours.
RGBA and JPEG are refused. Another size than the benchmark's or the image's is an error; height and width come swapped.
A value that is no class ("ignore" as 255, train ids for label ids, a stretched map) is a wrong pixel, and is counted.""",
)
OUTSIDE = 255  # the class number of a colour that the table does not have


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """One row a sample of the manifest, in its order, with the class map as uint8 or uint16 [H, W]."""
    colours = _colours(options["colours"], str(source.path)) if options.get("colours") else None
    classes = int(options.get("classes") or 0)
    if beyond := sorted(n for n in (colours or {}).values() if classes and n >= classes):
        what = f"colours names class {beyond[0]}, the benchmark has the classes 0 to {classes - 1}"
        raise InputError(source.path, what, "Correct the table of colours.")
    seen = _class_values.Seen(classes, notes)

    def load(name: str) -> NDArray[Any]:
        found = _classes(images.decode(source.read(name), source.where(name)), colours, notes)
        if found.max(initial=0) >= classes:  # to look at each value costs more than to decode it
            seen.add(found)
        return found

    return _class_values.watched(_maps.batches(source, ".png", manifest, options, notes, load), seen)


def _classes(pixels: NDArray[Any], colours: Mapping[int, int] | None, notes: Counter[str]) -> NDArray[Any]:
    """Class numbers [H, W] of decoded pixels."""
    if pixels.ndim == 2:
        return pixels
    if pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        kind = {2: "grey with alpha", 3: "16-bit RGB", 4: "RGBA"}[pixels.shape[2]]
        raise InputError("", f"is {kind}, which is no class map; save class numbers as grey or palette PNG", "")
    if colours is None:
        raise InputError("", "is RGB; save class numbers as grey or palette PNG, or declare the option colours", "")
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    classes = np.full(packed.shape, OUTSIDE, np.uint8)
    for colour, number in colours.items():
        classes[packed == colour] = number
    if strange := np.count_nonzero(classes == OUTSIDE):
        notes["pixels of a colour outside the table, counted as wrong"] += int(strange)
    return classes


def _colours(said: str, where: str) -> dict[int, int]:
    """RGB as 0xRRGGBB -> class number."""
    fix = 'Write it as "0=#000000 1=#00ff00", classes 0 to 254, each colour once.'
    out: dict[int, int] = {}
    for part in said.replace(",", " ").split():
        matched = re.fullmatch(r"(\d{1,3})=#([0-9a-fA-F]{6})", part)
        if not matched or int(matched[1]) >= OUTSIDE or int(matched[2], 16) in out:
            raise InputError(where, f"colours has {quoted(part)}, which is no class=#rrggbb or doubles a colour", fix)
        out[int(matched[2], 16)] = int(matched[1])
    if not out:
        raise InputError(where, "colours names no colour", fix)
    return out
