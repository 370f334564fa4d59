"""One cluster for all tests here, and one project whose results a laptop made."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import slurm
from tests.workflow.project import Project, make_project


@pytest.fixture(scope="session")
def cluster() -> Iterator[slurm.Cluster]:
    """A one-node cluster that takes jobs."""
    lacking = slurm.missing()
    if lacking:
        pytest.skip(f"no cluster can be started here, Debian's {' and '.join(lacking)} is not installed")
    folder = Path(tempfile.mkdtemp(prefix="slurm"))  # a short path: sockets have a limit of 108 characters
    made = slurm.Cluster(folder, cpus=2)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def delivered(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with the models' predictions, in which nothing has run. Tests copy it."""
    made = make_project(tmp_path_factory.mktemp("delivered"))
    made.run(sys.executable, "-m", "groundeval", "demo", "--predictions-only")
    return made


@pytest.fixture(scope="session")
def local(delivered: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same, in which everything has run on this machine. Tests copy it."""
    made = copied(delivered, tmp_path_factory.mktemp("local") / "p")
    made.snakemake()
    return made


def copied(project: Project, root: Path) -> Project:
    """A copy to change, times kept."""
    shutil.copytree(project.root, root, symlinks=True)
    return Project(root)
