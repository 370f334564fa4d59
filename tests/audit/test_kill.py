"""A few of the kills that `python -m tests.audit.kill` does fifty times."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.audit import kill
from tests.audit.project import copy_of


@pytest.mark.parametrize("number", range(2))
def test_a_killed_run_comes_to_the_same_bytes(tiny: kill.Undisturbed, tmp_path: Path, number: int) -> None:
    after = random.Random(number).uniform(0.25, 0.9) * tiny.lasts
    kill.once(tiny.start, tmp_path / "p", tiny.right, after, kill.MODES[number + 1], "snakemake")


def test_a_killed_repro_comes_to_the_same_bytes(tiny: kill.Undisturbed, tmp_path: Path) -> None:
    """The bytes are those of Snakemake alone, so there is no need of another undisturbed run."""
    kill.once(tiny.start, tmp_path / "p", tiny.right, 0.6 * tiny.lasts, kill.MODES[0], "dvc")


def test_a_partial_file_would_be_seen(tiny: kill.Undisturbed, tmp_path: Path) -> None:
    project = copy_of(tiny.start, tmp_path / "p")
    name = next(n for n in tiny.right if n.endswith("samples.parquet"))
    (project.root / name).parent.mkdir(parents=True)
    (project.root / name).write_bytes(tiny.right[name][:100])
    with pytest.raises(AssertionError, match="not whole after the kill"):
        kill.whole_files(project, tiny.right)
