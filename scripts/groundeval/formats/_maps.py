"""What the formats with one map file a sample share: finding the files, and the sizes that a map may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from groundeval import cores, tables
from groundeval.errors import InputError, first_of
from groundeval.metrics import resize
from groundeval.sources import ids
from groundeval.sources.folder import Source

Size = tuple[int, int]  # height, width

_LOSSY = (".jpg", ".jpeg", ".webp")
_RESAMPLED = {"nearest": (resize.nearest, resize.NAME), "bilinear": (resize.bilinear, "bilinear interpolation")}


@dataclass(frozen=True)
class Sizes:
    """The sizes at which a sample's map is scored as it is: the image's own, and the benchmark's, where it has one."""

    native: Size
    scored: Size
    known: Collection[Size] = ()  # of all images of the split, where they are known

    @classmethod
    def of(cls, native: Size, options: Mapping[str, Any], known: Collection[Size] = ()) -> Sizes:
        """scored: the option `eval_size`, "HEIGHTxWIDTH", that a benchmark with a fixed size declares."""
        height, _, width = (options.get("eval_size") or "").partition("x")
        return cls(native, (int(height), int(width)) if width else native, known)

    def fault(self, found: Size) -> str | None:
        """What is wrong with a map's size, naming it and what is expected, or None."""
        accepted = dict.fromkeys((self.scored, self.native))
        if found in accepted:
            return None
        cause = "; height and width look swapped" if found[::-1] in accepted else ""
        if not cause and self.known and found not in self.known:
            cause = "; no image here has that size: is it the network's?"
        return f"is {text(found)}, expected {' or '.join(map(text, accepted))} (height x width){cause}"


def text(size: Size) -> str:
    """HEIGHTxWIDTH."""
    return f"{size[0]}x{size[1]}"


def batches(
    source: Source,
    suffix: str,
    manifest: pa.Table,
    options: Mapping[str, Any],
    notes: Counter[str],
    load: Callable[[str], NDArray[Any]],
) -> Iterator[pa.RecordBatch]:
    """Prediction rows in the order of the manifest. load: file name -> maps [..., H, W]; its InputError is "invalid"."""
    found = files(source, suffix, manifest, notes)
    return rows(found, suffix, manifest, options, notes, load)


def rows(
    found: Mapping[str, str],
    suffix: str,
    manifest: pa.Table,
    options: Mapping[str, Any],
    notes: Counter[str],
    load: Callable[[str], NDArray[Any]],
) -> Iterator[pa.RecordBatch]:
    """As `batches`, of samples whose files are known: sample id -> what `load` takes, and messages name."""
    ids_, heights, widths = (manifest.column(name).to_pylist() for name in ("sample_id", "height", "width"))
    natives = list(zip(heights, widths, strict=True))
    known = frozenset(natives)

    def row(of: tuple[str, Size]) -> dict[str, Any]:
        sample, native = of
        if sample not in found:
            return {"sample_id": sample, "status": "missing", "reason": f"no file {sample}{suffix}"}
        try:
            maps = _fitted(load(found[sample]), Sizes.of(native, options, known), options.get("resize"), notes)
        except InputError as error:
            return {"sample_id": sample, "status": "invalid", "reason": f"{found[sample]} {error.what}"}
        return {"sample_id": sample, "status": "answered", "maps": maps}

    made = cores.mapped(row, zip(ids_, natives, strict=True), notes, part=2)
    return tables.rows_to_batches(map(_packed, made), tables.predictions_schema("map"))


def _packed(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table: an array can come from another process, a view of its bytes cannot."""
    return {**row, **tables.pack_map(row["maps"])} if "maps" in row else row


def files(source: Source, suffix: str, manifest: pa.Table, notes: Counter[str]) -> dict[str, str]:
    """Sample id -> file name. A file of no sample, or a lossy image, is an InputError; other files are noted."""
    source.expect_folder(f"{suffix} files")
    everything = source.names()
    if lossy := [name for name in everything if name.lower().endswith(_LOSSY)]:
        what = f"{len(lossy)} files in a lossy image format, {first_of(lossy)}; it changes class values"
        raise InputError(source.path, what, f"Save one {suffix} file a sample.")
    names = [name for name in everything if name.lower().endswith(suffix)]
    if others := len(everything) - len(names):
        notes[f"files that are not {suffix}, not read"] += others
    samples = [name[: -len(suffix)] for name in names]
    ids.check(samples, manifest.column("sample_id").to_pylist(), str(source.path))
    return dict(zip(samples, names, strict=True))


def _fitted(maps: NDArray[Any], sizes: Sizes, how: str | None, notes: Counter[str]) -> NDArray[Any]:
    """The maps as they are where their size is one that is scored, else resampled where that is declared."""
    found: Size = maps.shape[-2], maps.shape[-1]
    fault = sizes.fault(found)
    if fault and how not in _RESAMPLED:
        raise InputError("", f"{fault}; the option resize would resample it", "")
    if fault:
        resampled, name = _RESAMPLED[str(how)]
        notes[f"predictions resized from {text(found)} to {text(sizes.scored)} by {name}"] += 1
        return resampled(maps, sizes.scored)
    if found == sizes.scored:
        notes[f"predictions at {text(found)}"] += 1
    else:
        notes[f"predictions at native size, brought to {text(sizes.scored)} by {resize.NAME}"] += 1
    return maps
