"""What goes wrong with Snakemake and DVC together: each known hazard with what keeps it away. See CONTRIBUTING.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from groundeval import closure, plan
from groundeval.errors import InputError
from groundeval.provenance import results
from groundeval.stages import provenance
from tests.audit.project import TINY, commit, edit_json, flip, verified
from tests.workflow.project import ROOT, Project

RULES = sorted((ROOT / "scripts/rules").glob("*.smk"))
PROFILES = sorted((ROOT / "envs").glob("*/config.yaml"))
RUN = "results/grefcoco/val/almost"
STAGE = re.compile(r"Running stage '([^']+)'")
EDITED = "scripts/groundeval/metrics/matching.py"


def stages(project: Project) -> Mapping[str, Any]:
    """The stages as DVC locked them, every template filled in."""
    found: Mapping[str, Any] = yaml.safe_load((project.root / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    return found


def numbers(project: Project) -> dict[str, bytes]:
    return {name: data for name, data in project.digests().items() if not name.endswith("provenance.json")}


def revised(project: Project) -> None:
    """Another version of the model: not really better."""
    edit_json(
        next((project.root / "data/predictions/grefcoco/almost").glob("*.json")),
        lambda rows: [r.update(bbox=[0, 0, 1, 1]) for r in rows[::3]],
    )


# 1 and 2. A stage makes all of its outs and nothing else, and makes it whatever stands there.


def test_each_stage_makes_exactly_its_outs_and_is_forced(reproduced: Project) -> None:
    """An intermediate that is no out would survive a checkout, and be scored as another version's. A stage that may run
    every rule would rewrite another stage's outs."""
    made: list[str] = []
    for stage in stages(reproduced).values():
        outs = {out["path"] for out in stage["outs"]} if "cmd" in stage else set()
        command = shlex.split(stage["cmd"].replace("${SNAKEMAKE_PROFILE:-envs/local}", "envs/local"))
        assert command[0] == "snakemake"
        assert "-F" in command[: command.index("--")], "what stands there is never taken for made"
        output = reproduced.run(*command[:1], "-n", *command[1:])
        wanted = {path for line in re.findall(r"^ +output: (.*)$", output, re.M) for path in line.split(", ")}
        assert wanted
        assert {path for path in wanted if not _within(path, outs)} == set()
        assert {out for out in outs if not any(_within(path, {out}) for path in wanted)} == set()
        made += outs
    assert len(made) == len(set(made))


def _within(path: str, outs: set[str]) -> bool:
    return any(path == out or path.startswith(f"{out}/") for out in outs)


def test_an_older_version_is_scored_as_itself(dvc_project: Project) -> None:
    """Version two is computed, version one checked out, the code edited: the numbers are again version one's."""
    first = numbers(dvc_project)
    revised(dvc_project)
    dvc_project.run("dvc", "add", "-q", "data/predictions/grefcoco/almost")
    dvc_project.run("dvc", "repro", "-q")
    second = numbers(dvc_project)
    commit(dvc_project, "second")
    assert second[f"{RUN}/metrics.json"] != first[f"{RUN}/metrics.json"]

    dvc_project.run("git", "checkout", "-q", "HEAD~1")
    dvc_project.run("dvc", "checkout", "-q")
    assert "up to date" in dvc_project.run("dvc", "status")
    assert numbers(dvc_project) == first
    (dvc_project.root / EDITED).open("a").write("# a comment\n")
    commit(dvc_project, "a comment")
    ran = STAGE.findall(dvc_project.run("dvc", "repro"))
    assert "evaluate@grefcoco-val-almost" in ran
    assert "report" not in ran, "a comment that leaves results byte-equal does not rerun the report"
    assert numbers(dvc_project) == first


# 3. The cache can be damaged, and DVC believes names.


def test_results_share_no_bytes_with_the_cache(reproduced: Project) -> None:
    shared = [p for p in (reproduced.root / "results").rglob("*") if p.is_file() and p.stat().st_nlink > 1]
    assert shared == []
    assert not [p for p in (reproduced.root / "results").rglob("*") if p.is_symlink()]
    kinds = reproduced.run("dvc", "config", "cache.type").strip().split(",")
    assert set(kinds) == {"reflink", "copy"}


