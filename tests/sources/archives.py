"""Archives of every kind, sound and hostile, written by the standard library and zstandard."""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import zstandard

KINDS = (".zip", ".tar", ".tar.gz", ".tar.zst")
TARS = KINDS[1:]
Members = Mapping[str, bytes] | Iterable[tuple[str, bytes]]


def write(path: Path, members: Members, tar_format: int = tarfile.GNU_FORMAT) -> Path:
    """An archive of the kind that the path's name says. Names are written as they are given, doubled ones too."""
    pairs = list(members.items() if isinstance(members, Mapping) else members)
    if path.name.endswith(".zip"):
        with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            warnings.simplefilter("ignore")  # of doubled names
            for name, content in pairs:
                archive.writestr(zip_info(name), content)
    else:
        path.write_bytes(compressed(path.name, tar([info(name, content) for name, content in pairs], tar_format)))
    return path


def zip_info(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    """An entry with a name that may be anything."""
    made = zipfile.ZipInfo("x")
    made.filename, made.external_attr, made.compress_type = name, mode << 16, zipfile.ZIP_DEFLATED
    return made


def info(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    """One tar member of any kind."""
    made = tarfile.TarInfo(name)
    made.size, made.type, made.linkname = len(content), kind, link
    return made, content


def tar(members: Iterable[tuple[tarfile.TarInfo, bytes]], tar_format: int = tarfile.GNU_FORMAT) -> bytes:
    """The bytes of a plain tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tar_format) as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def compressed(name: str, plain: bytes) -> bytes:
    """The bytes of a tar, compressed as the name's end says."""
    if name.endswith(".gz"):
        import gzip

        return gzip.compress(plain, mtime=0)
    return zstandard.ZstdCompressor(write_checksum=True).compress(plain) if name.endswith(".zst") else plain
