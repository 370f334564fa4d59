"""Push, wipe, pull, verify; and an object that was altered in the store is refused."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.remotes import servers
from tests.workflow.project import ROOT, Project

STORES = {"folder": servers.folder, "ssh": servers.ssh, "s3": servers.s3}
PREDICTIONS = "data/predictions/grefcoco/a"


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Store]:
    if request.param == "ssh" and not (servers.sshd() and shutil.which("ssh-keygen")):
        pytest.skip("no ssh server can be started here, Debian's openssh-server is not installed")
    monkeypatch.setenv("NO_PROXY", "*")
    (tmp_path / "server").mkdir()
    with STORES[request.param](tmp_path / "server") as made:
        yield made


@pytest.fixture
def project(store: servers.Store, tmp_path: Path) -> Project:
    """The project's own DVC settings, a model's predictions, and the store in place of the folder .dvc-storage."""
    made = Project(tmp_path / "project")
    shutil.copytree(ROOT / ".dvc", made.root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp", "config.local"))
    for number in range(3):
        path = made.root / PREDICTIONS / f"{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"prediction {number}", encoding="utf-8")
    made.run("git", "init", "-q")
    made.run("dvc", "add", "-q", PREDICTIONS)
    settings = "".join(f"    {name} = {value}\n" for name, value in store.settings.items())
    (made.root / ".dvc/config.local").write_text(f"['remote \"storage\"']\n{settings}", encoding="utf-8")
    return made


def test_push_wipe_pull_and_an_altered_object_is_refused(store: servers.Store, project: Project) -> None:
    before = contents(project)
    project.run("dvc", "push", **store.environment)
    wipe(project)
    project.run("dvc", "pull", **store.environment)
    assert contents(project) == before
    assert "in sync" in project.run("dvc", "status", "-c", **store.environment)

    digest = hashlib.md5(before["1.json"]).hexdigest()
    store.objects.alter(f"{digest[:2]}/{digest[2:]}")
    wipe(project)
    assert "failed to pull data" in project.run("dvc", "pull", code=1, **store.environment)
    assert not (project.root / PREDICTIONS / "1.json").exists()


def contents(project: Project) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.root / PREDICTIONS).iterdir()}


def wipe(project: Project) -> None:
    for name in (PREDICTIONS, ".dvc/cache", ".dvc/tmp"):
        shutil.rmtree(project.root / name)
