"""A project in which everything has run once, and copies of it to change."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.workflow.project import Project, make_project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which everything has run once. Tests do not change it; they take a `project`."""
    made = make_project(tmp_path_factory.mktemp("finished"))
    made.run(sys.executable, "-m", "groundeval", "demo", "--predictions-only")
    made.snakemake()
    return made


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project, times kept."""
    shutil.copytree(finished.root, tmp_path / "p", symlinks=True)
    return Project(tmp_path / "p")
