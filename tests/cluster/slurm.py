"""A one-node Slurm cluster on the loopback interface: munged, slurmctld and slurmd, started and ended by the tests.

Nothing of it needs a service manager, an accounting database or the machine's own configuration.
"""

from __future__ import annotations

import getpass
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROGRAMS = {
    "munge": ("munged",),
    "slurm-wlm": ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel"),
}
PATH = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"])
CONFIGURATION = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=5
JobAcctGatherParams=OverMemoryKill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=300
KillWait=2
SlurmdTimeout=6
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """The Debian packages that this machine lacks."""
    return [package for package, names in PROGRAMS.items() if not all(shutil.which(n, path=PATH) for n in names)]


def wait_for(what: str, true: Callable[[], object], seconds: float = 60) -> None:
    """Until `true()` is; AssertionError when it never is."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.1)


class Cluster:
    """Controller and node; `environment` makes Slurm's commands and jobs speak to it."""

    def __init__(self, folder: Path, cpus: int) -> None:
        self.folder, self.host = folder, socket.gethostname().split(".")[0]
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder}/bin{os.pathsep}{PATH}"}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("state", "spool", "bin"):
            (folder / name).mkdir()
        # Within a job the plugin drops SLURM_CONF for srun: on a real cluster the configuration stands in /etc.
        srun = folder / "bin" / "srun"
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun", path=PATH)} "$@"\n')
        srun.chmod(0o755)
        controller, node = _free_ports(2)
        text = CONFIGURATION.format(
            folder=folder, host=self.host, controller=controller, node=node, user=getpass.getuser(), cpus=cpus
        )
        (folder / "slurm.conf").write_text(text, encoding="utf-8")

    def start(self) -> None:
        """All three daemons; returns when the node takes jobs."""
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        places = [f"--{option}={self.folder}/munge.{end}" for option, end in files.items()]
        self._start("munged", "--foreground", "--force", *places)
        wait_for("munged", lambda: (self.folder / "munge.socket").exists())
        self._start("slurmctld", "-D", "-i")
        self.start_node()

    def start_node(self) -> None:
        """The node's daemon; returns when the node takes jobs."""
        self._start("slurmd", "-D", "-N", self.host)
        wait_for("the node", lambda: self.node_state() in {"IDLE", "MIXED", "ALLOCATED"})

    def lose_node(self) -> None:
        """As when a machine without a disk loses power: its daemon, all processes of its jobs, and what it knew are gone."""
        self._running["slurmd"].kill()
        self._running.pop("slurmd").wait()
        for process in self._of():
            _kill(process)
        shutil.rmtree(self.folder / "spool")
        (self.folder / "spool").mkdir()
        # The controller notices it by itself, in some 20 s.
        self.run("scontrol", "update", f"NodeName={self.host}", "State=DOWN", "Reason=lost")
        wait_for("the node to be down", lambda: self.node_state() == "DOWN")

    def return_node(self) -> None:
        """The node comes back. Slurm waits two minutes until it starts the lost jobs anew, here some seconds: until the node
        has heard that it should end the lost ones."""
        self.run("scontrol", "update", f"NodeName={self.host}", "State=RESUME")
        self.start_node()
        for job in self.jobs("PENDING"):
            self.run("scontrol", "update", f"JobId={job}", "StartTime=now+8")

    def next_running(self, *but: str) -> str:
        """A job that is none of those and in which Snakemake is at work."""
        found: list[str] = []

        def at_work() -> bool:
            found[:] = [job for job in self.jobs("RUNNING") if job not in but and self._of(job)]
            return bool(found)

        wait_for("a job at work", at_work)
        return found[0]

    def ended(self, job: str) -> tuple[str, int]:
        """How a job ended, and how often it was started anew."""
        wait_for(f"the end of job {job}", lambda: job not in self.jobs())
        said = self.run("scontrol", "show", "job", "--oneliner", job)
        return re.findall(r"JobState=(\w+)", said)[0], int(re.findall(r"Restarts=(\d+)", said)[0])

    def kill_job(self, job: str) -> None:
        """kill -9 of all that the job runs, as the kernel does when memory is short."""
        for process in self._of(job):
            _kill(process)

    def stop(self) -> None:
        """End the daemons, and whatever job is left."""
        for identifier in self.jobs():
            self.run("scancel", "--full", "--signal=KILL", identifier, check=False)
        for name in ("slurmd", "slurmctld", "munged"):
            if name in self._running:
                process = self._running.pop(name)
                process.terminate()
                process.wait(30)

    def run(self, *command: str, check: bool = True) -> str:
        """One of Slurm's commands; its output."""
        done = subprocess.run(
            command, env={**os.environ, **self.environment}, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def jobs(self, state: str = "PENDING,RUNNING,COMPLETING") -> list[str]:
        """Identifiers of the jobs in such a state."""
        return self.run("squeue", "--noheader", "--format=%i", f"--states={state}", check=False).split()

    def node_state(self) -> str:
        """As scontrol names it: IDLE, DOWN, DOWN* ..."""
        found = re.search(r"State=(\S+)", self.run("scontrol", "show", "node", self.host, check=False))
        return found[1].rstrip("*") if found else "UNKNOWN"

    def _of(self, job: str = "") -> list[int]:
        """Process ids of what a job runs, once that is Snakemake; of all jobs, with the daemons of their steps."""
        found = {process: _known(process) for process in Path("/proc").glob("[0-9]*")}
        ours = {int(p.name): (title, rest) for p, (title, rest) in found.items() if str(self.folder) in rest}
        if not job:
            return [p for p, (title, rest) in ours.items() if "slurmstepd" in title or "SLURM_JOB_ID=" in rest]
        mine = {p: title for p, (title, rest) in ours.items() if f"SLURM_JOB_ID={job}\0" in rest}
        return list(mine) if any("snakemake" in title for title in mine.values()) else []

    def _start(self, name: str, *arguments: str) -> None:
        program = shutil.which(name, path=PATH)
        assert program
        with (self.folder / f"{name}.out").open("wb") as out:
            self._running[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", program, *arguments],  # it ends with the tests, however they end
                env={**os.environ, **self.environment},
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )


def _known(process: Path) -> tuple[str, str]:
    """A process's title; its environment and open files (the daemon of a step writes its title over the environment)."""
    try:
        title, environment = ((process / name).read_text(errors="replace") for name in ("cmdline", "environ"))
        files = [str(path.readlink()) for path in (process / "fd").iterdir()] if "slurmstepd" in title else []
    except OSError:  # it has ended meanwhile, or is somebody else's
        return "", ""
    return title, environment + " ".join(files)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports
