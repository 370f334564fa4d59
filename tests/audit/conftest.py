"""One project in which everything has run once; copies of it to tamper with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.project import copy_of, fresh
from tests.workflow.project import Project


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Everything has run once, from a clean commit. Tests do not change it; they take a `project`."""
    made = fresh(tmp_path_factory.mktemp("audited") / "p")
    made.snakemake()
    return made


@pytest.fixture
def project(audited: Project, tmp_path: Path) -> Project:
    """A copy to tamper with, times kept."""
    return copy_of(audited, tmp_path / "p")
