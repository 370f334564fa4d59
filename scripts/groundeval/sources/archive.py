"""One archive, zip or tar, plain or compressed, read by name; and unpacked, for official downloads.

What kind it is, its first bytes say. A compressed tar has no random access: it is decompressed once, front to back, into
a temporary file that has no name, so that memory stays small whatever the order in which a format reads; it takes
as much disk as the folder would (TMPDIR says where).
"""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from groundeval.errors import InputError, quoted
from groundeval.sources import members, tars, zips

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20
_ZSTD_CHUNK = 1 << 12  # can become 128 MiB
_ZSTD_WINDOW = 1 << 27  # as `zstd -d` allows
_FIX = "Make the archive again."


def is_archive(path: Path) -> bool:
    """Does the name say that it is one? What it really is, is found when it is opened."""
    return path.name.lower().endswith(SUFFIXES) and path.is_file()


class Archive:
    """Named bytes of one archive. InputError: damage, names or kinds of members that are refused, a bomb."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened = path.open("rb")
        self._stat = self._state()
        first = self._opened.read(4)
        self._zip = first in zips.MAGIC
        self._plain = self._opened if self._zip else _decompressed(self._opened, first, self._stat[0], str(path))
        listed = zips.listed(self._opened, str(path)) if self._zip else tars.listed(self._plain.fileno(), str(path))
        roots: list[str] = []
        self.members = members.checked(_noting_root(listed, roots), self._stat[0], str(path))
        self.top = members.top_folder(list(self.members), bool(roots))
        self._check_unchanged()

    def names(self) -> list[str]:
        """Of the files, as in a folder: without the one top folder that holds everything, where there is one."""
        return [name[len(self.top) :] for name in self.members]

    def read(self, name: str) -> bytes:
        """All bytes of one file."""
        found, where = self.members.get(self.top + name), self.where(name)
        if found is None:
            raise InputError(self.path, f"no member {quoted(self.top + name)}", "Check the archive.")
        members.check_size(max(found.size, found.stored), where)
        read = zips.read if self._zip else tars.read
        content = read(self._plain.fileno(), found, where)
        self._check_unchanged()
        return content

    def where(self, name: str) -> str:
        """How a message names a member."""
        return f"{self.path}/{self.top}{name}"

    def _check_unchanged(self) -> None:
        if self._state() != self._stat:
            raise InputError(self.path, "was changed while it was read", "Wait until it is complete, then run again.")

    def _state(self) -> tuple[int, int]:
        found = os.fstat(self._opened.fileno())
        return found.st_size, found.st_mtime_ns


def unpack(path: Path, target: Path) -> None:
    """Unpack every file below `target`, under the names that the archive gives."""
    found = Archive(path)
    target.mkdir(parents=True, exist_ok=True)
    for name in found.members:
        out = target / name
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(found.read(name.removeprefix(found.top)))


def _noting_root(
    listed: Iterator[tuple[str, members.Member | None]], roots: list[str]
) -> Iterator[tuple[str, members.Member | None]]:
    """Pass the list on, and note the entry of the root itself."""
    for name, member in listed:
        if member is None and name.strip("/") == ".":
            roots.append(name)
        yield name, member


def _decompressed(opened: BinaryIO, first: bytes, size: int, where: str) -> IO[bytes]:
    """The plain tar: the file itself, or a nameless temporary one with what it decompresses to."""
    opened.seek(0)
    if first.startswith(_GZIP):
        return _spooled(_gunzip(opened, where), size, where)
    return _spooled(_unzstd(opened, where), size, where) if first == _ZSTD else opened


def _spooled(parts: Iterator[bytes], size: int, where: str) -> IO[bytes]:
    total = 0
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the archive
    for part in parts:
        total += len(part)
        members.check_total(total, size, where)
        try:
            spool.write(part)
        except OSError as error:
            what = f"cannot be decompressed into {tempfile.gettempdir()} ({error.strerror})"
            raise InputError(where, what, "Make room there, or set TMPDIR.") from None
    spool.flush()
    return cast(IO[bytes], spool)


def _gunzip(opened: BinaryIO, where: str) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=opened) as stream:
        try:
            while part := stream.read(_CHUNK):
                yield part
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(where, f"the gzip archive is damaged ({error})", _FIX) from None


def _unzstd(opened: BinaryIO, where: str) -> Iterator[bytes]:
    """Frame after frame. The library's own stream reader takes a cut-off frame for a complete one."""
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    frame, data = decoder.decompressobj(), b""
    try:
        while data := data or opened.read(_ZSTD_CHUNK):
            yield frame.decompress(data)
            data = frame.unused_data if frame.eof else b""
            ended = frame.eof
            frame = decoder.decompressobj() if ended else frame
    except zstandard.ZstdError as error:
        raise InputError(where, f"the zstd archive is damaged ({error})", _FIX) from None
    if not ended:
        raise InputError(where, "the zstd archive is cut off", _FIX)
