"""One address of the network into a partial file, going on where an earlier attempt or an earlier process stopped.

requests carries the transfer; here stands only what a large file needs beyond it: a continued transfer is the same file
(ETag or modification date, RFC 9110 sections 13.1.5 and 14), and a web page is no file.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from groundeval import files
from groundeval.sources.progress import shown

CHUNK = 1 << 16
HEAD = 4096  # bytes of a web page that are looked at
BUSY = (429, 500, 502, 503, 504)  # the server asks to come again
PAGES = {  # what the words of a page say that it is, the first that fits
    "a quota page": r"quota|too many users|download limit|rate limit",
    "a log-in page": r"log[ -]?in|sign[ -]?in|password",
    "a page that asks for a confirmation": r"virus|confirm",
}


@dataclass(frozen=True)
class Patience:
    """Seconds to connect and between two parts, attempts at one address, and seconds before the second (then doubled)."""

    connect: float = 30
    read: float = 60
    attempts: int = 5
    backoff: float = 1


class RefusedError(Exception):
    """This address will not give the file; the text says why."""


class _Changed(requests.ConnectionError):
    """The partial file is no beginning of what is there now."""


@dataclass(frozen=True)
class _State:
    """Of which version of which address a partial file is. mark: a strong ETag or a date; without one it is begun anew."""

    url: str
    mark: str | None
    total: int | None


def fetch(url: str, part: Path, patience: Patience, size: int | None = None) -> None:
    """Make `part` the whole file at `url`. size: in bytes, where it is known. RefusedError: not from this address."""
    with _session(patience) as session:
        for attempt in range(1, patience.attempts + 1):
            try:
                _transfer(session, url, part, patience, size)
                return
            except requests.RequestException as error:
                if isinstance(error, _Changed):
                    _beside(part).unlink(missing_ok=True)
                if attempt == patience.attempts:
                    raise RefusedError(f"{attempt} attempts, the last: {_reason(error)}") from None
                time.sleep(patience.backoff * 2 ** (attempt - 1))


def forget(part: Path) -> None:
    """Remove a partial file and what is known of it."""
    part.unlink(missing_ok=True)
    _beside(part).unlink(missing_ok=True)


def _session(patience: Patience) -> requests.Session:
    """Only answers that ask to come again are repeated by urllib3 (it honours Retry-After); all else by `fetch`."""
    asked = Retry(
        total=None,
        connect=0,
        read=0,
        other=0,
        status=patience.attempts - 1,
        status_forcelist=BUSY,
        backoff_factor=patience.backoff,
        retry_after_max=60,
        raise_on_status=False,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=asked))
    return session


def _transfer(session: requests.Session, url: str, part: Path, patience: Patience, size: int | None) -> None:
    known, have = _begun(part, url)
    if known and have == known.total:
        return
    headers = {"Accept-Encoding": "identity"}
    if known and known.mark and have:
        headers |= {"Range": f"bytes={have}-", "If-Range": known.mark}
    with session.get(url, headers=headers, stream=True, timeout=(patience.connect, patience.read)) as answer:
        _refuse_status(answer)
        start, total = _extent(answer, known, have)
        parts = answer.iter_content(CHUNK)
        first = next(parts, b"")
        if start == 0:
            _refuse_page(answer, first)
        if size is not None and total not in (size, None):
            raise RefusedError(f"it has {total} bytes there, declared are {size}")
        if start == 0:
            part.unlink(missing_ok=True)  # before its new mark: a kill in between must not join two versions
        files.write_json(_beside(part), asdict(_State(url, _mark(answer), total)))
        _append(part, start, total, chain([first], parts))


def _append(part: Path, start: int, total: int | None, parts: Iterable[bytes]) -> None:
    """What arrives behind the first `start` bytes of the partial file."""
    with part.open("r+b" if start else "wb") as out, shown(part.name, start, total) as advance:
        out.truncate(start)
        out.seek(start)
        for content in parts:
            out.write(content)
            advance(len(content))
        reached = out.tell()
    if total is not None and reached != total:
        raise requests.ConnectionError(f"{reached} of {total} bytes arrived")


def _begun(part: Path, url: str) -> tuple[_State | None, int]:
    """What is known of a partial file from this address, and how many bytes it has."""
    try:
        state = _State(**json.loads(_beside(part).read_text(encoding="utf-8")))
        have = part.stat().st_size
    except (OSError, ValueError, TypeError):
        return None, 0
    return (state, have) if state.url == url else (None, 0)


def _extent(answer: requests.Response, known: _State | None, have: int) -> tuple[int, int | None]:
    """Where the answer's first byte belongs, and the size of the whole. A server may ignore what it was asked."""
    if answer.status_code != 206:
        length = answer.headers.get("content-length", "")
        return 0, int(length) if length.isdecimal() else None
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("content-range", ""))
    total = int(found[2]) if found and found[2] != "*" else None
    if not (found and known and int(found[1]) == have and total == known.total and _mark(answer) == known.mark):
        raise _Changed("the file there has changed")
    return have, total


def _mark(answer: requests.Response) -> str | None:
    """What If-Range takes: an ETag that is not weak, else the modification date."""
    etag = answer.headers.get("etag", "W/")
    return answer.headers.get("last-modified") if etag.startswith("W/") else etag


def _refuse_status(answer: requests.Response) -> None:
    status = answer.status_code
    if status in (401, 403):
        raise RefusedError(f"a log-in is needed (status {status})")
    if status == 416:
        raise _Changed("the file there has changed")
    if status >= 400:
        raise RefusedError(f"status {status} {answer.reason}")


def _refuse_page(answer: requests.Response, content: bytes) -> None:
    """A page in place of a file, whatever the status says."""
    text = content[:HEAD].decode("utf-8", "replace").lstrip("\ufeff \r\n\t").lower()
    if answer.headers.get("content-type", "").lower().startswith("text/html") or text.startswith(
        ("<!doctype", "<html")
    ):
        kind = next((kind for kind, words in PAGES.items() if re.search(words, text)), "a web page")
        raise RefusedError(f"{kind} came in place of the file")


def _reason(error: requests.RequestException) -> str:
    """The innermost words: requests nests urllib3's errors with their objects' addresses."""
    inner = error.args[0] if error.args else error
    return str(getattr(inner, "reason", None) or inner).split(">: ")[-1] or type(error).__name__


def _beside(part: Path) -> Path:
    return part.with_name(part.name + ".json")
