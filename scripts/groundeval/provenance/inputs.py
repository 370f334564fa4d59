"""The files that went into a run: their sha256 one by one, and one Merkle root over them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundeval.digests import file_sha256, merkle_root
from groundeval.errors import first_of
from groundeval.sources.folder import Source

LISTED = 1000  # of more files only the root and the number are kept: the record stays small beside the results


def file(path: Path, name: str | None = None) -> dict[str, Any]:
    """One file: its name and sha256."""
    return {"name": name or path.as_posix(), "sha256": file_sha256(path)}


def files(path: Path, name: str | None = None) -> dict[str, Any]:
    """A file or folder as a user delivered it: how many files, their root, and up to LISTED of them by name."""
    named = listing(path)
    said = {"name": name or path.as_posix(), "files": len(named), "merkle_root": merkle_root(named)}
    return {**said, "sha256": named} if len(named) <= LISTED else said


def listing(path: Path) -> dict[str, str]:
    """Name -> sha256 of every file that a reader would see below `path`. A link is named with where it leads.

    An archive is the one file that it is.
    """
    paths = {path.name: path} if path.is_file() else {name: path / name for name in Source(path).names()}
    return {_shown(name, found): file_sha256(found) for name, found in paths.items()}


def changes(known: Mapping[str, Any], path: Path) -> str | None:
    """What differs between the recorded files and those at `path` now; None where nothing does."""
    now = listing(path)
    if merkle_root(now) == known["merkle_root"]:
        return None
    before = known.get("sha256")
    if before is None:
        return f"the files are not those that were scored ({known['files']} then, {len(now)} now)"
    parts = {
        "changed": sorted(n for n in before.keys() & now.keys() if before[n] != now[n]),
        "absent": sorted(before.keys() - now.keys()),
        "new": sorted(now.keys() - before.keys()),
    }
    return "; ".join(f"{len(names)} {word}, {first_of(names)}" for word, names in parts.items() if names)


def _shown(name: str, path: Path) -> str:
    return f"{name} -> {path.readlink()}" if path.is_symlink() else name
