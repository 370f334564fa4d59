"""What images and arrays hold: sizes, depths, values. Read only to be told; nothing is converted."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError, quoted
from groundeval.sources import images, npy, npz, png
from groundeval.sources.folder import Source

MOST_BYTES = 1 << 28
_COLOURS = {png.GREY: "grey", png.RGB: "RGB", png.PALETTE: "palette", png.GREY_ALPHA: "grey + alpha", png.RGBA: "RGBA"}
_JPEG = b"\xff\xd8\xff"
_MOST_VALUES = 1_000_000
_SHOWN = 6


def size(data: bytes, where: str) -> tuple[int, int] | None:
    """Height and width of a picture or array, None for anything else."""
    try:
        shapes = [array.shape for _, array in _arrays(data, where)]
    except InputError:
        return None
    flat = [shape[:2] if len(shape) < 3 or shape[2] < 5 else shape[-2:] for shape in shapes if len(shape) > 1]
    return (int(flat[0][0]), int(flat[0][1])) if flat else None


def told(source: Source, names: Iterable[str]) -> Iterator[str]:
    """Lines on all pictures and arrays among the files, and on what cannot be read."""
    kinds: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    values: Counter[float] = Counter()
    broken: list[str] = []
    for name in names:
        try:
            for kind, array in _arrays(source.read(name), source.where(name)):
                kinds[kind] += 1
                sizes["x".join(map(str, array.shape))] += 1
                values.update(_values(array))
        except InputError as error:
            broken.append(error.line())
    if kinds:
        yield f"kinds: {_counted(kinds)}"
        yield f"sizes (height x width): {_counted(sizes)}"
        yield f"values: {_histogram(values)}"
    if broken:
        yield f"{len(broken)} cannot be read, the first: {broken[0]}"


def _arrays(data: bytes, where: str) -> Iterator[tuple[str, NDArray[Any]]]:
    if data.startswith(npy.MAGIC):
        array = npy.array(data, where, MOST_BYTES)
        yield f"{array.dtype} .npy", array
    elif data.startswith(b"PK"):
        for name in _members(data, where):
            array = npz.array(data, name, where, MOST_BYTES)
            yield f"{array.dtype} .npz {quoted(name)}", array
    elif data.startswith(_JPEG):
        yield "JPEG", images.decode_jpeg(data, where)
    else:
        head = images.header(data, where)
        yield f"{head.depth}-bit {_COLOURS[head.colour]} PNG", images.decode(data, where)


def _members(data: bytes, where: str) -> list[str]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as opened:
            return [n.removesuffix(".npy") for n in opened.namelist() if n.endswith(".npy")]
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(where, f"is not a readable .npz file ({error})", "") from None


def _values(array: NDArray[Any]) -> dict[float, int]:
    """Value -> count; of more than 64 distinct ones, their range in tenths. Of a large array every n-th value counts."""
    if array.dtype.kind not in "biuf" or not array.size:
        return {}
    some = array.reshape(-1)[:: -(-array.size // _MOST_VALUES)]
    found, counts = np.unique(some, return_counts=True)
    if len(found) > 64:
        finite = some[np.isfinite(some)].astype(np.float64)
        counts, edges = np.histogram(finite, 10)
        found = edges[:-1].round(6)
    return {float(v): int(c) for v, c in zip(found, counts, strict=True)}


def _histogram(values: Counter[float]) -> str:
    """The most frequent values with their share, and the range."""
    total = sum(values.values())
    if not total:
        return "none"
    common = ", ".join(f"{v:g} ({100 * c / total:.3g} %)" for v, c in values.most_common(_SHOWN))
    more = f", ... {len(values)} in all" if len(values) > _SHOWN else ""
    return f"{common}{more}; from {min(values):g} to {max(values):g}"


def _counted(found: Counter[str]) -> str:
    listed = ", ".join(f"{name} ({count})" for name, count in found.most_common(_SHOWN))
    return listed + (f", ... {len(found)} in all" if len(found) > _SHOWN else "")
