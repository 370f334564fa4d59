"""What an archive may hold: the checks that the names and sizes of every archive go through, whoever reads it.

Limits, for predictions and for downloads alike: MOST_BYTES a file, MOST_MEMBERS files, and where all files together take
more than MOST_TOTAL bytes, MOST_RATIO times the archive's own size. (Deflate cannot do more than 1032, a folder of masks
saved as PNG does about 1.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from groundeval.errors import InputError, first_of, quoted

MOST_BYTES = 1 << 30
MOST_IMAGE_BYTES = 1 << 28  # of a .png or .jpg: 16 bits of 128 megapixels, not compressed at all
MOST_MEMBERS = 1_000_000
MOST_TOTAL = 1 << 30
MOST_RATIO = 250

_DRIVE = re.compile(r"[A-Za-z]:")
_LITTER = {".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".snakemake_timestamp"}
_PACK = "Pack the files again with another program, or give the folder itself."
_NOT_THIS = "Do not use this archive."


class Member(NamedTuple):
    """Where one file's bytes lie in the archive. start: of its data in a tar, of its local header in a zip."""

    start: int
    stored: int
    size: int
    crc: int | None = None  # only a zip has one
    deflated: bool = False


def is_litter(name: str) -> bool:
    """Is it a file that an operating system left, and no answer of anyone?"""
    last = name.rpartition("/")[2]
    return last in _LITTER or last.startswith("._") or name.startswith("__MACOSX/")


def checked(found: Iterable[tuple[str, Member | None]], size: int, where: str) -> dict[str, Member]:
    """Name -> member, of the files alone and without litter. found: names as they stand, with None for a folder."""
    files: dict[str, Member] = {}
    total = 0
    for said, member in found:
        name = _plain(said, where)
        if member is None:
            continue
        if name in files or not name:
            what = f"member {quoted(said)} stands twice" if name else "a member has no name"
            raise InputError(where, what, "Which one counts would depend on the program. " + _PACK)
        files[name] = member
        total += member.size
        if len(files) > MOST_MEMBERS:
            raise InputError(where, f"more than {MOST_MEMBERS} members", _NOT_THIS)
        check_total(total, size, where)
    _check_alike(files, where)
    return {name: member for name, member in files.items() if not is_litter(name)}


def check_total(total: int, size: int, where: str) -> None:
    """InputError where `total` unpacked bytes are too many for an archive of `size` bytes."""
    if total > MOST_TOTAL and total > MOST_RATIO * size:
        what = f"unpacks to more than {total} bytes, over {MOST_RATIO} times its own size: an archive bomb?"
        raise InputError(where, what, "If it is sound, unpack it and give the folder.")


def check_size(size: int, where: str) -> None:
    """InputError where one file is larger than any reader should take into memory; an image's name tells it."""
    image = where.lower().endswith((".png", ".jpg", ".jpeg"))
    most = min(MOST_IMAGE_BYTES, MOST_BYTES) if image else MOST_BYTES
    if size > most:
        what = f"has {size} bytes, more than {most}"
        raise InputError(where, what, "Check the program that wrote it; split the predictions into several files.")


def top_folder(names: Sequence[str], has_root: bool) -> str:
    """`preds/` where everything lies in that one folder: it was packed as such, and is no part of the names.

    An archive with an entry for its own root, `./`, was packed from inside the folder and is read as it stands.
    """
    tops = {name.partition("/")[0] + "/" for name in names}
    top = next(iter(tops), "/")
    return top if len(tops) == 1 and not has_root and all(name.startswith(top) for name in names) else ""


def _plain(said: str, where: str) -> str:
    """The name without `./` and doubled slashes. One that could lead out of a folder is an InputError."""
    parts = said.split("/")
    if said.startswith("/") or _DRIVE.match(said) or ".." in parts:
        raise InputError(where, f"member {quoted(said)} leads out of the folder", _NOT_THIS)
    if "\0" in said or "\\" in said:
        raise InputError(where, f"member {quoted(said)} has a backslash or NUL in its name", _PACK)
    return "/".join(p for p in parts if p not in ("", ".")) if "" in parts or "." in parts else said


def _check_alike(names: Iterable[str], where: str) -> None:
    """Names that some file systems cannot tell apart, and a name that is a file and a folder."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(_folded(name), name)) != name:
            what = f"members {quoted(other)} and {quoted(name)} differ in case or Unicode form only"
            raise InputError(where, what, "Rename one: many file systems take them for the same file.")
    both = sorted(seen[f] for f in _folders(seen) if f in seen)
    if both:
        raise InputError(where, f"a member is both a file and a folder, {first_of(both)}", _PACK)


def _folders(names: Iterable[str]) -> Iterator[str]:
    direct = {name.rpartition("/")[0] for name in names}
    for folder in direct:
        parts = folder.split("/")
        yield from ("/".join(parts[:n]) for n in range(1, len(parts) + 1))


def _folded(name: str) -> str:
    """Equal for names that are equal after canonical caseless matching (Unicode, chapter 3.13, D145)."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
