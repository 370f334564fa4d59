"""The official files as arrays: `grefs(unc).json` and `instances.json`. The pickle beside them is never opened.

Loader that this follows: henghuiding/gRefCOCO, mdetr/scripts/fine-tuning/grefexp_coco_format.py (commit b4b1e55).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
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
    """R refs in the file's order, and their S expressions."""

    split: NDArray[Any]  # [R] text
    image: Integers  # [R] COCO image ids
    annotations: Integers  # ids of all refs, one ref after the other
    ends: Integers  # [R + 1] where each ref's ids end
    no_target: NDArray[Any]  # [R] what the ref itself says, or None
    sample_id: pa.Array  # [S] "{ref_id}:{sent_id}"
    text: pa.Array  # [S]
    ref: Integers  # [S] row of the ref


@dataclass(frozen=True)
class Instances:
    """COCO's I images and A annotations, both sorted by id."""

    image_id: Integers  # [I]
    size: Integers  # [I, 2] height, width
    id: Integers  # [A]
    image: Integers  # [A] image ids
    boxes: NDArray[np.float64]  # [A, 4] xyxy, pixels
    dummy: NDArray[np.bool_]  # [A] stands for "no target"


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
    owner = np.repeat(np.arange(len(of.image)), np.diff(of.ends))
    real = of.annotations != NO_TARGET
    rows = np.zeros(len(real), np.int64)
    rows[real] = find(known.id, of.annotations[real], "annotation", where)
    empty = np.zeros(len(of.image), bool)
    empty[owner[~real | known.dummy[rows] & real]] = True
    kept = ~empty[owner]
    if np.any(real & ~known.dummy[rows] & ~kept):
        raise InputError(where, f"a ref names {NO_TARGET} or a dummy beside real annotations", _FIX)
    return rows[kept], np.concatenate([[0], np.cumsum(kept)])[of.ends]


def find(sorted_ids: Integers, wanted: Integers, what: str, where: str) -> Integers:
    """Rows of the wanted ids; one that is not there is an InputError."""
    rows = np.searchsorted(sorted_ids, wanted)
    unknown = wanted[np.append(sorted_ids, np.iinfo(np.int64).max)[rows] != wanted]
    if len(unknown):
        said = f"{len(np.unique(unknown))} {what} ids are not in {INSTANCES}, {first_of(unknown.tolist())}"
        raise InputError(where, said, "Take both files from one release.")
    return rows


def _refs(content: Any, where: str) -> Refs:
    names, images, splits, found = _columns(content, "ref_id", "image_id", "split", "ann_id")
    sentences = [ref.get("sentences") or [] for ref in content]
    ids = pa.array(
        [f"{n}:{said['sent_id']}" for n, of in zip(names, sentences, strict=True) for said in of], pa.string()
    )
    if len(ids.unique()) != len(ids):
        raise InputError(where, "the same ref_id and sent_id stand more than once", _FIX)
    annotations = [a if isinstance(a, list) else [a] for a in found]
    return Refs(
        split=np.array(splits, dtype=object),
        image=_integers(images),
        annotations=_integers(list(chain.from_iterable(annotations))),
        ends=np.cumsum([0, *map(len, annotations)], dtype=np.int64),
        no_target=np.array([ref.get("no_target") for ref in content], dtype=object),
        sample_id=ids,
        text=pa.array([said["sent"] for said in chain.from_iterable(sentences)], pa.string()),
        ref=np.repeat(np.arange(len(content)), list(map(len, sentences))),
    )


def _instances(content: Any, where: str) -> Instances:
    ids, images, boxes = _columns(content["annotations"], "id", "image_id", "bbox")
    categories = [annotation.get("category_id") for annotation in content["annotations"]]
    image_ids, *sizes = _columns(content["images"], "id", "height", "width")
    order, image_order = np.argsort(ids), np.argsort(image_ids)
    corners = np.array(boxes, np.float64).reshape(-1, 4)
    if np.any(corners[:, 2:] < 0):
        raise InputError(where, "a box of negative width or height", _FIX)
    corners[:, 2:] += corners[:, :2]
    return Instances(
        image_id=_integers(image_ids)[image_order],
        size=np.stack([_integers(size) for size in sizes], axis=1)[image_order],
        id=_integers(ids)[order],
        image=_integers(images)[order],
        boxes=corners[order],
        dummy=(np.array(categories, dtype=object) == NO_TARGET)[order],
    )


def _columns(entries: list[dict[str, Any]], *keys: str) -> list[tuple[Any, ...]]:
    """The values of some keys of all entries, fetched in one pass."""
    return list(zip(*map(itemgetter(*keys), entries), strict=True)) if entries else [() for _ in keys]


def _integers(values: Sequence[Any]) -> Integers:
    if not set(map(type, values)) <= {int}:
        raise TypeError(f"an id is {quoted(next(v for v in values if type(v) is not int))}, not a whole number")
    return np.array(values, np.int64)


def _cached(path: Path, read: Callable[[Any, str], T]) -> T:
    if not path.is_file():
        raise InputError(path, "no such file", f"The folder needs {REFS} and {INSTANCES}.")
    stat = path.stat()
    found: T = _read_once(path, (stat.st_mtime_ns, stat.st_size), read)
    return found


@lru_cache(maxsize=2)
def _read_once(path: Path, stamp: tuple[int, int], read: Callable[[Any, str], Any]) -> Any:  # noqa: ARG001
    where = str(path)
    with jsonfile.collector_paused(), _official_layout(where):
        return read(jsonfile.load(Source(path).read(path.name), where), where)


@contextmanager
def _official_layout(where: str) -> Iterator[None]:
    try:
        yield
    except KeyError as error:
        raise InputError(where, f"an entry has no {quoted(error.args[0])}", _FIX) from None
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(where, f"not in the official layout ({error})", _FIX) from None
