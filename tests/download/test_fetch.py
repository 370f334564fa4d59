"""Files over a network that stalls, cuts, lies and changes its mind."""

from __future__ import annotations

import hashlib
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundeval.errors import InputError
from groundeval.sources import fetch
from groundeval.sources.web import Patience
from tests.download.hostile import Server, serving

CONTENT = bytes(range(256)) * 4096 + b"end"  # 1 MiB
HALF = len(CONTENT) // 2
QUICK = Patience(connect=2, read=0.5, attempts=4, backoff=0.01)
SOURCES = Path("data/sources.yaml")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "*")
    with serving(CONTENT) as made:
        yield made


def entry(*urls: str, content: bytes | None = CONTENT) -> dict[str, Any]:
    pinned = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()} if content is not None else {}
    return {"name": "file.bin", "urls": list(urls), "ask": "Ask for it", **pinned}


def obtain(file: dict[str, Any], folder: Path) -> bytes:
    found = fetch.obtain(file, folder / "file.bin", None, SOURCES, QUICK)
    assert [path.name for path in folder.iterdir()] == ["file.bin"]
    content = found.path.read_bytes()
    assert (found.size, found.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    return content


@pytest.mark.parametrize(
    ("faults", "asked"),
    [
        ([], [None]),
        (["cuts"], [None, HALF]),
        (["stalls"], [None, HALF]),
        (["cuts", "stalls", "cuts"], [None, HALF, HALF * 3 // 2, HALF * 7 // 4]),
        (["busy", "busy"], [None, None, None]),
        (["cuts", "busy"], [None, HALF, HALF]),
        (["cuts", "ignores ranges"], [None, HALF]),
    ],
)
def test_a_bad_connection_is_overcome(server: Server, tmp_path: Path, faults: list[str], asked: list) -> None:
    server.faults = faults
    assert obtain(entry(server.url()), tmp_path) == CONTENT
    assert len(server.asked) == len(asked)
    for header, expected in zip(server.asked, asked, strict=True):
        # What stood in buffers when the line broke is asked for again.
        begun = int(header.removeprefix("bytes=").rstrip("-")) if header else None
        assert begun is expected is None or expected - 3 * 65536 < begun <= expected


@pytest.mark.parametrize("fault", ["changes", "changes, careless"])
@pytest.mark.parametrize("pinned", [True, False])
def test_parts_of_two_versions_are_never_joined(server: Server, tmp_path: Path, fault: str, pinned: bool) -> None:
    server.faults = ["cuts", fault]
    new = CONTENT[::-1]
    assert obtain(entry(server.url(), content=new if pinned else None), tmp_path) == new


def test_without_a_mark_of_its_version_a_file_is_begun_anew(server: Server, tmp_path: Path) -> None:
    server.etag, server.faults = False, ["cuts"]
    assert obtain(entry(server.url(), content=None), tmp_path) == CONTENT
    assert server.asked == [None, None]


@pytest.mark.parametrize(
    ("fault", "name", "said"),
    [
        ("quota page", "a", "a quota page came in place of the file"),
        ("page under another name", "a", "a quota page came in place of the file"),
        ("log-in page", "a", "a log-in page came in place of the file"),
        ("", "elsewhere", "a log-in page came in place of the file"),
        ("", "locked", "a log-in is needed (status 401)"),
        ("", "gone", "status 404 Not Found"),
    ],
)
def test_what_is_no_file_is_named_and_what_to_do_is_said(
    server: Server, tmp_path: Path, fault: str, name: str, said: str
) -> None:
    server.faults = [fault]
    url = server.url(name)
    kept = tmp_path / "file.bin"
    with pytest.raises(InputError) as caught:
        fetch.obtain(entry(url), kept, None, SOURCES, QUICK)
    what = f"data/sources.yaml: file.bin could not be fetched ({url}: {said})."
    assert str(caught.value) == f"{what} Ask for it; put it as {kept}, or set `mirror` in params.yaml."
    assert not kept.exists()


def test_wrong_bytes_of_the_right_size_are_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1] + b"?"
    with pytest.raises(InputError, match=r"its sha256 is [0-9a-f]{64}, declared is [0-9a-f]{64}"):
        obtain(entry(server.url()), tmp_path)
    assert list(tmp_path.iterdir()) == []
    server.content = CONTENT
    assert obtain(entry(server.url()), tmp_path) == CONTENT


def test_another_size_is_refused_before_the_transfer(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT * 2
    with pytest.raises(InputError, match=f"it has {2 * len(CONTENT)} bytes there, declared are {len(CONTENT)}"):
        obtain(entry(server.url()), tmp_path)
    assert not any(path.stat().st_size for path in tmp_path.iterdir())


def test_addresses_are_tried_in_their_order(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    dead = "http://127.0.0.1:9/file.bin"
    urls = (dead, server.url("gone"), server.url("good"), server.url("never"))
    assert obtain(entry(*urls), tmp_path) == CONTENT
    said = capsys.readouterr().err
    assert [url for url in urls if url in said] == list(urls[:3])
    assert "4 attempts, the last: " in said
    assert "object at 0x" not in said


def test_a_server_that_stays_busy_is_left(server: Server, tmp_path: Path) -> None:
    server.faults = ["busy"] * 4
    with pytest.raises(InputError, match="status 503 Service Unavailable"):
        obtain(entry(server.url()), tmp_path)
    assert len(server.asked) == 4


def test_it_gives_up_in_the_end_and_goes_on_the_next_time(server: Server, tmp_path: Path) -> None:
    server.faults = ["cuts"] * 4
    with pytest.raises(InputError, match="4 attempts, the last: "):
        obtain(entry(server.url()), tmp_path)
    assert not (tmp_path / "file.bin").exists()
    assert obtain(entry(server.url()), tmp_path) == CONTENT
    assert server.asked[-1] is not None


PROGRAM = """
import sys, pathlib
from groundeval.sources import fetch
fetch.obtain({"name": "file.bin", "urls": [sys.argv[1]]}, pathlib.Path(sys.argv[2]), None, pathlib.Path("s"))
"""


def test_a_killed_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.faults = ["stalls"]
    kept = tmp_path / "file.bin"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, server.url(), str(kept)]) as process:
        while not any(path.stat().st_size > 65536 for path in tmp_path.iterdir()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert not kept.exists()
    assert obtain(entry(server.url(), content=None), tmp_path) == CONTENT
    assert server.asked[1] is not None


def test_two_at_once_do_not_mix(server: Server, tmp_path: Path) -> None:
    server.faults = ["stalls"]
    kept = tmp_path / "file.bin"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, server.url(), str(kept)]) as process:
        while not server.asked:
            time.sleep(0.02)
        with pytest.raises(InputError, match="another process is fetching it"):
            fetch.obtain(entry(server.url()), kept, None, SOURCES, QUICK)
        process.kill()


def test_a_bar_on_a_terminal_only(server: Server, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, server.url()]
    quiet = subprocess.run([*command, str(tmp_path / "a")], capture_output=True, text=True, check=True)
    assert quiet.stderr == f"a: fetching from {server.url()}\n"
    ours, theirs = pty.openpty()
    subprocess.run([*command, str(tmp_path / "b")], stderr=theirs, check=True, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    assert "MB" in os.read(ours, 65536).decode()
    os.close(ours)


def test_a_mirror_needs_no_network_and_is_checked(tmp_path: Path) -> None:
    (tmp_path / "file.bin").write_bytes(CONTENT)
    found = fetch.obtain(entry("http://127.0.0.1:9/"), tmp_path / "kept", tmp_path, SOURCES)
    assert found.path == tmp_path / "file.bin"
    (tmp_path / "file.bin").write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(InputError, match=r"file\.bin: its sha256 is .*Delete the file and fetch it again"):
        fetch.obtain(entry(), tmp_path / "kept", tmp_path, SOURCES)
    with pytest.raises(InputError, match="not in the mirror"):
        fetch.obtain({"name": "other"}, tmp_path / "kept", tmp_path, SOURCES)


def test_what_was_fetched_before_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    assert obtain(entry(server.url()), tmp_path) == obtain(entry(server.url()), tmp_path)
    assert len(server.asked) == 1
