"""Tar archives: what they list. Strict: a header whose checksum fails, or a missing end, is damage and not the end.

Formats: POSIX pax and ustar, GNU, and the older one without a magic.
Specification: IEEE Std 1003.1, pax, "ustar Interchange Format" and "pax Extended Header"; GNU tar manual, appendix D.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

from groundeval.errors import InputError, quoted
from groundeval.sources.members import Member

BLOCK = 512
_ZEROS = bytes(BLOCK)
_ADLER = 65521  # Adler-32 holds the sum of the bytes plus 1, modulo this: many times quicker than adding them in Python
_MOST_HEADER = 1 << 20  # bytes of an extended header
_LINKS, _DEVICES = b"12", b"346"
_FIX = "Make the archive again."


def listed(descriptor: int, where: str) -> Iterator[tuple[str, Member | None]]:
    """Names as they stand, with where their bytes are; None for a folder. Every other kind of member is an InputError."""
    start, said = 0, dict[str, str]()
    while (block := os.pread(descriptor, BLOCK, start)) != _ZEROS:
        _check_header(block, start, where)
        size, kind = _number(block[124:136], where), block[156:157]
        if kind in (b"x", b"g", b"L", b"K"):
            said |= _extended(kind, os.pread(descriptor, min(size, _MOST_HEADER), start + BLOCK), size, where)
        else:
            name, size = said.get("path", _name(block)), int(said.get("size", size))
            _check_kind(name, kind, said, where)
            folder = kind == b"5" or name.endswith("/")
            size = 0 if folder else _checked_size(size, where)
            yield name, None if folder else Member(start + BLOCK, size, size)
            said = {}
        start += BLOCK + -(-size // BLOCK) * BLOCK
    _check_end(descriptor, start, where)


def read(descriptor: int, member: Member, where: str) -> bytes:
    """One member's bytes."""
    content = os.pread(descriptor, member.size, member.start)
    if len(content) != member.size:
        raise InputError(where, "the tar archive is cut off", _FIX)
    return content


def _check_header(block: bytes, start: int, where: str) -> None:
    if len(block) < BLOCK and start:
        raise InputError(where, f"the tar archive is cut off, at byte {start}", _FIX)
    if len(block) < BLOCK or (_octal(block[148:156]) + 1) % _ADLER != zlib.adler32(_unsigned(block)) & 0xFFFF:
        what = f"the tar archive is damaged, at byte {start}" if start else "is neither a zip nor a tar archive"
        raise InputError(where, what, _FIX)


def _unsigned(block: bytes) -> bytes:
    """The block as it was when its sum was made: with spaces for the sum itself."""
    return block[:148] + b" " * 8 + block[156:]


def _number(field: bytes, where: str) -> int:
    """Octal text, or GNU's binary form with the first bit set."""
    number = int.from_bytes(field[1:], "big") if field[0] == 0x80 else _octal(field)
    return _checked_size(number, where)


def _octal(field: bytes) -> int:
    """-1 for what is no number."""
    digits = field.rstrip(b"\0 ").lstrip(b" ") or b"0"
    return int(digits, 8) if digits.isdigit() and not set(digits) & set(b"89") else -1


def _checked_size(size: int, where: str) -> int:
    if not 0 <= size < 1 << 50:
        raise InputError(where, "the tar archive is damaged (a size is none)", _FIX)
    return size


def _name(block: bytes) -> str:
    name = block[:100].partition(b"\0")[0]
    prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
    return _text(prefix + b"/" + name if prefix else name)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _extended(kind: bytes, content: bytes, size: int, where: str) -> dict[str, str]:
    """What an extended header says of the next member."""
    if len(content) != size:
        raise InputError(where, "the tar archive is damaged (an extended header is cut off or huge)", _FIX)
    if kind in (b"L", b"K"):
        return {"path": _text(content.partition(b"\0")[0])} if kind == b"L" else {}
    records = dict(_records(content, where))
    if kind == b"g" and records.keys() & {"path", "size"}:
        raise InputError(where, "the tar archive gives all members one name or size", "Do not use this archive.")
    return records if kind == b"x" else {}


def _records(content: bytes, where: str) -> Iterator[tuple[str, str]]:
    """`LENGTH KEY=VALUE newline`, the length counting all of it."""
    while content:
        length, _, rest = content.partition(b" ")
        count = int(length) if length.isdigit() and len(length) < 8 else 0
        key, equals, value = content[len(length) + 1 : count - 1].partition(b"=")
        if count < 5 or content[count - 1 : count] != b"\n" or not equals or len(content) < count or not rest:
            raise InputError(where, "the tar archive is damaged (a pax record is none)", _FIX)
        if key == b"size" and not (value.isdigit() and len(value) < 20):
            raise InputError(where, "the tar archive is damaged (a size is no number)", _FIX)
        yield _text(key), _text(value)
        content = content[count:]


def _check_kind(name: str, kind: bytes, said: dict[str, str], where: str) -> None:
    sparse = kind == b"S" or any(key.startswith("GNU.sparse") for key in said)
    if kind in (b"0", b"\0", b"5", b"7") and not sparse:
        return
    is_a = "a sparse file" if sparse else "a link" if kind in _LINKS else "a device" if kind in _DEVICES else "unknown"
    fix = "Pack the files themselves (tar --dereference --hard-dereference, without --sparse)."
    raise InputError(where, f"member {quoted(name)} is {is_a}, not a file", fix)


def _check_end(descriptor: int, start: int, where: str) -> None:
    """After the end there is padding. Anything else would be members that most programs do not see."""
    while part := os.pread(descriptor, 1 << 20, start):
        if part.strip(b"\0"):
            raise InputError(where, "the tar archive goes on after its end", _FIX)
        start += len(part)
