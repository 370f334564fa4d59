"""mask_png: a folder with one PNG a sample, named by the sample's id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval.formats import Format, _files, _masks
from groundeval.metrics import masks
from groundeval.options import Option
from groundeval.sources import binary, ids, images
from groundeval.sources.folder import Source

LAYOUT = _files.Layout(r"(?P<name>.+)\.(?i:png)", ".png")

FORMAT = Format(
    name="mask_png",
    shape="mask",
    reads="a folder with one PNG a sample, {sample_id}.png, of the size of the image",
    options={
        "threshold": Option("number", "foreground is what is strictly above it; without it a mask has two values"),
    },
    example="predictions/\n  2331-mug-handle.png   0 background, 255 (or 1, or any one other value) foreground",
    traps="""\
A mask of 0 and 1 looks black in a viewer and is fine. A constant mask of 0 is empty, of anything else full.
A palette gives its indices, never its colours. RGB is read only where the channels agree, alpha only where opaque.
An all-background mask says "nothing is there": it is not the same as a missing file.
A JPEG is refused, whatever its name: its values are no longer the two that were written.""",
)


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    names = {name: paths[0] for name, paths in _files.find(source, LAYOUT, notes).items()}
    ids.check(list(names), manifest.column("sample_id").to_pylist(), str(source.path))
    threshold = options.get("threshold")

    def counts(sample_id: str, height: int, width: int) -> bytes | None:
        if sample_id not in names:
            return None
        where, data = source.where(names[sample_id]), source.read(names[sample_id])
        head = images.header(data, where)
        _masks.check_size((head.height, head.width), (height, width), where)
        found = masks.encode(binary.binarise(images.decode(data, where), where, threshold))
        if found == masks.full(height, width):
            notes["masks that are foreground everywhere"] += 1
        return found

    yield from _masks.batches(manifest, counts, notes)
