"""JSON that is not what it seems, and run-lengths with traps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.security.scene import Scene

Make = Callable[[str], Scene]
GIGABYTES = 2 << 30

FILES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "deep lists": (lambda _: b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "deep objects": (lambda _: b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
    "NaN": (lambda data: data.replace(b"[", b"[NaN, ", 1), "NaN at line 1"),
    "Infinity": (lambda data: data.replace(b"[", b"[-Infinity, ", 1), "not JSON"),
    "a key twice": (
        lambda data: data.replace(b'"', b'"x": 1, "x": 2, "', 1) if b"{" in data[:3] else TWICE,
        "more than once",
    ),
    "byte-order mark": (lambda data: b"\xef\xbb\xbf" + data, "is UTF-8 with a byte-order mark"),
    "UTF-16": (lambda data: data.decode().encode("utf-16"), "is UTF-16"),
    "UTF-32": (lambda data: data.decode().encode("utf-32-le"), "is UTF-32"),
    "Latin-1": (lambda data: data.replace(b'"', b'"\xe9', 1), "is not UTF-8 text"),
    "empty": (lambda _: b"", "is empty"),
    "spaces": (lambda _: b" \n" * 100, "is empty"),
    "cut": (lambda data: data[: len(data) // 2], "not JSON"),
    "zeros": (lambda data: data[:50] + bytes(50) + data[100:], "not JSON"),
    "two values": (lambda data: data + data, "not JSON"),
    "a number": (lambda _: b"3", "JSON int"),
    "a huge number": (lambda _: b"[" + b"9" * 1_000_000 + b"]", "not JSON"),
    "a web page": (lambda _: b"<html>quota</html>", "not JSON"),
}
TWICE = b'[{"sample_id": "a", "sample_id": "b", "segmentation": null}]'


@pytest.mark.parametrize("kind", ["rle", "boxes"])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file(scene: Make, kind: str, name: str) -> None:
    found = scene(kind)
    damage, what = FILES[name]
    found.json().write_bytes(damage(found.json().read_bytes()))
    if kind == "boxes" and name in ("a huge number", "NaN", "Infinity"):
        found.json().write_bytes(damage(b"[1]"))
    line = found.refused(".json")
    assert what in line


def test_two_gigabytes(scene: Make) -> None:
    """A sparse file: refused by its size, before a byte of it is read."""
    found = scene("rle")
    with found.json().open("r+b") as opened:
        opened.truncate(GIGABYTES)
    found.refused(f"has {GIGABYTES} bytes, more than 1073741824")


def segmentation(size: list[int], counts: Any) -> Callable[[list[Any]], Any]:
    def change(rows: list[Any]) -> None:
        rows[0]["segmentation"] = {"size": size or rows[0]["segmentation"]["size"], "counts": counts}

    return change


@pytest.mark.parametrize(
    ("size", "counts", "what"),
    [
        ([100_000, 100_000], [10_000_000_000], "the mask is 100000 x 100000"),
        ([], [10_000_000_000], "a run of 10000000000"),
        ([], "", "is empty"),
        ([], "0", "covers 0 pixels"),
        ([], "b'PPYo0'", "characters that a COCO counts string never has"),
        ([], "PP\\\\Yo0", "covers|cut off|more than"),
        ([], "o" * 1_000_000, "cut off within a number"),
        ([], [5], "covers 5 pixels"),
        ([], [0] * 100_000 + [10**8], "a run of 100000000|covers 100000000 pixels"),
        ([], [-1, 1], "a run of -1"),
        ([], [1e9], "neither a string nor a list of whole numbers"),
        ([], {"a": 1}, "neither a string nor a list of whole numbers"),
        ([], None, "neither a string nor a list of whole numbers"),
    ],
)
def test_run_lengths(scene: Make, size: list[int], counts: Any, what: str) -> None:
    found = scene("rle")
    found.edit(segmentation(size, counts))
    line = found.refused("1 of 57 answers cannot be used")
    assert any(part in line for part in what.split("|"))


def test_a_run_length_of_the_transposed_size(scene: Make) -> None:
    found = scene("rle")

    def transpose(rows: list[Any]) -> None:
        row = next(r for r in rows if r["segmentation"]["size"][0] != r["segmentation"]["size"][1])
        row["segmentation"]["size"].reverse()

    found.edit(transpose)
    assert "are height and width swapped?" in found.refused("1 of 57 answers cannot be used")


@pytest.mark.parametrize(
    ("box", "what"),
    [
        ([1, 2, 3], "not a list of four numbers"),
        ([1, 2, 3, None], "not a list of four numbers"),
        ([1, 2, 3, "4"], "not a list of four numbers"),
        ([1, 2, 3, True], "not a list of four numbers"),
        ([1, 2, 3, 1e300], "a coordinate is not within"),
        ([9, 9, 3, 3], "inverted"),
        ("1234", "not a list of four numbers"),
        ({}, "not a list of four numbers"),
    ],
)
def test_boxes(scene: Make, box: Any, what: str) -> None:
    found = scene("boxes")

    def change(records: dict[str, Any]) -> None:
        records[min(records)] = [box]

    found.edit(change)
    assert what in found.refused("answers cannot be used")


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/b", "/abs", "new\nline", "nul\0", "n" * 5000, "", "=1+1", "\u202eabc", "💥", "<b>"]
)
@pytest.mark.parametrize("kind", ["rle", "boxes"])
def test_ids(scene: Make, kind: str, name: str) -> None:
    """An id is matched with the manifest's and is never a path: it is unknown, and nothing more."""
    found = scene(kind)

    def change(content: Any) -> None:
        if isinstance(content, dict):
            content[name] = content.pop(min(content))
        else:
            content[0]["sample_id"] = name

    found.edit(change)
    assert json.loads(found.json().read_bytes())
    found.refused("1 ids are not samples of this split")
