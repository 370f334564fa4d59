"""mask_jpeg: a folder with one JPEG a sample, named by the sample's id, cut at a declared threshold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.formats import Format, _files, _masks, _names
from groundeval.metrics import masks
from groundeval.options import REQUIRED, Option
from groundeval.sources import binary, images, jpeg
from groundeval.sources.folder import Source

FORMAT = Format(
    name="mask_jpeg",
    shape="mask",
    reads="a folder with one JPEG a sample, {name}.jpg, of the size of the image",
    options={
        "threshold": Option("number", "foreground is what is strictly above it: 127 for masks of 0 and 255", REQUIRED),
        **_names.OPTIONS,
    },
    example="predictions/\n  2331-mug-handle.jpg   about 0 background, about 255 foreground",
    traps="""\
JPEG blurs edges: a mask of two values comes back with many, and no threshold recovers each pixel. Write PNG if you can.
The threshold lies halfway between the two values that were written: 127 for 0 and 255, 50 for 0 and 100 (see lisa_demo).
Pixels near the threshold (within a tenth of 255) are counted in the notes: many of them say that it is the wrong one.
A colour image, an overlay, and a picture turned by its EXIF orientation are refused, whatever the threshold.
A JPEG has no checksum: a file that was cut is found, a changed bit within the pixels is found in some cases only.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+)\.(?i:jpe?g)", ".jpg or .jpeg")
_NEAR = 26  # levels


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    files = {n: p[0] for n, p in _files.find(source, LAYOUT, notes, [options.get("map")]).items()}
    matched = _names.match(files, manifest, options, source)

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        name = matched.answer(sample_id, source)
        if name is None:
            return None
        where, data = source.where(files[name]), source.read(files[name])
        binary.check_threshold(options["threshold"], 255, where)
        head = jpeg.header(data, where)
        _masks.check_size((head.height, head.width), (height, width), where)
        return masks.encode(_above(images.decode_jpeg(data, where), options["threshold"], notes))

    yield from _masks.batches(manifest, counts, notes)


def _above(plane: NDArray[np.uint8], threshold: float, notes: Counter[str]) -> NDArray[np.bool_]:
    near = np.count_nonzero(np.abs(plane - np.float32(threshold)) < _NEAR)
    if near > plane.size // 20:
        notes["masks with more than a twentieth of their pixels near the threshold: is it the right one?"] += 1
    found: NDArray[np.bool_] = plane > threshold
    return found
