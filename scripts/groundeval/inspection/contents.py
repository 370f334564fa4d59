"""Which files there are, and what each kind holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from groundeval.errors import first_of
from groundeval.inspection import pictures, records
from groundeval.inspection.part import JSON, LINES, Part
from groundeval.sources.folder import Source


def told(source: Source, part: Part, values: Mapping[str, Any], faults: Mapping[str, str]) -> Iterator[str]:
    """Lines on the whole source, and on the part that was looked at."""
    names = source.names()
    kinds = Counter(PurePosixPath(n).suffix.lower() or "no suffix" for n in names)
    what = "a file" if source.single else "a folder" if source.path.is_dir() else "an archive"
    yield f"{source.path}: {what}, {_bytes(source.path)}; {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}"
    texts = part.names(*JSON, *LINES)
    rest = [n for n in part.names() if n not in set(texts)]
    if rest:
        yield f"looked at {len(rest)} of {len(names)} files"
        yield from pictures.told(part, rest)
    for name in texts[:3]:
        if name in values:
            yield from (f"{name}: {line}" for line in records.told(values[name]))
        else:
            yield f"{name}: {faults[name]}"


def names(part: Part, values: Mapping[str, Any]) -> list[str]:
    """What could be ids of samples: of records where there are any, else the files' names without suffix."""
    found = [i for value in values.values() for i in records.ids(value)]
    return found or [str(PurePosixPath(n).with_suffix("")) for n in part.names()]


def sizes(part: Part, values: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Height and width by what could be an id, as far as the files say."""
    out = {i: size for value in values.values() for i, size in records.sizes(value).items()}
    for name in [] if values else part.names():
        if found := pictures.size(part.read(name), part.where(name)):
            out[str(PurePosixPath(name).with_suffix(""))] = found
    return out


def matched(found: Sequence[str], samples: Sequence[str], images: Sequence[str]) -> Iterator[str]:
    """How many are samples of the split, or images of it."""
    distinct, known = list(dict.fromkeys(found)), set(samples)
    strange = [n for n in distinct if n not in known]
    yield f"ids: {len(distinct) - len(strange)} of {len(distinct)} names are samples of the split, of which it has {len(known)}"
    if strange:
        yield f"  not samples: {len(strange)}, {first_of(strange)}; a sample is {first_of(samples)[6:]}"
    by_image = {n for i in images for n in (i, PurePosixPath(i).stem)}
    if strange and (n := sum(PurePosixPath(s).stem in by_image for s in strange)):
        yield f"  {n} of them are names of images: one image can have several samples"


def _bytes(path: Path) -> str:
    size = sum(p.stat().st_size for p in path.rglob("*") if p.is_file()) if path.is_dir() else path.stat().st_size
    return f"{size / 1e6:.3g} MB" if size >= 1e4 else f"{size} bytes"
