"""What images and arrays hold: sizes, depths, values, colours. Read only to be told; nothing is converted."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError, quoted
from groundeval.sources import images, npy, npz, png
from groundeval.sources.folder import Source

MOST_BYTES = 1 << 28
MANY = 256  # so many different values or colours are not listed
_COLOURS = {png.GREY: "grey", png.RGB: "RGB", png.PALETTE: "palette", png.GREY_ALPHA: "grey + alpha", png.RGBA: "RGBA"}
_JPEG = b"\xff\xd8\xff"
_MOST_VALUES = 1_000_000
_SHOWN = 6


@dataclass
class Values:
    """What stands in the pixels: a value, or a colour as 0xRRGGBB. counts: none where there are more than MANY."""

    counts: Counter[float] | None = field(default_factory=Counter)
    low: float = float("inf")
    high: float = float("-inf")

    def add(self, array: NDArray[Any]) -> None:
        """Of a large array every n-th value counts."""
        some = array.reshape(-1)[:: -(-array.size // _MOST_VALUES)]
        some = some[np.isfinite(some)] if some.dtype.kind == "f" else some
        if not some.size:
            return
        self.low, self.high = min(self.low, float(some.min())), max(self.high, float(some.max()))
        if self.counts is not None:
            found, counts = np.unique(some, return_counts=True)
            self.counts.update(
                {float(v): int(c) for v, c in zip(found, counts, strict=True)} if len(found) <= MANY else {}
            )
            self.counts = self.counts if max(len(found), len(self.counts)) <= MANY else None


@dataclass
class Pictures:
    """All pictures and arrays of some files. values, colours: by their kind; broken: what cannot be read."""

    sizes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    values: dict[str, Values] = field(default_factory=dict)
    colours: Values = field(default_factory=Values)
    broken: list[str] = field(default_factory=list)


def size(data: bytes, where: str) -> tuple[int, int] | None:
    """Height and width of a picture or array, None for anything else."""
    try:
        shapes = [array.shape for _, array in _arrays(data, where)]
    except InputError:
        return None
    flat = [shape[:2] if len(shape) < 3 or shape[2] < 5 else shape[-2:] for shape in shapes if len(shape) > 1]
    return (int(flat[0][0]), int(flat[0][1])) if flat else None


def packed(pixels: NDArray[Any]) -> NDArray[np.uint32]:
    """RGB [H, W, 3] of 8 bits as 0xRRGGBB [H, W]."""
    return pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)


def look(source: Source, names: Iterable[str]) -> Pictures:
    """All pictures and arrays among the files."""
    found = Pictures()
    for name in names:
        try:
            for kind, array in _arrays(source.read(name), source.where(name)):
                found.kinds[kind] += 1
                found.sizes["x".join(map(str, array.shape))] += 1
                if _is_colour(kind, array):
                    found.colours.add(packed(array))
                elif array.dtype.kind in "biuf" and array.size:
                    found.values.setdefault(kind, Values()).add(array)
        except InputError as error:
            found.broken.append(error.line())
    return found


def told(found: Pictures) -> Iterator[str]:
    """Lines on what was found."""
    if found.kinds:
        yield f"kinds: {_counted(found.kinds)}"
        yield f"sizes (height x width): {_counted(found.sizes)}"
    for kind, values in found.values.items():
        yield f"values{f' of {kind}' if len(found.values) > 1 else ''}: {_listed(values)}"
    if found.kinds and found.colours.high >= 0:
        yield f"colours: {_coloured(found.colours)}"
    if found.broken:
        yield f"{len(found.broken)} cannot be read, the first: {found.broken[0]}"


def hexadecimal(colour: float) -> str:
    """#rrggbb, as the option colours of class_png takes it."""
    return f"#{int(colour):06x}"


def _is_colour(kind: str, array: NDArray[Any]) -> bool:
    return kind.endswith("RGB PNG") and array.dtype == np.uint8


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


def _listed(values: Values) -> str:
    """The most frequent values with their share, and the range."""
    span = f"from {values.low:g} to {values.high:g}"
    if values.counts is None:
        return f"more than {MANY} different, {span}"
    return f"{_shares(values.counts, lambda v: f'{v:g}')}; {span}" if values.counts else "none"


def _coloured(values: Values) -> str:
    if values.counts is None:
        return f"more than {MANY} different: photos, or overlays?"
    return _shares(values.counts, hexadecimal)


def _shares(counts: Counter[float], text: Any) -> str:
    total = sum(counts.values())
    common = ", ".join(f"{text(v)} ({100 * c / total:.3g} %)" for v, c in counts.most_common(_SHOWN))
    return common + (f", ... {len(counts)} different in all" if len(counts) > _SHOWN else "")


def _counted(found: Counter[str]) -> str:
    listed = ", ".join(f"{name} ({count})" for name, count in found.most_common(_SHOWN))
    return listed + (f", ... {len(found)} in all" if len(found) > _SHOWN else "")
