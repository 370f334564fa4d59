"""A few of the kills that `python -m tests.audit.kill` does fifty times."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.audit import kill
from tests.audit.project import copy_of


@pytest.mark.parametrize("number", range(2))
def test_a_killed_run_comes_to_the_same_bytes(tiny: kill.Undisturbed, tmp_path: Path, number: int) -> None:
    moment = kill.Moment.drawn(random.Random(number), tiny.right)
    assert kill.once(tiny, tmp_path / "p", moment, kill.MODES[number + 1], "snakemake") < len(tiny.right)


def test_a_killed_repro_comes_to_the_same_bytes(tiny: kill.Undisturbed, tmp_path: Path) -> None:
    """The bytes are those of Snakemake alone, so there is no need of another undisturbed run."""
    moment = kill.Moment(len(tiny.right) // 2, 0.5)
    assert kill.once(tiny, tmp_path / "p", moment, kill.MODES[0], "dvc") < len(tiny.right)


def test_a_partial_file_would_be_seen(tiny: kill.Undisturbed, tmp_path: Path) -> None:
    project = copy_of(tiny.start, tmp_path / "p")
    name = next(n for n in tiny.right if n.endswith("samples.parquet"))
    (project.root / name).parent.mkdir(parents=True)
    (project.root / name).write_bytes(tiny.right[name][:100])
    with pytest.raises(AssertionError, match="not whole after the kill"):
        kill.whole_files(project, tiny.right)
