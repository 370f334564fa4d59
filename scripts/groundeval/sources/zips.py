"""Zip archives: what they list, and the bytes of one member. Only what is stored or deflated, and not encrypted."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import BinaryIO

from groundeval.errors import InputError, quoted
from groundeval.sources import members
from groundeval.sources.members import Member

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # the second: of an archive without members
_LOCAL, _END, _END64 = b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06"
_MOST_END = 1 << 17  # the end records: 56, 20 and 22 bytes and a comment
_SLACK = 512  # what a local header takes, nearly always
_FIX = "Make the archive again."


def listed(opened: BinaryIO, where: str) -> Iterator[tuple[str, Member | None]]:
    """Names as they stand, with where their bytes are; None for a folder."""
    try:
        count = _entries(opened, where)
        with zipfile.ZipFile(opened) as archive:
            infos = archive.infolist()
            if len(infos) != count:
                raise zipfile.BadZipFile(f"{len(infos)} members are listed, {count} counted")
            _check_overlap(infos, archive.start_dir, where)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, struct.error, UnicodeDecodeError) as error:
        raise InputError(where, f"the zip archive is damaged ({error})", _FIX) from None
    for info in infos:
        _check(info, where)
        yield info.filename, None if info.is_dir() else _member(info)


def read(descriptor: int, member: Member, where: str) -> bytes:
    """One member's bytes, never more than it declares, its checksum verified."""
    raw = os.pread(descriptor, member.stored + _SLACK, member.start)
    begin = 30 + sum(struct.unpack_from("<HH", raw, 26)) if len(raw) >= 30 else 0
    if not begin or not raw.startswith(_LOCAL):
        raise InputError(where, "the zip archive is damaged (no member where one is listed)", _FIX)
    if begin > _SLACK:
        raw, begin = os.pread(descriptor, member.stored, member.start + begin), 0
    packed = memoryview(raw)[begin : begin + member.stored]
    content = _inflated(packed, member, where) if member.deflated else bytes(packed)
    if len(content) != member.size or zlib.crc32(content) != member.crc:
        raise InputError(where, "the zip archive is damaged (a checksum fails)", _FIX)
    return content


def _inflated(packed: memoryview, member: Member, where: str) -> bytes:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflate.decompress(packed, member.size + 1)  # one more tells a wrong size; 0 would mean no limit
    except zlib.error as error:
        raise InputError(where, f"the zip archive is damaged ({error})", _FIX) from None
    if not inflate.eof or inflate.unused_data:
        raise InputError(where, "the zip archive is damaged (a member is not as long as it is listed)", _FIX)
    return content


def _member(info: zipfile.ZipInfo) -> Member:
    deflated = info.compress_type == zipfile.ZIP_DEFLATED
    return Member(info.header_offset, info.compress_size, info.file_size, info.CRC, deflated)


def _check(info: zipfile.ZipInfo, where: str) -> None:
    name = quoted(info.orig_filename)
    if "\0" in info.orig_filename:  # zipfile cuts it there
        raise InputError(where, f"member {name} has a NUL in its name", "Do not use this archive.")
    if info.flag_bits & 1:
        raise InputError(where, f"member {name} is encrypted", "Make the archive without a password.")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = f"member {name} is a {'link' if stat.S_ISLNK(kind) else 'device'}, not a file"
        raise InputError(where, what, "Pack the files themselves.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        what = f"member {name} is packed with the method {info.compress_type}, neither stored (0) nor deflate (8)"
        raise InputError(where, what, "Make the archive with deflate.")


def _check_overlap(infos: list[zipfile.ZipInfo], end: int, where: str) -> None:
    """Members that share bytes make a small archive unpack to petabytes."""
    spans = sorted((info.header_offset, info.header_offset + 30 + info.compress_size) for info in infos)
    last = max((stop for _, stop in spans), default=0)
    if spans and spans[0][0] < 0:
        raise InputError(where, "the zip archive is damaged (a member lies before its beginning)", _FIX)
    if last > end or any(stop > begin for (_, stop), (begin, _) in pairwise(spans)):
        raise InputError(where, "the members of the zip archive overlap: an archive bomb?", "Do not use this archive.")


def _entries(opened: BinaryIO, where: str) -> int:
    """How many members the end record counts. It must be the last thing in the file: programs look for it differently."""
    size = opened.seek(0, os.SEEK_END)
    start = opened.seek(max(0, size - _MOST_END))
    tail = opened.read()
    at = tail.rfind(_END)
    if at < 0 or at + 22 > len(tail):
        raise InputError(where, "the zip archive is cut off", _FIX)
    count, comment = struct.unpack_from("<H8xH", tail, at + 10)
    if start + at + 22 + comment != size:
        raise InputError(where, "the zip archive goes on after its end", _FIX)
    if count == 0xFFFF and (large := tail.rfind(_END64, 0, at)) >= 0 and large + 40 <= at:
        (count,) = struct.unpack_from("<Q", tail, large + 32)
    if count > members.MOST_MEMBERS:
        raise InputError(where, f"more than {members.MOST_MEMBERS} members", "Do not use this archive.")
    return int(count)
