"""A folder or a single file: read by name, never outside itself, as one state of it."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from groundeval.errors import InputError
from groundeval.sources import members
from groundeval.sources.folder import Source


def test_names_are_relative_sorted_and_without_litter(tmp_path: Path) -> None:
    for name in ("b.PNG", "a/c.png", "a/.DS_Store", "._b.PNG", "z.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    source = Source(tmp_path)
    assert source.names() == ["a/c.png", "b.PNG", "z.txt"]
    assert source.names(".png") == ["a/c.png", "b.PNG"]
    assert source.read("a/c.png") == b"a/c.png"
    assert source.where("a/c.png") == f"{tmp_path}/a/c.png"


def test_a_single_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"[]")
    source = Source(tmp_path / "x.json")
    assert source.single
    assert source.names() == ["x.json"]
    assert source.read(source.only(".json")) == b"[]"
    assert source.where("x.json") == f"{tmp_path}/x.json"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "a\0b", "absent", "n" * 5000])
def test_a_name_from_a_file_never_leads_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "x").write_bytes(b"secret")
    (tmp_path / "f").mkdir()
    with pytest.raises(InputError, match=r"leads out of the folder|cannot be read"):
        Source(tmp_path / "f").read(name)


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("/etc", "leads out of the folder"),
        ("/etc/passwd", "leads out of the folder"),
        ("../outside", "leads out of the folder"),
        ("sub", "a link to a folder"),
        ("link", "in a circle|cannot be read"),
        ("/nowhere", "leads out of the folder"),
    ],
)
def test_links(tmp_path: Path, target: str, what: str) -> None:
    (tmp_path / "outside").write_bytes(b"secret")
    (tmp_path / "f" / "sub").mkdir(parents=True)
    (tmp_path / "f" / "link").symlink_to(target)
    source = Source(tmp_path / "f")
    with pytest.raises(InputError, match=what):
        source.read(source.names()[0])


def test_a_link_to_a_file_inside_is_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").symlink_to("a")
    assert [Source(tmp_path).read(n) for n in Source(tmp_path).names()] == [b"1", b"1"]


def test_a_pipe_and_a_socket_do_not_wait_for_ever(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        Source(tmp_path / "pipe")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        Source(tmp_path).names()
    with pytest.raises(InputError, match="is no plain file"):
        Source(tmp_path).read("pipe")
    (tmp_path / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "s"))
        with pytest.raises(InputError, match="neither a file nor a folder"):
            Source(tmp_path).names()


def test_folders_within_folders(tmp_path: Path) -> None:
    """As deep as a path may be, which is deeper than Python's stack."""
    here, depth = os.open(tmp_path, os.O_RDONLY), 1900
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(os.open("x", os.O_CREAT, dir_fd=here))
    os.close(here)
    try:
        assert Source(tmp_path).names() == ["d/" * depth + "x"]
    finally:  # pytest's own cleaning up would need Python's stack
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_nothing_there(tmp_path: Path) -> None:
    for name in ("absent", "a\0b"):
        with pytest.raises(InputError, match="no such file or folder"):
            Source(tmp_path / name)


def test_a_file_larger_than_the_cap_is_refused_unread(tmp_path: Path) -> None:
    """A sparse one: reading it would take its whole size in memory."""
    with (tmp_path / "x.json").open("wb") as opened:
        opened.truncate(members.MOST_BYTES + 1)
    with pytest.raises(InputError, match="more than 1073741824"):
        Source(tmp_path / "x.json").read("x.json")


@pytest.mark.parametrize("how", ["grows", "shrinks", "is rewritten"])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """The real read, with a writer that comes in after the first bytes."""
    path, real = tmp_path / "x", os.read
    path.write_bytes(b"1" * 1000)
    os.utime(path, (1, 1))

    def read(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        if how == "grows":
            with path.open("ab") as opened:
                opened.write(b"2")
        elif how == "shrinks":
            os.truncate(path, 10)
        else:
            path.write_bytes(b"3" * 1000)
        return data

    monkeypatch.setattr(os, "read", read)
    with pytest.raises(InputError, match="was changed while it was read"):
        Source(path).read("x")


def test_a_writer_beside_the_reader(tmp_path: Path) -> None:
    """Whatever is read, is one of the states that were there."""
    path, done = tmp_path / "x", threading.Event()
    path.write_bytes(b"a" * 300_000)

    def write() -> None:
        while not done.is_set():
            for letter in (b"a", b"b"):
                (tmp_path / "t").write_bytes(letter * 300_000)
                (tmp_path / "t").replace(path)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {b"".join({bytes([c]) for c in set(Source(path).read("x"))}) for _ in range(200)} <= {b"a", b"b"}
    finally:
        done.set()
        writer.join()


def test_an_image_of_absurd_length_is_not_read(tmp_path: Path) -> None:
    for name, size in {"a.PNG": members.MOST_IMAGE_BYTES, "b.jpg": members.MOST_IMAGE_BYTES}.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(size + 1)
        with pytest.raises(InputError, match=f"has {size + 1} bytes, more than {size}"):
            Source(tmp_path).read(name)
