"""Every format reads from an archive what it reads from the folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from formats import damage, golden
from formats.golden import Golden
from sources import archives


@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
@pytest.mark.parametrize("sample", golden.everything(), ids=lambda g: g.producer)
def test_as_from_the_folder(tmp_path: Path, sample: Golden, kind: str) -> None:
    folder, said, packed_said = tmp_path / "files", Counter[str](), Counter[str]()
    folder.mkdir()
    sample.write(folder)
    files = {f"files/{p.relative_to(folder)}": p.read_bytes() for p in damage.files(folder)}
    packed = archives.write(tmp_path / f"files{kind}", files)
    assert sample.read(packed, packed_said) == sample.read(folder, said)
    assert packed_said == said
