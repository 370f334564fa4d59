"""A user's folder, archive or single file, read by name and never outside itself."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from groundeval.errors import InputError, first_of, quoted
from groundeval.sources import members
from groundeval.sources.archive import SUFFIXES, Archive, is_archive

_COPY = "Copy the file itself into the folder."


class Source:
    """Named bytes. `path` is as the user gave it; names are relative to it, with `/`, sorted.

    An archive is read as the folder that was packed: `single` is true only of a file that is none. `packed`: it is one,
    and has one position in its file, so that two processes cannot read it.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise InputError(path, "no such file or folder", "Check the path.")
        if not path.is_file() and not path.is_dir():
            raise InputError(path, "is neither a file nor a folder", "Write the predictions to a file first.")
        self.path = path
        self._archive = Archive(path) if is_archive(path) else None
        self.packed = self._archive is not None
        self.single = path.is_file() and self._archive is None
        self._names: list[str] | None = None

    def names(self, *suffixes: str) -> list[str]:
        """All file names below the folder, or those that end in one of the suffixes (any case)."""
        if self._names is None:
            self._names = [self.path.name] if self.single else sorted(self._all())
        found = list(self._names)
        return [n for n in found if n.lower().endswith(suffixes)] if suffixes else found

    def expect_folder(self, of: str) -> None:
        """InputError where this is a single file. of: what should be in the folder."""
        if self.single:
            fix = f"Give the folder, or an archive of it: {', '.join(SUFFIXES)}."
            raise InputError(self.path, f"is a file, expected a folder of {of}", fix)

    def where(self, name: str) -> str:
        """How a message names a file of this source."""
        if self._archive is not None:
            return self._archive.where(name)
        return str(self.path) if self.single else str(self.path / name)

    def read(self, name: str) -> bytes:
        """All bytes of one file. InputError: more than members.MOST_BYTES, no plain file, changed while it was read."""
        if self._archive is not None:
            return self._archive.read(name)
        if name.startswith("/") or ".." in name.split("/"):
            raise InputError(self.path, f"{quoted(name)} leads out of the folder", "Correct the name.")
        path = str(self.path) if self.single else f"{self.path}/{name}"
        try:
            return _read(path)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            said = error.strerror if isinstance(error, OSError) else error
            raise InputError(path, f"cannot be read ({said})", "Check the file and its permissions.") from None

    def only(self, *suffixes: str) -> str:
        """The name of the one file with such a suffix; none or several is an error."""
        found = self.names() if self.single else self.names(*suffixes)
        if len(found) != 1:
            what = f"{len(found)} files that end in {' or '.join(suffixes)}, expected one"
            raise InputError(self.path, f"{what}; {first_of(found)}" if found else what, "Name the file itself.")
        return found[0]

    def _all(self) -> Iterator[str]:
        if self._archive is not None:
            return iter(self._archive.names())
        return _walk(str(self.path), self.path.resolve())


def _read(path: str) -> bytes:
    """The bytes of a plain file, as one state of it. A pipe would wait for ever, so it is opened without waiting."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise InputError(path, "is no plain file", _COPY)
        members.check_size(before.st_size, path)
        content = os.read(descriptor, before.st_size + 1)
        while len(content) < before.st_size and (more := os.read(descriptor, before.st_size + 1 - len(content))):
            content += more
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns) or len(content) != after.st_size:
        raise InputError(path, "was changed while it was read", "Wait until it is complete, then run again.")
    return content


def _walk(root: str, inside: Path) -> Iterator[str]:
    """Relative names of the files. A link that leads out of the folder is refused, and so is all that is no file."""
    waiting = [""]
    while waiting:
        before = waiting.pop()
        for entry in _entries(f"{root}/{before}"):
            name = before + entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(name + "/")
                continue
            if entry.is_symlink():
                _check_link(Path(entry.path), inside)
            elif not entry.is_file(follow_symlinks=False):
                raise InputError(entry.path, "is neither a file nor a folder", "Keep only files in the folder.")
            if not members.is_litter(name):
                yield name


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as error:
        what = f"cannot be listed ({error.strerror})"
        raise InputError(folder.rstrip("/"), what, "Check its permissions.") from None


def _check_link(path: Path, inside: Path) -> None:
    try:
        target = path.resolve()
    except (OSError, RuntimeError):  # links in a circle
        raise InputError(path, "a link that leads in a circle", _COPY) from None
    if not target.is_relative_to(inside):
        raise InputError(path, "a link that leads out of the folder", _COPY)
    if target.is_dir():
        raise InputError(path, "a link to a folder, whose files would count twice", "Remove it.")
