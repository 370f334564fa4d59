"""gRefCOCO's official files as the manifest and the truth: one sample is one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from groundeval import tables
from groundeval.benchmarks.grefcoco import official
from groundeval.errors import InputError

_BATCH = 1 << 16
_KINDS = np.array(["none", "single", "multi"], dtype=object)  # by number of boxes, 2 standing for more


def manifest(raw: Path, split: str, options: Mapping[str, Any], notes: Counter[str]) -> pa.Table:  # noqa: ARG001
    """The expressions of a split: image_id is COCO's, sizes are from `instances.json`, kind is by number of boxes."""
    refs, instances = official.refs(raw), official.instances(raw)
    rows, ends = official.targets(refs, instances, str(raw / official.REFS))
    inside = refs.split == split
    _note(refs, instances, rows, ends, inside, notes)
    samples = np.flatnonzero(inside[refs.ref])
    ref = refs.ref[samples]
    images = official.find(instances.image_id, refs.image[ref], "image", str(raw / official.REFS))
    columns = {
        "sample_id": refs.sample_id.take(samples),
        "image_id": pa.array(refs.image[ref]).cast(pa.string()),
        "height": pa.array(instances.size[images, 0], pa.int32()),
        "width": pa.array(instances.size[images, 1], pa.int32()),
        "kind": pa.array(_KINDS[np.minimum(np.diff(ends)[ref], 2)], pa.string()),
        "text": refs.text.take(samples),
        "tags": _no_tags(len(samples)),
        "truth_sha256": pa.nulls(len(samples), pa.string()),
    }
    table = pa.table(columns, schema=tables.MANIFEST)
    return table.take(pc.sort_indices(table["sample_id"]))


def truth(
    raw: Path,
    manifest: pa.Table,
    options: Mapping[str, Any],  # noqa: ARG001
    notes: Counter[str],  # noqa: ARG001
) -> Iterator[pa.RecordBatch]:
    """The boxes of the manifest's samples, in the order of the ref's annotation ids; none is an empty list."""
    refs, instances = official.refs(raw), official.instances(raw)
    rows, ends = official.targets(refs, instances, str(raw / official.REFS))
    ids = manifest["sample_id"].combine_chunks()
    samples = pc.index_in(ids, refs.sample_id)
    if samples.null_count:
        what = "not the file that the manifest was made from"
        raise InputError(raw / official.REFS, what, "Make the manifest again.")
    ref = refs.ref[samples.to_numpy()]
    lengths = np.diff(ends)[ref]
    own = np.concatenate([[0], np.cumsum(lengths)])
    of_sample = np.arange(own[-1]) + np.repeat(ends[ref] - own[:-1], lengths)
    boxes = tables.pack_boxes(instances.boxes[rows[of_sample]], own)
    arrays = [ids, boxes, pa.nulls(len(ids), pa.list_(pa.float64()))]
    yield from pa.table(arrays, schema=tables.truth_schema("boxes")).to_batches(_BATCH)


def _note(
    refs: official.Refs,
    instances: official.Instances,
    rows: official.Integers,
    ends: official.Integers,
    inside: Any,
    notes: Counter[str],
) -> None:
    """Count the release's oddities: none of them changes what the official evaluator does."""
    said = np.bincount(refs.ref, minlength=len(refs.image))
    empty = np.diff(ends) == 0
    claims = (refs.no_target == True) & ~empty | (refs.no_target == False) & empty  # noqa: E712
    owner = np.repeat(np.arange(len(empty)), np.diff(ends))
    strange = refs.image[owner] != instances.image[rows]
    found = {
        "refs without sentences skipped": inside & (said == 0),
        "refs whose no_target contradicts their annotations, which decide": inside & claims,
        "true boxes that belong to another image than their ref, kept": inside[owner] & strange,
    }
    notes.update({note: count for note, where in found.items() if (count := int(np.sum(where)))})


def _no_tags(count: int) -> pa.Array:
    none = pa.array([], pa.string())
    return pa.MapArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), none, none)
