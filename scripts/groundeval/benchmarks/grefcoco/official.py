"""The official files as arrays: `grefs(unc).json` and `instances.json`. The pickle beside them is never opened.

Loader that this follows: henghuiding/gRefCOCO, mdetr/scripts/fine-tuning/grefexp_coco_format.py (commit b4b1e55).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError, first_of, quoted
from groundeval.sources import jsonfile
from groundeval.sources.folder import Source

REFS, INSTANCES = "grefs(unc).json", "instances.json"
NO_TARGET = -1  # as an annotation's id, or as the category of the dummy annotation with the box [0, 0, 0, 0]
_FIX = "Take the file from the official release."

Integers = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class Refs:
    """Refs, in the file's order, and their expressions."""

    split: NDArray[Any]  # [R] text
    image: NDArray[Any]  # [R] COCO image ids
    annotations: list[list[Any]]  # [R] annotation ids, [-1] for no target
    no_target: NDArray[Any]  # [R] what the ref itself says, or None
    sample_id: list[str]  # [S] "{ref_id}:{sent_id}"
    text: list[Any]  # [S]
    ref: Integers  # [S] row of the ref


@dataclass(frozen=True)
class Instances:
    """COCO's images and annotations."""

    size: dict[Any, tuple[int, int]]  # image id -> height, width
    row: dict[Any, int]  # annotation id -> row
    boxes: NDArray[np.float64]  # [A, 4] xyxy, pixels
    image: NDArray[Any]  # [A] image ids
    category: NDArray[Any]  # [A]


def refs(raw: Path) -> Refs:
    """The refs of a folder, kept for the next caller while the file stays the same."""
    return _cached(raw / REFS, _refs)


def instances(raw: Path) -> Instances:
    """The annotations of a folder, kept in the same way."""
    return _cached(raw / INSTANCES, _instances)


def targets(of: Refs, known: Instances, where: str) -> tuple[Integers, Integers]:
    """Rows of the annotations of all refs, one ref after the other, and the ends [R + 1] of each ref's rows.

    A ref has no target if its ids are [-1] or if any of its annotations is a dummy, as in the official evaluator. Crowd
    annotations are targets like all others.
    """
    real = [[] if ids == [NO_TARGET] else ids for ids in of.annotations]
    unknown = [i for i in chain.from_iterable(real) if i not in known.row]
    if unknown:
        what = f"{len(unknown)} annotation ids are not in {INSTANCES}, {first_of(unknown)}"
        raise InputError(where, what, "Take both files from one release.")
    rows = [[known.row[i] for i in ids] for ids in real]
    dummy = set(np.flatnonzero(known.category == NO_TARGET).tolist())
    if dummy:
        rows = [[] if dummy.intersection(r) else r for r in rows]
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.fromiter(chain.from_iterable(rows), np.int64, ends[-1]), ends


def _refs(content: Any, where: str) -> Refs:
    sentences = [ref.get("sentences") or [] for ref in content]
    ids = [f"{r['ref_id']}:{s['sent_id']}" for r, said in zip(content, sentences, strict=True) for s in said]
    if len(set(ids)) != len(ids):
        raise InputError(where, "the same ref_id and sent_id stand more than once", _FIX)
    return Refs(
        split=np.array([ref["split"] for ref in content], dtype=object),
        image=np.array([ref["image_id"] for ref in content]),
        annotations=[a if isinstance(a := ref["ann_id"], list) else [a] for ref in content],
        no_target=np.array([ref.get("no_target") for ref in content], dtype=object),
        sample_id=ids,
        text=[s["sent"] for said in sentences for s in said],
        ref=np.repeat(np.arange(len(content)), [len(said) for said in sentences]),
    )


def _instances(content: Any, where: str) -> Instances:
    found = content["annotations"]
    boxes = np.array([a["bbox"] for a in found], np.float64).reshape(len(found), 4)
    if np.any(boxes[:, 2:] < 0):
        raise InputError(where, "a box of negative width or height", _FIX)
    boxes[:, 2:] += boxes[:, :2]
    return Instances(
        size={image["id"]: (image["height"], image["width"]) for image in content["images"]},
        row={a["id"]: row for row, a in enumerate(found)},
        boxes=boxes,
        image=np.array([a["image_id"] for a in found]),
        category=np.array([a.get("category_id") for a in found], dtype=object),
    )


def _cached(path: Path, read: Callable[[Any, str], T]) -> T:
    source, stat = Source(path), path.stat()
    found: T = _read_once(source.where(path.name), (stat.st_mtime_ns, stat.st_size), read)
    return found


@lru_cache(maxsize=2)
def _read_once(path: str, stamp: tuple[int, int], read: Callable[[Any, str], Any]) -> Any:  # noqa: ARG001
    content = jsonfile.load(Source(Path(path)).read(path), path)
    with _official_layout(path):
        return read(content, path)


@contextmanager
def _official_layout(where: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise InputError(where, f"an entry has no {quoted(error.args[0])}", _FIX) from None
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(where, f"not in the official layout ({error})", _FIX) from None
