"""sam3_agent: what SAM 3's agent writes, one JSON file an image and prompt, with bare run-length strings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError
from groundeval.formats import Format, _files, _json_files, _names, _rle
from groundeval.sources.folder import Source

_BY_PROMPT = replace(
    _names.OPTIONS["names"],
    help="what an answer is named by: the sample's id; the file name of its image; or image_text, which goes by the "
    "image_path and text_prompt inside the file, to be those of exactly one sample",
    choices=("sample", "image", "image_text"),
)
FORMAT = Format(
    name="sam3_agent",
    shape="mask",
    reads="a folder with one JSON a sample, {name}.json or {name}_pred.json: {orig_img_h, orig_img_w, pred_masks: [counts]}",
    options={**_names.OPTIONS, "names": _BY_PROMPT},
    example="""\
{"orig_img_h": 480, "orig_img_w": 640, "pred_masks": ["U`b4e0[>0kah4"], "pred_scores": [0.91],
 "pred_boxes": [[0.1, 0.2, 0.3, 0.1]], "image_path": "images/2331.jpg", "text_prompt": "the handle of the mug"}""",
    traps="""\
A mask is a bare counts string: its size stands beside, as orig_img_h and orig_img_w, and is checked.
The agent names a file {image}_{prompt}_agent_{llm}_pred.json, cut to 200 characters: declare names=image_text.
It drops masks of fewer than 5 characters, so a mask of a corner or a full one can be lost before the file is written.
An empty pred_masks says that nothing is there. All masks are joined; scores and boxes are not used.
Histories (*_history.json) and rendered images beside the files are not read.
Layout as of sam3/agent/inference.py and client_sam3.py of facebookresearch/sam3.""",
)
LAYOUT = _files.Layout(r"(?P<name>.+?)(_pred)?\.(?i:json)", ".json", beside=r".+_history\.(?i:json)|.+\.(?i:jpe?g|png)")


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of masks in the manifest's order; see `formats` for what is an error and what a status."""

    def by_prompt(files: Mapping[str, str]) -> _names.Matched:
        keys = {name: _key(_json_files.load(source, file), source.where(file)) for name, file in files.items()}
        return _names.by_key(keys, _prompts(manifest), "image and text", str(source.path))

    matcher = by_prompt if options.get("names") == "image_text" and not options.get("map") else None
    return _json_files.batches(source, LAYOUT, manifest, options, notes, _masks_of, matcher)


def _masks_of(content: dict[str, Any], height: int, width: int, where: str) -> list[bytes]:
    _json_files.check_size(content, "orig_img_h", "orig_img_w", (height, width), where)
    found = enumerate(_json_files.listed(content, "pred_masks", where), 1)
    return [_rle.bare(mask, height, width, f"{where}, mask {number}") for number, mask in found]


def _key(content: Mapping[str, Any], where: str) -> _names.Key:
    image, text = content.get("image_path"), content.get("text_prompt")
    if not isinstance(image, str) or not isinstance(text, str):
        raise InputError(where, "has no image_path and text_prompt", "Declare names=sample or names=image instead.")
    return _names.stem(image), text


def _prompts(manifest: pa.Table) -> dict[_names.Key, list[str]]:
    """Image and text -> samples."""
    out: dict[_names.Key, list[str]] = {}
    for row in manifest.select(["sample_id", "image_id", "text"]).to_pylist():
        if row["text"] is not None:
            out.setdefault((_names.stem(row["image_id"]), row["text"]), []).append(row["sample_id"])
    return out
