"""Unpacking an official archive. A member that would land outside the folder is refused."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from groundeval.errors import InputError, quoted


def unpack(path: Path, target: Path) -> None:
    """Unpack a zip or tar archive below `target`."""
    target.mkdir(parents=True, exist_ok=True)
    try:
        if zipfile.is_zipfile(path):
            _unzip(path, target)
        else:
            with tarfile.open(path) as archive:
                archive.extractall(target, filter="data")  # refuses absolute names, `..`, devices, outside links
    except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(path, f"not an archive that can be unpacked ({error})", "Fetch it again.") from None


def _unzip(path: Path, target: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            parts = PurePosixPath(name.replace("\\", "/"))
            if parts.is_absolute() or ".." in parts.parts:
                raise InputError(path, f"member {quoted(name)} leads out of the folder", "Do not use this archive.")
        archive.extractall(target)  # noqa: S202 - names are checked above