@pytest.mark.parametrize("store", [".dvc/cache", ".dvc-storage"])
def test_an_altered_object_is_seen(dvc_project: Project, store: str) -> None:
    dvc_project.run("dvc", "push", "-q")
    assert f"objects of {store}" not in verified(dvc_project, 0)
    given = {"stores": [dvc_project.root / store]} if store == ".dvc-storage" else {}
    assert re.search(rf"objects of \S*{re.escape(store)} +PASS", verified(dvc_project, 1, **given))
    digest = next(
        o["md5"] for o in stages(dvc_project)["evaluate@grefcoco-val-almost"]["outs"] if "metrics" in o["path"]
    )
    path = dvc_project.root / store / "files/md5" / digest[:2] / digest[2:]
    mode = path.stat().st_mode
    path.chmod(0o644)
    flip(path)
    path.chmod(mode)
    assert "up to date" in dvc_project.run("dvc", "status"), "DVC believes the name"
    text = verified(dvc_project, 1, **given)
    assert f'objects are not what their names say, first "files/md5/{digest[:2]}/{digest[2:]}"' in text


# 4. DVC's lock knows no host: DVC on one host only, never from inside a rule or a job.


def test_nothing_inside_a_rule_calls_dvc() -> None:
    for path in RULES:
        for text in _shells(path):
            assert "dvc" not in text, path
    for path in (ROOT / "scripts/groundeval").rglob("*.py"):
        assert not re.search(r"""["']dvc["'],|["']dvc (repro|commit|add|push|pull)""", path.read_text()), path


# 5. A kill: see test_kill.py. What it needs stands in every profile.


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.parent.name)
def test_profiles_finish_what_a_kill_left(path: Path) -> None:
    said = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert said["rerun-incomplete"] is True
    assert said["scheduler"] == "greedy"
    assert "quiet" not in said


# 6. Marks of the engines are no data, data is not git's.


def test_marks_and_leftovers_are_no_data(dvc_project: Project) -> None:
    mark = dvc_project.root / "data/raw/grefcoco/demo/.snakemake_timestamp"
    assert mark.exists()
    listed = [json.loads(p.read_bytes()) for p in (dvc_project.root / ".dvc/cache/files/md5").rglob("*.dir")]
    assert listed
    assert not [f["relpath"] for files in listed for f in files if ".snakemake" in f["relpath"]]
    (dvc_project.root / "data/splits/grefcoco/.val.parquet.17.tmp").write_bytes(b"half")
    os.utime(mark)
    assert "up to date" in dvc_project.run("dvc", "status")


def test_a_pull_brings_predictions_too(dvc_project: Project) -> None:
    """DVC overlooks a pointer file in a folder that it takes for ignored by git."""
    pointer = dvc_project.root / "data/predictions/grefcoco/almost.dvc"
    before = dvc_project.digests()
    dvc_project.run("dvc", "push", "-q")
    for name in (".dvc/cache", "results", "data/raw", "data/splits", "data/truth", "data/predictions/grefcoco/almost"):
        shutil.rmtree(dvc_project.root / name)
    dvc_project.run("dvc", "pull", "-q")
    assert any(pointer.with_suffix("").iterdir())
    assert dvc_project.digests() == before
    assert "up to date" in dvc_project.run("dvc", "status")
    assert "FAIL" not in verified(dvc_project, 5)


def test_git_never_sees_data(dvc_project: Project) -> None:
    dvc_project.run("git", "add", "-A")
    tracked = dvc_project.run("git", "ls-files", "data", "results").split()
    allowed = {"data/sources.yaml", "data/README.md", "results/README.md", "data/predictions/grefcoco/almost.dvc"}
    assert {name for name in tracked if not name.endswith(".gitignore")} <= allowed


# 7. What Snakemake does not see by itself. An edited module and an older file: tests/workflow.


def test_another_version_of_a_library_reruns_what_uses_it(tiny_project: Project) -> None:
    with (tiny_project.root / "requirements.lock").open("a") as lock:
        lock.write("# another version\n")
    rules = {rule for rule, _ in tiny_project.wanted()}
    assert {"split", "prepare", "convert", "score", "aggregate", "provenance", "report"} <= rules


