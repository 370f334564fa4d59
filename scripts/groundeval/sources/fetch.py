"""Obtaining an official file: from a mirror folder, from what was downloaded before, or from the network."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundeval import files
from groundeval.errors import InputError

CHUNK = 1 << 20
TIMEOUT = (30, 120)  # seconds to connect, and between two parts


def obtain(file: Mapping[str, Any], kept: Path, mirror: Path | None, sources: Path) -> Path:
    """Where the file lies: in the mirror, else among the earlier downloads, else after fetching it there."""
    if mirror is not None:
        path = mirror / str(file["name"])
        if not path.is_file():
            raise InputError(path, "not in the mirror", "Put the file there, or remove `mirror` from params.yaml.")
        return path
    if not kept.is_file():
        _fetch(file, kept, sources)
    return kept


def check(file: Mapping[str, Any], path: Path, size: int, sha256: str) -> None:
    """Raise InputError where the size or the sha256 is not the declared one."""
    for what, declared, seen in (("size", file.get("size"), size), ("sha256", file.get("sha256"), sha256)):
        if declared is not None and declared != seen:
            raise InputError(path, f"its {what} is {seen}, declared is {declared}", "Delete the file and fetch it again.")


def _fetch(file: Mapping[str, Any], kept: Path, sources: Path) -> None:
    urls = file.get("urls") or []
    failed = []
    for url in urls:
        try:
            _stream(url, kept)
            return
        except OSError as error:  # requests' errors are OSErrors
            failed.append(f"{url}: {error}")
    what = f"{file['name']} could not be fetched ({'; '.join(failed)})" if failed else f"{file['name']} has no address"
    ask = file.get("ask", "Fetch it by hand")
    raise InputError(sources, what, f"{ask}; put it as {kept}, or set `mirror` in params.yaml.")


def _stream(url: str, kept: Path) -> None:
    import requests

    with requests.get(url, stream=True, timeout=TIMEOUT) as answer:
        answer.raise_for_status()
        if answer.headers.get("content-type", "").startswith("text/html"):
            raise OSError("a web page came in place of the file (a quota or a log-in page)")
        with files.atomic(kept) as temporary, temporary.open("wb") as out:
            for part in answer.iter_content(CHUNK):
                out.write(part)
    print(f"{kept}: fetched from {url}", file=sys.stderr)
