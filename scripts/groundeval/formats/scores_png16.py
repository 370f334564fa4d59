"""scores_png16: a folder of 16-bit grey PNG score maps, one a sample and class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.formats import Format, _files, _maps
from groundeval.options import Option
from groundeval.sources import ids, images
from groundeval.sources.folder import Source

FORMAT = Format(
    name="scores_png16",
    shape="map",
    maps="classes",
    reads="a folder of 16-bit grey PNG, {sample_id}_{class}.png or {sample_id}/{class}.png, classes 0, 1, ...: one map each",
    options={
        "resize": Option(
            "choice",
            "bilinear: bring score maps of any other size to the scored size, in 16 bits",
            "none",
            ("none", "bilinear"),
        ),
    },
    example="""\
000000_0.png   the scores of class 0: round(probability * 65535)
000000_1.png
000000_2.png""",
    traps="""\
Every class of a sample needs its file, all of one size: a sample with some of them is invalid, not partly answered.
8-bit files are refused: a writer that cut to 8 bits also cut what ranks the pixels. So are palettes and colours.
Every value counts as it stands. Per-image stretching makes scores of different images incomparable.
PNG stores the high byte first; a writer that swapped them shows noise, which no reader can tell from scores.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+)[_/]\d{1,3}\.(?i:png)", "{sample_id}_{class}.png", several=True)


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """One row a sample of the manifest, in its order, with its score maps [C, H, W] of uint16.

    The number of classes is the option `classes` of the benchmark.
    """
    files = _files.find(source, LAYOUT, notes)
    ids.check(list(files), manifest.column("sample_id").to_pylist(), str(source.path))
    classes = int(options["classes"])

    def load(sample: str) -> NDArray[Any]:
        found = [_scores(source, name) for name in _in_order(files[sample], classes)]
        if sizes := {f.shape for f in found[1:]} - {found[0].shape}:
            raise InputError("", f"has maps of several sizes, {found[0].shape} and {sizes.pop()}", "")
        return np.stack(found)

    return _maps.rows({sample: sample for sample in files}, "_0.png", manifest, options, notes, load)


def _in_order(names: list[str], classes: int) -> list[str]:
    """The file of each class; InputError where one is absent, doubled, or of no class."""
    of: dict[int, list[str]] = defaultdict(list)
    for name in names:
        of[int(name[:-4].replace("_", "/").rsplit("/", 1)[1])].append(name)
    wrong = [n for number, n in of.items() if number >= classes or len(n) > 1]
    if wrong:
        raise InputError(
            "", f"has files that are no class of {classes}, or of one class twice: {', '.join(wrong[0])}", ""
        )
    if absent := [number for number in range(classes) if number not in of]:
        raise InputError("", f"has files of {len(of)} of {classes} classes, the first absent is {absent[0]}", "")
    return [of[number][0] for number in range(classes)]


def _scores(source: Source, name: str) -> NDArray[np.uint16]:
    found = images.decode(source.read(name), source.where(name))
    if found.ndim != 2 or found.dtype != np.uint16:
        kind = f"{found.dtype.itemsize * 8} bits" if found.ndim == 2 else "colour or transparency"
        raise InputError("", f"has a file of {kind}, {name}; expected grey of 16 bits", "")
    return found
