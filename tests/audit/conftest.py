"""One project in which everything has run once; copies of it to tamper with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit import kill
from tests.audit.project import MATERIAL, commit, copy_of, everything, fresh
from tests.workflow.project import Project


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Everything has been made once, from a clean commit. Tests do not change it; they take a `project`."""
    made = fresh(tmp_path_factory.mktemp("audited") / "p")
    everything(made)
    return made


@pytest.fixture
def project(audited: Project, tmp_path: Path) -> Project:
    """A copy to tamper with, times kept: results and what they come from, without the code."""
    return copy_of(audited, tmp_path / "p", *MATERIAL)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> kill.Undisturbed:
    """The smallest plan, before and after its run."""
    return kill.undisturbed(tmp_path_factory.mktemp("tiny"), "snakemake")


@pytest.fixture
def tiny_project(tiny: kill.Undisturbed, tmp_path: Path) -> Project:
    """A copy after the run, to change."""
    return copy_of(tiny.whole, tmp_path / "p")


@pytest.fixture(scope="session")
def reproduced(tiny: kill.Undisturbed, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same after `dvc repro`, predictions and lock committed. Tests do not change it; they take a `dvc_project`."""
    made = copy_of(tiny.start, tmp_path_factory.mktemp("reproduced") / "p")
    made.run("dvc", "add", "-q", "data/predictions/grefcoco/almost")
    commit(made, "predictions")
    made.run("dvc", "repro", "-q")
    commit(made, "reproduced")
    return made


@pytest.fixture
def dvc_project(reproduced: Project, tmp_path: Path) -> Project:
    """A copy with its cache, to change."""
    return copy_of(reproduced, tmp_path / "p")
