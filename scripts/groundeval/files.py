"""Writing files so that a kill at any moment leaves either the old one or the new one, never half of one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Write to a temporary name beside `path`, flush it to disk, rename it. A kill at any moment leaves no half file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _naming(path, temporary):
            yield temporary
            with temporary.open("rb+") as written:
                os.fsync(written.fileno())
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def together(folder: Path) -> Iterator[Path]:
    """A scratch folder inside `folder`: its files get their names there when all are complete, or none does.

    Processes that write the same folder come one after the other, so that what is there is all of one of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".", suffix=".tmp", dir=folder))
    try:
        with _naming(folder, scratch):
            yield scratch
            with _alone(folder):
                for path in sorted(scratch.iterdir()):
                    path.replace(folder / path.name)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        with suppress(OSError):
            folder.rmdir()  # where nothing is in it, because something failed


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """An empty folder that takes the place of `folder` when it is complete; what was there before is gone then."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=folder.parent))
    try:
        with _naming(folder, scratch):
            new = scratch / "new"  # whose permissions are the usual ones
            new.mkdir()
            yield new
            with _alone(folder.parent):
                if folder.exists():
                    folder.rename(scratch / "old")
                new.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _naming(path: Path, scratch: Path) -> Iterator[None]:
    """An OSError says which result could not be written: some libraries' errors name no file, others the scratch one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(scratch)):
            raise
        raise OSError(error.errno or 0, error.strerror or str(error), str(path)) from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """A lock on the folder itself, which leaves no file; some network file systems have none."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8 with its line ends as they are, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, content: Any) -> None:
    """Write JSON with sorted structure as given, two spaces, no NaN, a newline at the end; atomically."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
