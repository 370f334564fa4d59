"""A user's own code: it is said that it runs, what it does wrong is one line, and it is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from groundeval.digests import file_sha256
from tests.security.scene import Scene

Make = Callable[[str], Scene]
GOOD = """
import json

def read(path, rows):
    answers = json.loads((path / "val.json").read_text())
    for row in rows:
        yield {"sample_id": row["sample_id"], "boxes": answers[row["sample_id"]]}
"""


def own(scene: Make, text: str) -> Scene:
    found = scene("boxes")
    (found.root / "mine.py").write_text(text, encoding="utf-8")
    found.sets = []
    return found


def test_it_is_announced_and_recorded(scene: Make) -> None:
    found = own(scene, GOOD)
    done = found.evaluate(format=f"{found.root}/mine.py:read")
    assert done.code == 0, done.err
    assert f"{found.root}/mine.py: running read, which is your own code, with your permissions" in done.err
    metrics = json.loads((found.root / "out/metrics.json").read_bytes())
    assert metrics["format"] == "mine.py:read"
    assert metrics["metrics"]["set_accuracy"]["value"] > 0
    inputs = json.loads((found.root / "out/provenance.json").read_bytes())["predicate"]["inputs"]
    assert inputs["adapter"] == {"name": "mine.py", "sha256": file_sha256(found.root / "mine.py")}
    assert not list(found.root.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("def read(path, rows):\n    return 1 / 0\n", "mine.py, line 2: ZeroDivisionError: division by zero"),
        ("def read(path, rows):\n    raise KeyError('a\\nb\\x1b[31m')\n", "mine.py, line 2: KeyError"),
        ("def read(path, rows):\n    raise MemoryError\n", "mine.py, line 2: MemoryError"),
        ("def read(path, rows):\n    return read(path, rows)\n", "RecursionError"),
        (
            "def read(path, rows):\n    yield {'sample_id': '../../etc/passwd', 'boxes': []}\n",
            "is no sample of this split",
        ),
        (
            "def read(path, rows):\n    yield {'sample_id': rows[0]['sample_id'], 'boxes': [[1]]}\n",
            "not a list of four numbers",
        ),
        ("def read(path, rows):\n    raise SystemExit(0)\n", "SystemExit: 0"),
        ("import os\nos._exit\nx = (\n", "SyntaxError"),
        ("\0", "mine.py"),
    ],
)
def test_what_it_does_wrong_is_one_line(scene: Make, text: str, what: str) -> None:
    found = own(scene, text)
    found.refused(what, format="mine.py:read")


@pytest.mark.parametrize("name", ["absent.py:read", "mine.py:absent", "mine.py", "mine.py:", "mine.py:a.b", ":read"])
def test_names_of_none(scene: Make, name: str) -> None:
    own(scene, GOOD).refused("", format=name)
