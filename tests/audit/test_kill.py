"""One kill of each engine; `python -m tests.audit.kill` does fifty, at random moments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit import kill
from tests.audit.project import copy_of


@pytest.mark.parametrize(("engine", "mode"), [("snakemake", kill.MODES[1]), ("dvc", kill.MODES[0])])
def test_a_killed_run_comes_to_the_same_bytes(
    tiny: kill.Undisturbed, tmp_path: Path, engine: str, mode: tuple[bool, bool]
) -> None:
    """Of Snakemake undisturbed, whichever engine was killed."""
    moment = kill.Moment(len(tiny.right) // 2, 0.3)
    assert kill.once(tiny, tmp_path / "p", moment, mode, engine) < len(tiny.right)


def test_a_partial_file_would_be_seen(tiny: kill.Undisturbed, tmp_path: Path) -> None:
    project = copy_of(tiny.start, tmp_path / "p")
    name = next(n for n in tiny.right if n.endswith("samples.parquet"))
    (project.root / name).parent.mkdir(parents=True)
    (project.root / name).write_bytes(tiny.right[name][:100])
    with pytest.raises(AssertionError, match="not whole after the kill"):
        kill.whole_files(project, tiny.right)
