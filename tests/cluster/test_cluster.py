"""The same Snakefile on a Slurm cluster, through either executor plugin: the same bytes, whatever is killed on the way."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.conftest import copied
from tests.cluster.runs import Running
from tests.cluster.slurm import Cluster, wait_for
from tests.workflow.project import ROOT, Project


def harmed(profile: str, cluster: Cluster, project: Project, node_too: bool = False) -> None:
    """Run it while one job is cancelled, the processes of another are killed, and perhaps the node is lost under a third."""
    running = Running(project, cluster, profile)
    first = cluster.next_running()
    cluster.run("scancel", first)
    second = cluster.next_running(first)
    cluster.kill_job(second)
    third = cluster.next_running(first, second)
    if node_too:
        cluster.lose_node()
        cluster.return_node()
    running.end()
    assert [cluster.ended(job)[0] for job in (first, second)] == ["CANCELLED", "FAILED"]
    assert cluster.ended(third) == ("COMPLETED", int(node_too))


def without_results(project: Project, root: Path, benchmark: str) -> Project:
    """A copy in which the models of one benchmark, and the report, are to be run."""
    made = copied(project, root)
    for name in (benchmark, "report"):
        shutil.rmtree(made.root / "results" / name)
    return made


@pytest.fixture(scope="module")
def everything(cluster: Cluster, delivered: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Everything, run through the generic plugin, with harm on the way."""
    project = copied(delivered, tmp_path_factory.mktemp("everything") / "p")
    harmed("cluster", cluster, project, node_too=True)
    return project


def test_everything_through_the_generic_plugin(local: Project, everything: Project) -> None:
    assert everything.digests() == local.digests()


def test_a_benchmark_through_the_slurm_plugin(cluster: Cluster, local: Project, tmp_path: Path) -> None:
    project = without_results(local, tmp_path / "p", "grefcoco")
    harmed("slurm", cluster, project)
    assert project.digests() == local.digests()


def test_one_dvc_commit_ends_a_cluster_run(everything: Project, tmp_path: Path) -> None:
    project = copied(everything, tmp_path / "p")
    shutil.copytree(ROOT / ".dvc", project.root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    project.run("git", "init", "-q")
    project.run("groundeval", "dvc")
    project.run("dvc", "commit", "-f", "-q")
    assert "up to date" in project.run("dvc", "status")


def test_the_recorded_command_unchanged_on_slurm(cluster: Cluster, local: Project, tmp_path: Path) -> None:
    project = copied(local, tmp_path / "p")
    shutil.copytree(ROOT / ".dvc", project.root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    project.run("git", "init", "-q")
    project.run("groundeval", "dvc")
    project.run("dvc", "commit", "-f", "-q")
    shutil.rmtree(project.root / "results/grefcoco/val/almost")
    recorded = (project.root / "dvc.lock").read_bytes()
    stage = "evaluate@grefcoco-val-almost"
    profile = project.root / "envs/slurm/config.yaml"
    profile.write_text(profile.read_text(encoding="utf-8").replace("status-checks: 20", "status-checks: 2"))
    environment = {**cluster.environment, "SNAKEMAKE_PROFILE": "envs/slurm"}
    output = project.run("dvc", "repro", "--force", "--single-item", "--no-run-cache", stage, **environment)
    assert "has been submitted with SLURM jobid" in output
    assert (project.root / "dvc.lock").read_bytes() == recorded
    assert project.digests() == local.digests()


def test_a_killed_snakemake_goes_on_where_it_stopped(cluster: Cluster, local: Project, tmp_path: Path) -> None:
    project = without_results(local, tmp_path / "p", "grefcoco")
    first = Running(project, cluster, "cluster")
    cluster.next_running()
    first.kill()
    cluster.run("scancel", "--me")
    wait_for("an empty queue", lambda: cluster.jobs() == [])
    assert "--unlock" in Running(project, cluster, "cluster").end(code=1)
    project.snakemake("--unlock")
    Running(project, cluster, "cluster").end()
    assert project.digests() == local.digests()


def test_status_of_a_job_nobody_knows_and_of_a_silent_controller(cluster: Cluster, tmp_path: Path) -> None:
    script = str(ROOT / "envs/cluster/status.sh")
    assert cluster.run(script, "999999").strip() == "failed"
    configuration = (cluster.folder / "slurm.conf").read_text(encoding="utf-8")
    silent = re.sub(r"SlurmctldPort=\d+", "SlurmctldPort=9\nMessageTimeout=2", configuration)
    (tmp_path / "slurm.conf").write_text(silent, encoding="utf-8")
    environment = {**cluster.environment, "SLURM_CONF": str(tmp_path / "slurm.conf")}
    done = subprocess.run([script, "1"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "running"


def test_both_profiles_ask_for_the_same() -> None:
    slurm, other = _profiles()
    shared = (
        "cores",
        "set-threads",
        "default-resources",
        "set-resources",
        "groups",
        "retries",
        "rerun-incomplete",
        "latency-wait",
    )
    assert {key: slurm[key] for key in shared} == {key: other[key] for key in shared}


def test_every_rule_runs_in_a_group_or_where_snakemake_runs() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "scripts/rules").glob("*.smk"))
    rules = re.findall(r"^rule (\w+):\n((?:    .*\n|\n)*)", text, flags=re.M)
    here = {name for name, body in rules if "localrule: True" in body}
    assert here == {"download", "report"}
    assert {name for name, _ in rules} - here == set(_profiles()[0]["groups"])


def _profiles() -> list[dict[str, Any]]:
    return [yaml.safe_load((ROOT / f"envs/{name}/config.yaml").read_text()) for name in ("slurm", "cluster")]
