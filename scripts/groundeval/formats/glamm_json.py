"""glamm_json: what GLaMM's inference for grounded conversations writes, one JSON file an image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval.formats import Format, _files, _json_files, _names, _rle
from groundeval.sources.folder import Source

FORMAT = Format(
    name="glamm_json",
    shape="mask",
    reads="a folder with one JSON a sample, {name}.json: {image_id, caption, phrases, pred_masks: [{size, counts}, ...]}",
    options=_names.OPTIONS,
    example="""\
{"image_id": "2331", "caption": "The handle of a mug.", "phrases": ["The handle"],
 "pred_masks": [{"size": [480, 640], "counts": "U`b4e0[>0kah4"}]}""",
    traps="""\
GLaMM names a file by its image: declare names=image, or name files by sample ids. Its image_id is not read.
All masks are joined, whatever their phrases: ask for the target alone, not for a description of the scene.
An empty pred_masks says that nothing is there. Files of an earlier release wrap the object in {"image.jpg": {...}}.
Layout as of eval/gcg/infer.py and evaluate.py of mbzuai-oryx/groundingLMM.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+)\.(?i:json)", ".json")


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""
    return _json_files.batches(source, LAYOUT, manifest, options, notes, _masks_of)


def _masks_of(content: dict[str, Any], height: int, width: int, where: str) -> list[bytes]:
    inner = next(iter(content.values()), None)
    if len(content) == 1 and isinstance(inner, dict):
        content = inner
    found = enumerate(_json_files.listed(content, "pred_masks", where), 1)
    return [_rle.counts(mask, height, width, f"{where}, mask {number}") for number, mask in found]
