"""lisa_demo: the folder that the chat scripts of LISA, PixelLM and their kin write, {stem}_mask_{i}.jpg of 0 and 100."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.errors import InputError
from groundeval.formats import Format, _files, _masks, _names
from groundeval.metrics import masks
from groundeval.options import Option
from groundeval.sources import images, jpeg
from groundeval.sources.folder import Source

FORMAT = Format(
    name="lisa_demo",
    shape="mask",
    reads="a folder of {stem}_mask_{i}.jpg, of the size of the image, values 0 and 100; several of a stem are joined",
    options={
        **_names.OPTIONS,
        "absent": Option(
            "choice",
            "what a sample without a file is: lost, or a model that answered without a mask, for which no file is written",
            "missing",
            ("missing", "none"),
        ),
    },
    example="""\
vis_output/
  2331_mask_0.jpg         about 0 background, about 100 foreground
  2331_masked_img_0.jpg   the overlay, not read""",
    traps="""\
The stem is the image's name up to its first dot: names=image, and samples that share a photo overwrote each other's
file, so they are invalid. Ask for one image name a sample (a copy of the photo as {sample_id}.jpg), or give a map
{"2331": "2331-mug-handle"}.
Foreground is above 50, halfway between 0 and 100; JPEG blurs edges. Values above 177 are not the script's: mask_jpeg.
The script writes no file where the model gave no mask: only --set absent=none says that this is its answer.
Files of an earlier run stay in the folder: empty it before a run, or an old _mask_1 is joined to a new _mask_0.
Layout as of chat.py of dvlab-research/LISA; PixelLM's, by scripts derived from it, with one file a mask.""",
)
LAYOUT = _files.Layout(
    r"(?P<name>.+)_mask_\d+\.(?i:jpe?g)", "{stem}_mask_{i}.jpg", beside=r".+_masked_img_\d+\.(?i:jpe?g)", several=True
)
THRESHOLD, BRIGHTEST = 50, 177  # between 0 and 100; between 100 and 255


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    files = _files.find(source, LAYOUT, notes, [options.get("map")])
    matched = _names.match(files, manifest, options, source)

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        name = matched.answer(sample_id, source)
        if name is None:
            return masks.empty(height, width) if options["absent"] == "none" else None
        if len(files[name]) > 1:
            notes["masks joined from several files"] += 1
        return masks.union([_mask(source, file, (height, width)) for file in files[name]], height, width)

    yield from _masks.batches(manifest, counts, notes)


def _mask(source: Source, file: str, size: tuple[int, int]) -> bytes:
    where, data = source.where(file), source.read(file)
    head = jpeg.header(data, where)
    _masks.check_size((head.height, head.width), size, where)
    plane: NDArray[np.uint8] = images.decode_jpeg(data, where)
    if plane.max() > BRIGHTEST:
        what = f"has values up to {plane.max()}, these scripts write 0 and 100"
        raise InputError(where, what, "Use the format mask_jpeg, which takes any threshold.")
    return masks.encode(plane > THRESHOLD)
