"""A copy of the project in a folder of its own, in which the pipeline really runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("Snakefile", "params.yaml", "dvc.yaml", "requirements.lock", "README.md", ".dvcignore", ".gitignore")
PARAMS = Path(__file__).parent / "small" / "params.yaml"


class Project:
    """The project's files in `root`, and the engines to run there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *command: str, code: int | None = 0, **extra: str) -> str:
        """Run a command there; its output; its exit code is checked."""
        bin_folder = str(Path(sys.executable).parent)
        environment = {**os.environ, **extra, "PYTHONPATH": str(self.root / "scripts")}
        environment["PATH"] = f"{bin_folder}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        output = done.stdout + done.stderr
        assert code is None or done.returncode == code, output[-6000:]
        return output

    def snakemake(self, *arguments: str, code: int | None = 0, cores: int = 2) -> str:
        """Run Snakemake with the local profile."""
        command = ("snakemake", "--profile", "envs/local", "--cores", str(cores), *arguments)
        return self.run(*command, code=code)

    def wanted(self, *arguments: str) -> set[tuple[str, str]]:
        """What a dry run would do: (rule, benchmark/split/model or the like)."""
        output = self.snakemake("-n", *arguments)
        jobs = re.findall(r"^rule (\w+):\n((?:    .*\n)*)", output, re.M)
        return {(rule, _wildcards(body)) for rule, body in jobs if rule != "all"}

    def digests(self) -> dict[str, bytes]:
        """The bytes of every result and table."""
        found = [*self.root.glob("results/**/*"), *self.root.glob("data/[st]*/**/*.parquet")]
        left_out = {"logs", "README.md", ".snakemake_timestamp"}
        kept = (p for p in found if p.is_file() and not left_out.intersection(p.parts))
        return {str(p.relative_to(self.root)): p.read_bytes() for p in kept}


def _wildcards(body: str) -> str:
    match = re.search(r"wildcards: (.*)", body)
    return "/".join(part.split("=")[1] for part in match[1].split(", ")) if match else ""


def make_project(root: Path) -> Project:
    """A fresh copy without any data."""
    for name in CODE:
        if (ROOT / name).exists():
            shutil.copy2(ROOT / name, root / name)
    shutil.copytree(ROOT / "scripts", root / "scripts", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copytree(ROOT / "envs", root / "envs")
    (root / "data").mkdir()
    shutil.copy2(ROOT / "data" / "sources.yaml", root / "data")
    shutil.copy2(PARAMS, root / "params.yaml")
    return Project(root)
