"""Every producer's files are read as what they are, and the README names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from formats import golden
from formats.golden import SAMPLES, Golden
from groundeval import formats

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"\| (?P<producer>[^|`]+?) \| (?P<files>[^|]+?) \| `(?P<command>--format [^|`]+)` \|")


@pytest.mark.parametrize("sample", golden.everything(), ids=lambda g: g.producer)
def test_golden_samples_are_read_as_what_they_are(tmp_path: Path, sample: Golden) -> None:
    sample.write(tmp_path)
    rows = sample.read(tmp_path)
    column = formats.record(sample.format).shape  # the shape is the name of its column
    assert [rows[s]["status"] for s in SAMPLES] == ["answered", "answered", sample.none], rows
    for name in SAMPLES:
        assert golden.same(rows[name][column], sample.expected[name])


def test_every_format_has_a_golden_sample() -> None:
    assert {g.format for g in golden.everything()} == set(formats.names())


def test_every_record_helps() -> None:
    for name in formats.names():
        record = formats.record(name)
        assert record.name == name
        assert record.reads
        assert record.example
        assert record.traps
        assert all(option.help for option in record.options.values())


def table(text: str) -> list[tuple[str, str, str]]:
    """Producer, files and command of each line of the README's table."""
    return [(m["producer"], m["files"], m["command"]) for m in ROW.finditer(text)]


def test_the_readme_names_each_producer() -> None:
    found = table((ROOT / "README.md").read_text(encoding="utf-8"))
    if not found:
        pytest.skip("the README has no table of producers yet")
    assert found == [(g.producer, g.files, g.command) for g in golden.everything()]
