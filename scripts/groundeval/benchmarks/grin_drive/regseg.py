"""The layout of Talk2Car-RegSeg: JSON keyed by split, then by index, and one mask image a sample.

Source: what the dataset's training code opens (github.com/kanji95/Talk2car-Refseg, dataloader/talk2car.py): `img` and
`command` of each entry, and `{mask folder}/gt_img_ann_{split}_{index}.png`, in which every value above 0 is target.
The folder is called mask_image_bin or val_masks_new there, so its name is not asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from groundeval.benchmarks.grin_drive.samples import Region, Sample
from groundeval.errors import InputError, first_of, quoted
from groundeval.sources import images, jsonfile
from groundeval.sources.folder import Source


def find(source: Source, split: str) -> tuple[str, Mapping[str, Any]] | None:
    """The one JSON file at the top of the folder that has an object for this split, and that object."""
    found = {}
    for name in source.names(".json"):
        tree = jsonfile.load(source.read(name), source.where(name)) if "/" not in name else None
        if isinstance(tree, dict) and isinstance(tree.get(split), dict):
            found[name] = tree[split]
    if len(found) > 1:
        what = f"{len(found)} JSON files with a split {quoted(split)}, {first_of(found)}"
        raise InputError(source.path, what, "Keep the one that the masks belong to.")
    return next(iter(found.items()), None)


def read(source: Source, split: str, name: str, entries: Mapping[str, Any]) -> list[Sample]:
    """The samples in the file's order, with ids {split}_{index} as in the masks' names; sizes are the masks' own."""
    pngs = _masks(source, split, entries)
    return [_sample(source, f"{split}_{i}", entry, source.where(name), pngs[i]) for i, entry in entries.items()]


def _masks(source: Source, split: str, entries: Mapping[str, Any]) -> dict[str, str]:
    """Index -> the mask's file name. One that is missing is an error: the training code puts a box in its place."""
    wanted = {f"gt_img_ann_{split}_{index}.png": index for index in entries}
    found: dict[str, str] = {}
    for name in source.names(".png"):
        index = wanted.get(name.rpartition("/")[2])
        if index in found:
            what = f"two masks of index {index}, {quoted(found[index])} and {quoted(name)}"
            raise InputError(source.path, what, "Keep one folder of masks.")
        if index is not None:
            found[index] = name
    missing = [file for file, index in wanted.items() if index not in found]
    if missing:
        what = f"{len(missing)} of {len(wanted)} samples of {split} have no mask, {first_of(missing)}"
        raise InputError(source.path, what, "Add the masks; a sample without a target has an empty one.")
    return found


def _sample(source: Source, sample_id: str, entry: Any, where: str, png: str) -> Sample:
    if not isinstance(entry, dict) or not isinstance(entry.get("img"), str):
        raise InputError(where, f"entry {quoted(sample_id)} has no img", "Use the file that came with the masks.")
    data, text = source.read(png), entry.get("command")
    head = images.header(data, source.where(png))
    region = Region("png", png, threshold=0)
    sha256, text = hashlib.sha256(data).hexdigest(), text if isinstance(text, str) else None
    return Sample(sample_id, entry["img"], head.height, head.width, text, where, (region,), sha256)