def test_edited_code_is_seen_by_verify_if_not_by_snakemake(tiny_project: Project) -> None:
    """Snakemake compares a digest of the code with what it wrote down: without `.snakemake` it has nothing to compare."""
    (tiny_project.root / EDITED).open("a").write("# edited\n")
    assert {rule for rule, _ in tiny_project.wanted()} >= {"score", "provenance", "report"}
    shutil.rmtree(tiny_project.root / ".snakemake")
    output = tiny_project.run("groundeval", "verify", "--level", "1", code=1)
    assert f'made by other code than stands here: 1 of 26 files differ, first "{EDITED}"' in re.sub(
        r"of \d+", "of 26", output
    )


def test_an_edited_output_is_seen_by_verify_if_not_by_snakemake(tiny_project: Project) -> None:
    edit_json(tiny_project.root / RUN / "metrics.json", lambda c: c["metrics"]["set_accuracy"].update(value=1.0))
    os.utime(tiny_project.root / RUN / "metrics.json", (1_500_000_000, 1_500_000_000))
    assert "metrics.json is not the file that was recorded" in verified(tiny_project, 1)


def test_dvc_knows_all_the_code_that_snakemake_knows(reproduced: Project) -> None:
    """Editing any file that a number comes from makes it stale for both."""
    known = stages(reproduced)
    run = plan.load(reproduced.root / "params.yaml").runs[0]
    of_data = ("download", "split", "prepare")
    code = {
        "data@grefcoco": (*(f"stages.{s}" for s in of_data), "benchmarks.grefcoco.truth", "benchmarks.grefcoco.demo"),
        "evaluate@grefcoco-val-almost": ("stages.provenance", *provenance.scorer_modules("grefcoco", run.format)),
        "report": ("stages.report", "benchmarks.grefcoco"),
    }
    for stage, modules in code.items():
        deps = {dep["path"] for dep in known[stage]["deps"]}
        lacking = [name for name in closure.files(*modules) if not _within(name, deps)]
        assert lacking == [], f"{stage} does not depend on {lacking}"


# 8. Forms of a rule and of a command that go wrong.


