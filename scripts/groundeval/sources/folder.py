"""A user's folder or single file, read by name and never outside itself."""

from __future__ import annotations

import os
from pathlib import Path

from groundeval.errors import InputError, first_of

IGNORED = {".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".snakemake_timestamp"}


class Source:
    """Named bytes. `path` is as the user gave it; names are relative to it, with `/`, sorted."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise InputError(path, "no such file or folder", "Check the path.")
        self.path = path
        self.single = path.is_file()

    def names(self, *suffixes: str) -> list[str]:
        """All file names below the folder, or those that end in one of the suffixes (any case)."""
        found = [self.path.name] if self.single else sorted(_walk(self.path))
        return [n for n in found if n.lower().endswith(suffixes)] if suffixes else found

    def where(self, name: str) -> str:
        """How a message names a file of this source."""
        return str(self.path) if self.single else str(self.path / name)

    def read(self, name: str) -> bytes:
        """All bytes of one file."""
        path = self.path if self.single else self.path / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(path, f"cannot be read ({error.strerror})", "Check the file and its permissions.") from None

    def only(self, *suffixes: str) -> str:
        """The name of the one file with such a suffix; none or several is an error."""
        found = self.names() if self.single else self.names(*suffixes)
        if len(found) != 1:
            what = f"{len(found)} files that end in {' or '.join(suffixes)}, expected one"
            raise InputError(self.path, f"{what}; {first_of(found)}" if found else what, "Name the file itself.")
        return found[0]


def _walk(root: Path) -> list[str]:
    """Relative names of the regular files. A link that leads out of the folder is refused, not followed."""
    inside = root.resolve()
    found = []
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            if path.is_symlink() and not path.resolve().is_relative_to(inside):
                raise InputError(path, "a link that leads out of the folder", "Copy the file itself into the folder.")
        found += [Path(folder, n).relative_to(root).as_posix() for n in files if n not in IGNORED]
    return found
