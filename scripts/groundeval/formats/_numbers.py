"""Running numbers of a converted annotation file (MDETR's and its kin), back to the samples of the manifest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError, first_of, quoted
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

Key = tuple[str, ...]


def keys(source: Source, name: str) -> dict[str, Key]:
    """Number -> what leads to its sample."""
    where = source.where(name)
    content = jsonfile.load(source.read(name), where)
    images = content.get("images") if isinstance(content, dict) else None
    if not isinstance(images, list) or not all(isinstance(i, dict) and type(i.get("id")) is int for i in images):
        raise InputError(where, "has no list images with an id each", "Give the file that the model was run on.")
    return {str(image["id"]): _key(image, where) for image in images}


def _key(image: Mapping[str, Any], where: str) -> Key:
    if "sample_id" in image:
        return (str(image["sample_id"]),)
    if "ref_id" in image and "sent_id" in image:
        return (f"{image['ref_id']}:{image['sent_id']}",)
    if "original_id" in image and isinstance(image.get("caption"), str):
        return str(image["original_id"]), image["caption"]
    raise InputError(where, f"image {image['id']} has no original_id and caption", "Convert the annotations again.")


def _samples(manifest: pa.Table) -> dict[Key, list[str]]:
    out: dict[Key, list[str]] = defaultdict(list)
    for row in manifest.select(["sample_id", "image_id", "text"]).to_pylist():
        out[(row["sample_id"],)].append(row["sample_id"])
        out[(row["image_id"], row["text"])].append(row["sample_id"])
    return out


def by_sample(
    records: Mapping[str, Any], keys: Mapping[str, Key], manifest: pa.Table, where: str
) -> tuple[dict[str, Any], list[str]]:
    """The record of each sample, and the samples whose record cannot be told from another's.

    A number without a key, or with one of no sample, is an InputError. Samples with one key share an answer; where there
    are several different ones, or fewer than samples, nobody knows whose they are.
    """
    samples = _samples(manifest)
    if unknown := [n for n in records if n not in keys]:
        what = f"{len(unknown)} of {len(records)} numbers are not in the annotations, {first_of(unknown)}"
        raise InputError(where, what, "Give the annotation file that the model was run on.")
    if strange := [n for n in records if keys[n] not in samples]:
        what = f"{len(strange)} of {len(records)} numbers are of no sample of this split, {first_of(strange)}"
        raise InputError(where, f"{what}, {quoted(' / '.join(keys[strange[0]]))}", "Check the split and the release.")
    answers: dict[Key, list[Any]] = defaultdict(list)
    for number, record in records.items():
        answers[keys[number]].append(record)
    content: dict[str, Any] = {}
    doubtful: list[str] = []
    for key, given in answers.items():
        if len(given) == len(samples[key]) and all(r == given[0] for r in given[1:]):
            content |= dict.fromkeys(samples[key], given[0])
        else:
            doubtful += samples[key]
    return content, doubtful
