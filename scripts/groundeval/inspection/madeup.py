"""The samples that formats are tried on: those that the files speak of, or, without a truth, what the files name them by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from groundeval import formats, tables
from groundeval.inspection import groups, pictures, records
from groundeval.inspection.part import JSON, LINES, Seen

_UNKNOWN = 1000  # height and width of a sample where nothing says them
_FEW = 50  # samples, at the least, so that messages have some to name

Sizes = Mapping[str, tuple[int, int]]


def narrowed(manifest: pa.Table, seen: Seen) -> pa.Table:
    """The samples that the part could be answers for. Annotations can lead to any."""
    if any(records.kind(value) == "annotations" for value in seen.values.values()):
        return manifest
    read = set(seen.part.names())
    named = {key for key, names in seen.keys.items() if read.intersection(names)}
    named |= {i for value in seen.records for i in records.ids(value)} | _mapped(seen)
    pairs = zip(manifest["sample_id"].to_pylist(), manifest["image_id"].to_pylist(), strict=True)
    rows = [row for row, (sample, image) in enumerate(pairs) if named & {sample, *_image_names(image)}]
    return manifest.take(sorted({*rows, *range(min(_FEW, manifest.num_rows))}))


def speaks_of(manifest: pa.Table, seen: Seen) -> set[str]:
    """The samples that some file or record of the whole source is named by, or by their image."""
    named = set(seen.ids) | _mapped(seen)
    pairs = zip(manifest["sample_id"].to_pylist(), manifest["image_id"].to_pylist(), strict=True)
    return {sample for sample, image in pairs if named & {sample, *_image_names(image)}}


def _mapped(seen: Seen) -> set[str]:
    """What maps of names to samples lead to."""
    return {i for value in seen.records if records.kind(value) == "names" for i in value.values()}


def manifest(name: str, seen: Seen) -> pa.Table:
    """Samples of the ids and sizes that the files have, as the format would name them."""
    sizes = {i: size for value in seen.records for i, size in records.sizes(value).items()} | _of_files(name, seen)
    texts = [i for value in seen.records for i in records.ids(value)]
    names = {*texts, *_files(name, seen)} or {groups.stem(file) for file in seen.part.names()}
    rows = [_row(i, i, None, sizes) for i in sorted(names)]
    return pa.Table.from_pylist(_annotated(seen) or rows, schema=tables.MANIFEST)


def _row(sample: str, image: str, text: str | None, sizes: Sizes) -> dict[str, Any]:
    height, width = sizes.get(sample, (_UNKNOWN, _UNKNOWN))
    return {"sample_id": sample, "image_id": image, "height": height, "width": width, "text": text, "tags": {}}


def _annotated(seen: Seen) -> list[dict[str, Any]]:
    """Of annotations that a model was run on: their samples, or their running numbers."""
    listed = [v["images"] for v in seen.values.values() if records.kind(v) == "annotations"]
    images = [i for found in listed for i in found if isinstance(i, dict)]
    rows = [_row(str(i["sample_id"]), str(i["sample_id"]), None, {}) for i in images if "sample_id" in i]
    other = [i for i in images if {"id", "original_id", "caption"} <= i.keys() and "sample_id" not in i]
    rows += [_row(str(i["id"]), str(i["original_id"]), str(i["caption"]), {}) for i in other]
    return sorted(rows, key=lambda row: str(row["sample_id"]))


def _files(name: str, seen: Seen) -> dict[str, str]:
    """Name -> one of its files, of the files of samples."""
    layout = getattr(formats.module(name), "LAYOUT", None)
    pattern = re.compile(layout.answer if layout is not None else r"(?P<name>.+)\.[^./]+")
    files = {file for names in seen.keys.values() for file in names}
    found = ((file, pattern.fullmatch(file)) for file in seen.part.names() if file in files)
    return {match["name"]: file for file, match in found if match}


def _of_files(name: str, seen: Seen) -> dict[str, tuple[int, int]]:
    out = {}
    for sample, file in _files(name, seen).items():
        if file.lower().endswith((*JSON, *LINES)):
            size = records.size(seen.values.get(file))
        else:
            size = pictures.size(seen.part.read(file), file)
        if size is not None:
            out[sample] = size
    return out


def _image_names(image: str) -> Sequence[str]:
    path = PurePosixPath(image.replace("\\", "/"))
    return (str(path), path.name, path.stem)


def known(manifest: pa.Table | None) -> frozenset[str]:
    """How files may begin, for `groups.of`: the ids of the samples, and the names of their images."""
    if manifest is None:
        return frozenset()
    names = {name for image in manifest["image_id"].to_pylist() for name in _image_names(image)}
    return frozenset(names | set(manifest["sample_id"].to_pylist()))
