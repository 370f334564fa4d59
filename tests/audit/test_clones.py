"""Another clone at another path, on another number of cores, locale, time zone, umask and hash seed: the same bytes."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.audit import kill
from tests.audit.project import copy_of, everything
from tests.workflow.project import Project

ELSEWHERE = {
    "LC_ALL": "tr_TR.UTF-8",  # whose i is not ours
    "LANG": "tr_TR.UTF-8",
    "TZ": "Pacific/Chatham",
    "PYTHONHASHSEED": "12345",
    "HOME": "/nonexistent",
    "USER": "somebody",
}


def cloned(project: Project, parent: Path) -> Project:
    """With the predictions, which are no part of a clone, delivered anew."""
    path = parent / "a longer path, with blanks" / "ü"
    path.parent.mkdir()
    project.run("git", "clone", "-q", str(project.root), str(path))
    clone = Project(path)
    clone.run("sh", "-c", f"umask 077; {sys.executable} -m groundeval demo --predictions-only", **ELSEWHERE)
    return clone


def test_a_clone_elsewhere_gives_the_same_bytes(audited: Project, tmp_path: Path) -> None:
    clone = cloned(audited, tmp_path)
    everything(clone, **ELSEWHERE)
    ours, theirs = audited.digests(), clone.digests()
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert any(name.endswith("provenance.json") for name in ours)


def test_one_core_elsewhere_gives_the_bytes_of_two_here(tiny: kill.Undisturbed, tmp_path: Path) -> None:
    """And of the stages one by one, without Snakemake."""
    clone, here = cloned(tiny.start, tmp_path), copy_of(tiny.start, tmp_path / "here")
    assert "2" in kill.ENGINES["snakemake"]
    clone.run("snakemake", "--profile", "envs/local", "--cores", "1", "--quiet", "all", "--", **ELSEWHERE)
    assert clone.digests() == tiny.right
    everything(here)
    assert here.digests() == tiny.right
