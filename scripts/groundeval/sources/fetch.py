"""Obtaining an official file: from a mirror folder, from what was fetched before, or from its addresses, in their order.

A file has its name only when it is whole and its size and sha256 are the declared ones; until then it is a partial file
beside it, with which a later call goes on.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundeval.digests import file_sha256
from groundeval.errors import InputError
from groundeval.sources import web


@dataclass(frozen=True)
class Obtained:
    """Where the file lies, its size in bytes and its sha256, which are the declared ones where those are declared."""

    path: Path
    size: int
    sha256: str


def obtain(
    file: Mapping[str, Any], kept: Path, mirror: Path | None, sources: Path, patience: web.Patience | None = None
) -> Obtained:
    """The file in the mirror, else the one fetched before, else fetch it to `kept`.

    file: its entry in data/sources.yaml. InputError: not there, not to be had, or another size or sha256 than declared.
    """
    if mirror is not None:
        path = mirror / str(file["name"])
        if not path.is_file():
            raise InputError(path, "not in the mirror", "Put the file there, or remove `mirror` from params.yaml.")
        return check(file, path)
    if not kept.is_file():
        with _alone(kept) as part:
            return _fetch(file, part, kept, sources, patience or web.Patience())
    return check(file, kept)


def check(file: Mapping[str, Any], path: Path) -> Obtained:
    """Raise InputError where the size or the sha256 is not the declared one."""
    seen = Obtained(path, path.stat().st_size, file_sha256(path))
    wrong = _wrong(file, seen)
    if wrong:
        raise InputError(path, wrong, "Delete the file and fetch it again.")
    return seen


def _wrong(file: Mapping[str, Any], seen: Obtained) -> str | None:
    for what, declared, found in (("size", file.get("size"), seen.size), ("sha256", file.get("sha256"), seen.sha256)):
        if declared is not None and declared != found:
            return f"its {what} is {found}, declared is {declared}"
    return None


def _fetch(file: Mapping[str, Any], part: Path, kept: Path, sources: Path, patience: web.Patience) -> Obtained:
    refused = []
    for url in file.get("urls") or []:
        try:
            return _fetched(file, url, part, kept, patience)
        except web.RefusedError as reason:
            refused.append(f"{url}: {reason}")
            print(f"{kept.name}: not from {url}: {reason}", file=sys.stderr)
    what = (
        f"{file['name']} could not be fetched ({'; '.join(refused)})" if refused else f"{file['name']} has no address"
    )
    ask = file.get("ask", "Fetch it by hand")
    raise InputError(sources, what, f"{ask}; put it as {kept}, or set `mirror` in params.yaml.")


def _fetched(file: Mapping[str, Any], url: str, part: Path, kept: Path, patience: web.Patience) -> Obtained:
    """From one address, checked, then named."""
    print(f"{kept.name}: fetching from {url}", file=sys.stderr)
    web.fetch(url, part, patience, file.get("size"))
    wrong = _wrong(file, seen := Obtained(kept, part.stat().st_size, file_sha256(part)))
    if wrong:
        web.forget(part)
        raise web.RefusedError(wrong)
    with part.open("rb+") as whole:
        os.fsync(whole.fileno())
    part.replace(kept)
    web.forget(part)
    return seen


@contextmanager
def _alone(kept: Path) -> Iterator[Path]:
    """The name of the partial file, while no other process writes it."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_name(f".{kept.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(kept, "another process is fetching it", "Wait until that has ended.") from None
        except OSError:  # some network file systems have no locks
            pass
        try:
            yield kept.with_name(f".{kept.name}.part")
        finally:
            Path(lock.name).unlink(missing_ok=True)
