"""What happens to files on their way: each kind of damage, for the files of any format."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from pathlib import Path

from formats.golden import SAMPLES

Damage = Callable[[Path, random.Random], None]  # a file of a folder, in place

OTHER_FILES = {
    "text": b"hello, this is no prediction\n",
    "zeros": bytes(4096),
    "zip": b"PK\x03\x04" + bytes(60),
    "pickle": pickle.dumps({"a": [1, 2]}),
    "page": b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
    "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
    "null": b"null",
    "number": b"12",
    "list": b"[[1, 2]]",
    "object": b'{"a": 1}',
}


def files(folder: Path) -> list[Path]:
    """All files, sorted."""
    return sorted(p for p in folder.rglob("*") if p.is_file())


def empty(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"")


def cut(path: Path, rng: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(1, len(data))])


def cut_last(path: Path, rng: random.Random) -> None:
    """Of text, the last character that is no white space."""
    data = path.read_bytes()
    path.write_bytes((data if data[:1] not in b"[{" else data.rstrip())[:-1])


def other_file(path: Path, rng: random.Random) -> None:
    path.write_bytes(OTHER_FILES[rng.choice(sorted(OTHER_FILES))])


def flip(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(data))


def lose(path: Path, rng: random.Random) -> None:
    """The file, or, where it holds all samples, one of its records."""
    if not _is_of_all(path):
        path.unlink()
        return
    records = _records(path)
    left = [r for r in records if SAMPLES[1] not in r]
    _write(path, left if 0 < len(left) < len(records) else records[1:])


def rename(path: Path, rng: random.Random) -> None:
    """A name, or an id within the file, that is of no sample."""
    if _is_of_all(path):
        text = path.read_text(encoding="utf-8").replace(f'"{SAMPLES[0]}"', '"photo-9-z"')
        path.write_text(text.replace('"0":', '"999":').replace('"img_id": 0', '"img_id": 999'), encoding="utf-8")
    else:
        path.rename(path.with_name("photo-9" + path.name[7:]))


def double(path: Path, rng: random.Random) -> None:
    """A copy of the file in another letter case, or, where it holds all samples, of its first record."""
    if _is_of_all(path):
        _write(path, [*_records(path), _records(path)[0]])
    else:
        path.with_suffix(path.suffix.upper()).write_bytes(path.read_bytes())


def _is_of_all(path: Path) -> bool:
    return path.suffix in (".json", ".jsonl") and len(files(path.parent)) <= 2


def _records(path: Path) -> list[str]:
    """The lines, list items or pairs of a file, as text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return text.splitlines()
    content = json.loads(text)
    if isinstance(content, list):
        return [json.dumps(item) for item in content]
    return [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]


def _write(path: Path, records: list[str]) -> None:
    if path.suffix == ".jsonl":
        text = "".join(f"{r}\n" for r in records)
    else:
        start, end = "[]" if path.read_text(encoding="utf-8")[0] == "[" else "{}"
        text = start + ", ".join(records) + end
    path.write_text(text, encoding="utf-8")


KINDS: dict[str, Damage] = {d.__name__: d for d in (empty, cut, cut_last, other_file, flip, lose, rename, double)}
