"""DVC's stores: an object's name is the md5 of its bytes. `dvc status` believes the name; this reads the bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from groundeval.errors import first_of
from groundeval.verify.check import Check

CACHE = Path(".dvc/cache")


def check(store: Path) -> Check:
    """Every object of a cache, or of a remote that is a folder."""
    found = Check(f"objects of {store}")
    folder = store / "files" / "md5"
    objects = [path for path in sorted(folder.glob("??/*")) if path.is_file() and not path.name.endswith(".tmp")]
    altered = [path.relative_to(store).as_posix() for path in objects if _md5(path) != _named(path)]
    found.expect(
        not altered, f"{len(altered)} of {len(objects)} objects are not what their names say, {first_of(altered)}"
    )
    if not objects:
        found.leave(f"{store} holds no objects")
    return found


def _named(path: Path) -> str:
    return path.parent.name + path.name.removesuffix(".dir")


def _md5(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
