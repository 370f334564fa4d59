"""Which files there are, and what each kind holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import pyarrow as pa

from groundeval.errors import first_of
from groundeval.inspection import madeup, pictures, records
from groundeval.inspection.part import JSON, LINES, Seen
from groundeval.inspection.pictures import Pictures
from groundeval.sources.folder import Source

_FILES = 3  # JSON files that are told of


def told(source: Source, seen: Seen, found: Pictures) -> Iterator[str]:
    """Lines on the whole source, and on the part that was looked at."""
    names = source.names()
    kinds = Counter(PurePosixPath(n).suffix.lower() or "no suffix" for n in names)
    what = "a file" if source.single else "a folder" if source.path.is_dir() else "an archive"
    yield f"{source.path}: {what}, {_bytes(source.path)}; {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}"
    if len(names) > 1:
        yield f"looked at {len(seen.part.names())} of {len(names)} files"
    yield from pictures.told(found)
    texts = seen.part.names(*JSON, *LINES)
    for name in texts if len(texts) <= _FILES else texts[:1]:
        lines = (
            records.told(seen.values[name]) if name in seen.values else [seen.faults.get(name, "is not looked into")]
        )
        yield from (f"{name}: {line}" for line in lines)


def look(seen: Seen) -> Pictures:
    """The pictures and arrays of the part."""
    return pictures.look(seen.part, [n for n in seen.part.names() if not n.lower().endswith((*JSON, *LINES))])


def matched(found: Sequence[str], manifest: pa.Table, through: Sequence[str], mapping: bool) -> Iterator[str]:
    """How many are samples of the split, or images of it. through: files that lead from names to samples; mapping: whether
    a format here takes such a file."""
    samples = manifest["sample_id"].to_pylist()
    distinct, known = list(dict.fromkeys(found)), set(samples)
    strange = [n for n in distinct if n not in known]
    yield f"ids: {len(distinct) - len(strange)} of {len(distinct)} names are samples of the split, of which it has {len(known)}"
    if strange:
        yield f"  not samples: {len(strange)}, {first_of(strange)}; a sample is {first_of(samples)[6:]}"
    by_image = madeup.known(manifest) - known
    if n := sum(name in by_image for name in strange):
        yield f"  {n} of them are names of images: an image of several samples does not say of which it is the answer"
    if strange and through:
        yield f"  {through[0]} may lead from them to samples"
    elif strange and mapping and not n:
        yield '  a format with an option map takes a JSON file beside the answers, {"name of an answer": "sample_id"}'


def _bytes(path: Path) -> str:
    size = sum(p.stat().st_size for p in path.rglob("*") if p.is_file()) if path.is_dir() else path.stat().st_size
    return f"{size / 1e6:.3g} MB" if size >= 1e4 else f"{size} bytes"
