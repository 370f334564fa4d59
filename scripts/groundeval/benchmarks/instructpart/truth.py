"""From the official files to the manifest and the true masks."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from groundeval import tables
from groundeval.benchmarks.instructpart import FILES, entries, prompts
from groundeval.errors import InputError, first_of
from groundeval.metrics import masks
from groundeval.sources import binary, images
from groundeval.sources.folder import Source

SUFFIX = ".png"
_NAME_OF_THE_PART = 4  # the instruction "handle of the cabinet": shown where a run declares no setting


def manifest(raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str]) -> pa.Table:
    """The split's samples, sorted by id. An entry without a mask and a mask without an entry are InputErrors."""
    prompt = prompts.declared(options)
    folder, annotations = raw / FILES[split][0], FILES[split][1]
    found = entries.read(folder / annotations)
    source = Source(folder / "masks")
    _check_masks([e.sample_id for e in found], source)
    notes.update(_sharing(found))
    text = _NAME_OF_THE_PART if prompt is None else prompt
    rows = [_row(e, text, source) for e in sorted(found, key=lambda e: e.sample_id)]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def truth(raw: Path, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]) -> Iterator[pa.RecordBatch]:
    """The true masks in the manifest's order. A file that the manifest did not see is an InputError."""
    del options, notes
    yield from tables.rows_to_batches(_masks(raw, manifest), tables.truth_schema("mask"))


def _masks(raw: Path, manifest: pa.Table) -> Iterator[dict[str, Any]]:
    ids, digests = (manifest.column(name).to_pylist() for name in ("sample_id", "truth_sha256"))
    source = _source(raw, ids)
    for sample_id, digest in zip(ids, digests, strict=True):
        name = sample_id + SUFFIX
        where, data = source.where(name), source.read(name)
        if hashlib.sha256(data).hexdigest() != digest:
            raise InputError(where, "has changed since the manifest was made", "Make the manifest again.")
        yield {"sample_id": sample_id, "mask": masks.encode(binary.binarise(images.decode(data, where), where))}


def _source(raw: Path, ids: Sequence[str]) -> Source:
    """The masks folder that holds all samples of a manifest, which does not say its split."""
    for folder, _ in FILES.values():
        path = raw / folder / "masks"
        if path.is_dir() and {i + SUFFIX for i in ids} <= {p.name for p in path.iterdir()}:
            return Source(path)
    raise InputError(raw, "no split here has a mask for each sample of the manifest", "Make the manifest again.")


def _check_masks(ids: Sequence[str], source: Source) -> None:
    expected, found = {i + SUFFIX for i in ids}, source.names()
    absent = sorted(expected.difference(found))
    strange = sorted(set(found) - expected)
    if absent:
        what = f"{len(absent)} of {len(ids)} entries have no mask, {first_of(absent)}"
        raise InputError(source.path, what, "A mask is named {stem}-{object}-{part}.png, spaces as _.")
    if strange:
        what = f"{len(strange)} of {len(found)} files belong to no entry, {first_of(strange)}"
        raise InputError(source.path, what, "Use annotations and masks of the same split and release.")


def _sharing(found: Sequence[entries.Entry]) -> dict[str, int]:
    shared = sum(n for n in Counter(e.image_id for e in found).values() if n > 1)
    return {"samples that share their photo with another": shared} if shared else {}


def _row(entry: entries.Entry, text: int, source: Source) -> dict[str, Any]:
    name = entry.sample_id + SUFFIX
    data = source.read(name)
    head = images.header(data, source.where(name))
    return {
        "sample_id": entry.sample_id,
        "image_id": entry.image_id,
        "height": head.height,
        "width": head.width,
        "kind": None,
        "text": entry.instructions[text],
        "tags": {"object": entry.object, "part": entry.part, "affordance": entry.affordance},
        "truth_sha256": hashlib.sha256(data).hexdigest(),
    }
