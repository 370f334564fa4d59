"""Snakemake with a cluster's profile as a process, so that a test can do harm while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cluster.slurm import Cluster
from tests.workflow.project import Project

# How often a plugin looks; the profiles' own values suit real clusters, where looking often is not welcome.
OFTEN = {
    "slurm": ("--slurm-init-seconds-before-status-checks", "2"),
    "cluster": ("--seconds-between-status-checks", "1"),
}


class Running:
    """Snakemake with `envs/<profile>` at work in a project."""

    def __init__(self, project: Project, cluster: Cluster, profile: str, *targets: str) -> None:
        environment = {**os.environ, **cluster.environment, "PYTHONPATH": str(project.root / "scripts")}
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        command = ["snakemake", "--profile", f"envs/{profile}", "--latency-wait", "5", *OFTEN[profile], "--", *targets]
        self.log = project.root / "cluster.log"
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(
                command, cwd=project.root, env=environment, stdout=out, stderr=subprocess.STDOUT
            )

    def end(self, code: int = 0, seconds: float = 240) -> str:
        """Wait; its output. AssertionError where it ends otherwise, or not at all."""
        try:
            found = self._process.wait(seconds)
        finally:
            self.kill()
        output = self.log.read_text(encoding="utf-8")
        assert found == code, output[-6000:]
        return output

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