def _shells(path: Path) -> list[str]:
    """The shell commands of a rule file."""
    found = re.findall(r"^    shell:\n((?:        .*\n)+)", path.read_text(encoding="utf-8"), re.M)
    assert found, path
    return found


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_rules_run_commands_and_quote_what_they_hand_over(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^ +(run|script|notebook|wrapper):", text, re.M), "`run:` starts a Snakemake a job"
    for shell in _shells(path):
        assert [field for field in re.findall(r"{[^}]*}", shell) if not field.endswith(":q}")] == []


def test_targets_stand_behind_two_dashes(reproduced: Project) -> None:
    for stage in stages(reproduced).values():
        assert " -- " in stage["cmd"]
        assert "--cores" not in stage["cmd"], "how and where it runs is the profile's"


# 9. Parameters.


def test_a_commit_is_no_parameter(dvc_project: Project) -> None:
    commit(dvc_project, "nothing changed")
    assert "up to date" in dvc_project.run("dvc", "status")
    text = (dvc_project.root / "dvc.lock").read_text(encoding="utf-8")
    assert dvc_project.run("git", "rev-parse", "HEAD").strip() not in text


def test_an_experiment_on_a_threshold(dvc_project: Project) -> None:
    """`dvc exp run -S` rewrites params.yaml in its own style; it is read all the same, and only that model reruns."""
    threshold = "benchmarks.grefcoco.models.almost.options.score_threshold=0.95"
    ran = STAGE.findall(dvc_project.run("dvc", "exp", "run", "-S", threshold))
    assert ran == ["evaluate@grefcoco-val-almost", "report"]
    assert plan.load(dvc_project.root / "params.yaml").runs[0].options["score_threshold"] == 0.95
    assert json.loads((dvc_project.root / RUN / "metrics.json").read_bytes())["options"]["score_threshold"] == 0.95
    changed = json.loads(dvc_project.run("dvc", "metrics", "diff", "--json"), parse_constant=pytest.fail)
    difference = changed[f"{RUN}/summary.json"]["set_accuracy"]
    assert difference["new"] - difference["old"] == pytest.approx(difference["diff"])
    assert difference["diff"] != 0
    table = dvc_project.run("dvc", "metrics", "diff", "--md")
    assert re.search(r"\| results/grefcoco/val/almost/summary.json +\| set_accuracy +\| [\d.]+ +\| [\d.]+ +\|", table)
    assert "dirty tree" in (dvc_project.root / "results/report/leaderboard.md").read_text(encoding="utf-8")


# 10. Many small files.


def test_a_run_is_a_handful_of_files_however_many_samples(audited: Project) -> None:
    for folder in (audited.root / "results").glob("*/*/*"):
        if "logs" not in folder.parts:
            assert len(list(folder.iterdir())) == len(results.PIPELINE) + 1


# 11. A name that a shell would run.


@pytest.mark.parametrize("name", ["x;touch pwned", "$(touch pwned)", "a b", "-rf", "../up", "`id`", "a\nb", ""])
def test_a_model_cannot_be_named_so_that_it_runs(tmp_path: Path, name: str) -> None:
    params = tmp_path / "params.yaml"
    params.write_text(TINY.read_text(encoding="utf-8").replace("almost:", f"{json.dumps(name)}:"), encoding="utf-8")
    with pytest.raises(InputError, match="is not a name"):
        plan.load(params)


def test_nothing_runs_under_a_name_that_is_none(tiny_project: Project) -> None:
    params = tiny_project.root / "params.yaml"
    text = params.read_text(encoding="utf-8").replace("almost:", "x;touch pwned;:")
    params.write_text(text, encoding="utf-8")
    assert "is not a name" in tiny_project.run("snakemake", "--cores", "1", "--", "all", code=2)
    assert not (tiny_project.root / "pwned").exists()


# Two branches that each add a model.


def test_two_branches_that_add_a_model_merge_without_thought(dvc_project: Project) -> None:
    home = dvc_project.run("git", "branch", "--show-current").strip()
    for name in ("noisy", "nothing"):
        dvc_project.run("git", "checkout", "-q", "-b", name, home)
        dvc_project.run("dvc", "checkout", "-q")
        _add_model(dvc_project, name)
        commit(dvc_project, name)
    conflict = dvc_project.run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "merge", "noisy", code=1)
    assert "params.yaml" not in conflict.replace("Auto-merging params.yaml", "")
    dvc_project.run("groundeval", "dvc")
    dvc_project.run("dvc", "checkout", "-q", "--allow-missing")
    dvc_project.run("dvc", "repro", "-q")
    commit(dvc_project, "merged")
    assert dvc_project.run("git", "grep", "-l", "^<<<<<<<", code=1) == ""
    assert "up to date" in dvc_project.run("dvc", "status")
    assert {r.model for r in plan.load(dvc_project.root / "params.yaml").runs} == {"almost", "noisy", "nothing"}
    board = (dvc_project.root / "results/report/leaderboard.md").read_text(encoding="utf-8")
    assert all(f"| {name} " in board for name in ("almost", "noisy", "nothing"))
    assert "FAIL" not in verified(dvc_project, 4)


def _add_model(project: Project, name: str) -> None:
    """What a person does who adds a model: an entry, files, `groundeval dvc`, `dvc repro`."""
    options = {"noisy": "{boxes: xyxy, unit: norm1000}", "nothing": "{boxes: xyxy, unit: px}"}[name]
    with (project.root / "params.yaml").open("a") as params:
        params.write(f"      {name}: {{format: boxes_json, options: {options}}}\n")
    project.run(sys.executable, "-m", "groundeval", "demo", "--predictions-only")
    project.run("dvc", "add", "-q", f"data/predictions/grefcoco/{name}")
    project.run("groundeval", "dvc")
    project.run("dvc", "repro", "-q")


def test_a_stage_leaves_a_cluster_nothing_to_guess(tmp_path: Path) -> None:
    """The two dashes, the profile and the force stand in what is written, whatever the plan."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    from groundeval.stages import dvc

    commands = re.findall(r"cmd: (.*)", dvc.text(plan.load(ROOT / "params.yaml")))
    assert len(commands) == 3
    assert all("SNAKEMAKE_PROFILE" in c and " -F -- " in c for c in commands)
