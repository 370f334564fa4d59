"""`python -m tests.audit.kill [--times N] [--seed S] [--engine dvc]`: kill -9 at random moments of a whole run.

After each kill every file under its own name is whole, and a rerun gives the bytes of an undisturbed run. What is killed
and what is lost with it alternates: the whole process group or its leader alone (whose jobs go on writing), with
`.snakemake` kept or deleted.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groundeval.provenance import results
from tests.audit.project import TINY, copy_of, fresh
from tests.workflow.project import Project

ENGINES = {
    "snakemake": ("snakemake", "--profile", "envs/local", "--cores", "2", "--quiet", "all", "--"),
    "dvc": ("dvc", "repro", "-q"),
}
# (kill the leader alone, delete .snakemake)
MODES = ((False, False), (False, True), (True, True), (True, False))


@dataclass(frozen=True)
class Undisturbed:
    """A project in which nothing has run, one in which everything has, and its bytes."""

    start: Project
    whole: Project
    right: Mapping[str, bytes]


@dataclass(frozen=True)
class Moment:
    """When to kill: so many seconds after so many files stand there. Time alone misses the run on a busy machine."""

    files: int
    seconds: float

    @classmethod
    def drawn(cls, by: random.Random, right: Mapping[str, bytes]) -> Moment:
        """Anywhere in a run; a job takes about a second."""
        return cls(by.randrange(len(right)), by.uniform(0, 1.5))

    def wait(self, project: Project, process: subprocess.Popen[bytes]) -> None:
        """Until then, or until the run has ended."""
        while process.poll() is None and standing(project) < self.files:
            time.sleep(0.01)
        time.sleep(self.seconds)


def undisturbed(root: Path, engine: str) -> Undisturbed:
    """Run the smallest plan once."""
    start = fresh(root / "start", TINY)
    whole = copy_of(start, root / "whole")
    whole.run(*ENGINES[engine])
    return Undisturbed(start, whole, whole.digests())


def once(of: Undisturbed, root: Path, moment: Moment, mode: tuple[bool, bool], engine: str) -> int:
    """One kill and rerun in a new copy; how many files stood there at the kill. AssertionError: a byte differs."""
    (leader_alone, forget), right = mode, of.right
    project = copy_of(of.start, root)
    process = _start(project, ENGINES[engine])
    moment.wait(project, process)
    _kill(process, leader_alone)
    found = standing(project) if leader_alone else whole_files(project, right)  # orphans go on writing
    if forget:
        shutil.rmtree(project.root / ".snakemake", ignore_errors=True)
    else:
        _unlock(project)
    _again(project, engine)
    assert (after := named(project)) == right, _differences(after, right)
    return found


def _start(project: Project, command: tuple[str, ...]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(project.root / "scripts")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    said = subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=project.root, env=environment, stdout=said, stderr=said, start_new_session=True
    )


def _kill(process: subprocess.Popen[bytes], leader_alone: bool) -> None:
    if process.poll() is None:
        if leader_alone:
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _unlock(project: Project) -> None:
    project.run("snakemake", "--unlock")


def _again(project: Project, engine: str) -> None:
    """Run again. Orphaned jobs of a killed leader may still hold a lock: wait for them, as a person would."""
    for _ in range(20):
        output = project.run(*ENGINES[engine], code=None)
        if not any(said in output for said in ("LockException", "Unable to acquire lock", "rwlock")):
            break
        time.sleep(1)
        _unlock(project)


def whole_files(project: Project, right: Mapping[str, bytes]) -> int:
    """Every file that has its own name is what it should be in the end."""
    found = named(project)
    partial = [name for name, data in found.items() if right.get(name) != data]
    assert not partial, f"not whole after the kill: {partial}"
    return len(found)


def standing(project: Project) -> int:
    """How many files there are while jobs go on writing: what was listed may just have been renamed."""
    while True:
        with suppress(FileNotFoundError):
            return len(project.digests())


def named(project: Project) -> dict[str, bytes]:
    """What stands under its own name. A killed job may leave temporary ones beside: no stage reads or lists them."""
    return {name: data for name, data in project.digests().items() if not results.left_over(Path(name))}


def _differences(found: Mapping[str, bytes], right: Mapping[str, bytes]) -> str:
    return str(sorted(n for n in found.keys() | right.keys() if found.get(n) != right.get(n)))


def main(arguments: list[str]) -> int:
    """Kill `times` times; exit code 1 at the first difference."""
    parser = argparse.ArgumentParser(prog="python -m tests.audit.kill", description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=sorted(ENGINES), default="snakemake")
    said = parser.parse_args(arguments)
    moments = random.Random(said.seed)
    with tempfile.TemporaryDirectory(prefix="groundeval-kill-") as folder:
        of = undisturbed(Path(folder), said.engine)
        print(f"an undisturbed run makes {len(of.right)} files", flush=True)
        for number, mode in zip(range(said.times), itertools.cycle(MODES), strict=False):
            root = Path(folder, str(number))
            found = once(of, root, Moment.drawn(moments, of.right), mode, said.engine)
            shutil.rmtree(root)
            alone, forgotten = mode
            what = f"{'leader' if alone else 'group'} killed{', .snakemake deleted' if forgotten else ''}"
            print(f"{number + 1}: {what} with {found} files there, all whole; same bytes", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
