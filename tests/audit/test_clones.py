"""Another clone at another path, with one core or two, another locale, time zone, umask and hash seed: the same bytes.

What they are compared with was made stage by stage in one process.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.workflow.project import Project

ELSEWHERE = {
    "LC_ALL": "tr_TR.UTF-8",  # whose i is not ours
    "LANG": "tr_TR.UTF-8",
    "TZ": "Pacific/Chatham",
    "PYTHONHASHSEED": "12345",
    "HOME": "/nonexistent",
    "USER": "somebody",
}


def test_a_clone_elsewhere_gives_the_same_bytes(audited: Project, tmp_path: Path) -> None:
    path = tmp_path / "a longer path, with blanks" / "ü"
    path.parent.mkdir()
    audited.run("git", "clone", "-q", str(audited.root), str(path))
    clone = Project(path)
    clone.run("sh", "-c", f"umask 077; {sys.executable} -m groundeval demo --predictions-only", **ELSEWHERE)
    command = ("snakemake", "--profile", "envs/local", "--quiet", "all", "--cores")
    clone.run(*command, "1", "--", "results/instructpart/test/almost/provenance.json", **ELSEWHERE)
    clone.run(*command, "2", "--", "all", **ELSEWHERE)
    ours, theirs = audited.digests(), clone.digests()
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert any(name.endswith("provenance.json") for name in ours)
