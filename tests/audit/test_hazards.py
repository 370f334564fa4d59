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
from tests.audit.project import TINY, commit, copy_of, edit_json, flip, verified
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


def of_snakemake(project: Project) -> Mapping[str, Any]:
    """The stages that make results: all but the one that says what they depend on."""
    return {name: stage for name, stage in stages(project).items() if name != "settings"}


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
    for stage in of_snakemake(reproduced).values():
        outs = {out["path"] for out in stage["outs"]}
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
    dvc_project.run("dvc", "repro", "-q", "evaluate@grefcoco-val-almost")
    second = numbers(dvc_project)
    commit(dvc_project, "second")
    assert second[f"{RUN}/metrics.json"] != first[f"{RUN}/metrics.json"]

    dvc_project.run("git", "checkout", "-q", "HEAD~1")
    dvc_project.run("dvc", "checkout", "-q")
    assert "up to date" in dvc_project.run("dvc", "status")
    assert numbers(dvc_project) == first
    (dvc_project.root / "scripts/groundeval/stages/score.py").open("a").write("# a comment\n")
    commit(dvc_project, "a comment")
    ran = STAGE.findall(dvc_project.run("dvc", "repro"))
    assert ran == ["settings", "evaluate@grefcoco-val-almost", "report"], "for its pages name the commit"
    again = numbers(dvc_project)
    assert [name for name in first if first[name] != again[name] and not name.endswith(".html")] == []


# 3. The cache can be damaged, and DVC believes names.


def test_results_share_no_bytes_with_the_cache(reproduced: Project) -> None:
    shared = [p for p in (reproduced.root / "results").rglob("*") if p.is_file() and p.stat().st_nlink > 1]
    assert shared == []
    assert not [p for p in (reproduced.root / "results").rglob("*") if p.is_symlink()]
    kinds = reproduced.run("dvc", "config", "cache.type").strip().split(",")
    assert set(kinds) == {"reflink", "copy"}


def object_of(project: Project, stage: str, name: str) -> str:
    """The md5 of a file in the folder that a stage makes."""
    (out,) = stages(project)[stage]["outs"]
    folder = project.root / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:]
    return str(next(file["md5"] for file in json.loads(folder.read_bytes()) if file["relpath"] == name))


@pytest.mark.parametrize("store", [".dvc/cache", ".dvc-storage"])
def test_an_altered_object_is_seen(dvc_project: Project, store: str) -> None:
    dvc_project.run("dvc", "push", "-q")
    assert f"objects of {store}" not in verified(dvc_project, 0)
    given = {"stores": [dvc_project.root / store]} if store == ".dvc-storage" else {}
    assert re.search(rf"objects of \S*{re.escape(store)} +PASS", verified(dvc_project, 1, **given))
    digest = object_of(dvc_project, "evaluate@grefcoco-val-almost", "metrics.json")
    path = dvc_project.root / store / "files/md5" / digest[:2] / digest[2:]
    mode = path.stat().st_mode
    path.chmod(0o644)
    flip(path)
    path.chmod(mode)
    assert "up to date" in dvc_project.run("dvc", "status"), "DVC believes the name"
    text = verified(dvc_project, 1, **given)
    assert f'objects are not what their names say, first "files/md5/{digest[:2]}/{digest[2:]}"' in text
    if given:
        for name in (".dvc/cache", RUN):
            shutil.rmtree(dvc_project.root / name)
        output = dvc_project.run("dvc", "pull", code=1)
        assert f"Checkout failed for following targets:\n{RUN}\n" in output, "for the remote is verified"
        assert not (dvc_project.root / RUN / "metrics.json").exists()


# 4. DVC's lock knows no host: DVC on one host only, never from inside a rule or a job.


def test_nothing_inside_a_rule_calls_dvc() -> None:
    for path in RULES:
        for text in _shells(path):
            assert "dvc" not in text, path
    for path in (ROOT / "scripts/groundeval").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search("subprocess|os.system|Popen", text):
            assert not re.search(r"""["']dvc["'],|["']dvc (repro|commit|add|push|pull)""", text), path


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


def test_a_clone_and_a_pull_bring_everything(dvc_project: Project, tmp_path: Path) -> None:
    """The README's commands. DVC overlooks a pointer file in a folder that it takes for ignored by git: no predictions."""
    dvc_project.run("dvc", "push", "-q")
    dvc_project.run("git", "clone", "-q", str(dvc_project.root), str(tmp_path / "clone"))
    clone = Project(tmp_path / "clone")
    clone.run("dvc", "remote", "modify", "--local", "storage", "url", str(dvc_project.root / ".dvc-storage"))
    clone.run("dvc", "pull", "-q")
    assert clone.digests() == dvc_project.digests()
    assert any((clone.root / "data/predictions/grefcoco/almost").iterdir())
    text = clone.run("groundeval", "verify", "results", "--level", "5")
    assert "whether the code was commit" not in text
    assert text.count("not checked") == 2, text  # the signature: its verdict, and why
    assert STAGE.findall(clone.run("dvc", "repro")) == []


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


def test_edited_code_is_seen_by_snakemake_and_by_verify(tiny_project: Project) -> None:
    (tiny_project.root / EDITED).open("a").write("# edited\n")
    assert {rule for rule, _ in tiny_project.wanted()} == {"score", "aggregate", "provenance", "report"}
    output = tiny_project.run("groundeval", "verify", "--level", "1", code=1)
    assert re.search(rf'made by other code than stands here: 1 of \d+ files differ, first "{EDITED}"', output)


def test_what_snakemake_has_forgotten_is_made_again(tiny_project: Project) -> None:
    """It compares code, options and predictions with what it wrote down: without `.snakemake` it has nothing to compare
    and would take every result for current."""
    shutil.rmtree(tiny_project.root / ".snakemake")
    (tiny_project.root / EDITED).open("a").write("# edited\n")
    every = {"split", "prepare", "convert", "score", "aggregate", "provenance", "report"}
    assert {rule for rule, _ in tiny_project.wanted()} == every
    assert {rule for rule, _ in tiny_project.wanted()} == every, "a question is no answer"


def test_a_tree_that_cannot_be_written_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / closure.MEMORY.parent).write_text("no folder")
    assert closure.memory() == []
    (tmp_path / closure.MEMORY.parent).unlink()
    assert closure.memory() == [str(closure.MEMORY)]
    assert closure.MEMORY.is_file()


def test_an_edited_output_is_seen_by_verify_if_not_by_snakemake(tiny_project: Project) -> None:
    edit_json(tiny_project.root / RUN / "metrics.json", lambda c: c["metrics"]["set_accuracy"].update(value=1.0))
    os.utime(tiny_project.root / RUN / "metrics.json", (1_500_000_000, 1_500_000_000))
    assert "metrics.json is not the file that was recorded" in verified(tiny_project, 1)


# Edited file -> whose settings say so: those of the dataset, those of the model.
KNOWN = {
    "scripts/groundeval/sources/folder.py": {"grefcoco.json", "grefcoco/almost.json"},
    "scripts/groundeval/benchmarks/grefcoco/truth.py": {"grefcoco.json", "grefcoco/almost.json"},
    "scripts/groundeval/benchmarks/grefcoco/demo.py": {"grefcoco.json"},
    "scripts/groundeval/benchmarks/grefcoco/protocol.py": {"grefcoco/almost.json"},
    "scripts/groundeval/formats/boxes_json.py": {"grefcoco/almost.json"},
    "scripts/groundeval/stages/score.py": {"grefcoco/almost.json"},
    "scripts/groundeval/provenance/tree.py": {"grefcoco/almost.json"},
    "scripts/groundeval/cli.py": {"grefcoco.json", "grefcoco/almost.json"},
    "scripts/rules/evaluate.smk": {"grefcoco/almost.json"},
    "scripts/rules/data.smk": {"grefcoco.json"},
    "scripts/groundeval/formats/mask_png.py": set(),
    "scripts/groundeval/report/page.py": set(),
}


def test_dvc_knows_all_the_code_that_snakemake_knows(reproduced: Project, tmp_path: Path) -> None:
    """Editing any file that a number comes from makes it stale for both: DVC hears of it through data/settings."""
    known = {name: {dep["path"] for dep in stage["deps"]} for name, stage in stages(reproduced).items()}
    assert known["settings"] >= {"params.yaml", "requirements.lock", "scripts/groundeval", "scripts/rules"}
    assert "data/settings/grefcoco.json" in known["data@grefcoco"]
    assert "data/settings/grefcoco/almost.json" in known["evaluate@grefcoco-val-almost"]
    planned = plan.load(reproduced.root / "params.yaml")
    assert [n for n in closure.files(*plan.reporting(planned)) if not _within(n, known["report"])] == []
    copy = copy_of(reproduced, tmp_path / "p", "scripts", "data", "params.yaml", "requirements.lock")
    for edited, expected in KNOWN.items():
        before = _settings(copy)
        with (copy.root / edited).open("a") as file:
            file.write("# edited\n")
        copy.run(sys.executable, "-m", "groundeval", "settings")
        assert {name for name, text in _settings(copy).items() if before[name] != text} == expected, edited


def _settings(project: Project) -> dict[str, str]:
    folder = project.root / "data/settings"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.json")}


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
    for stage in of_snakemake(reproduced).values():
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
    assert ran == ["settings", "evaluate@grefcoco-val-almost", "report"]
    assert plan.load(dvc_project.root / "params.yaml").runs[0].options["score_threshold"] == 0.95
    assert json.loads((dvc_project.root / RUN / "metrics.json").read_bytes())["options"]["score_threshold"] == 0.95
    _differences_are_numbers(dvc_project)
    assert "dirty tree" in (dvc_project.root / "results/report/leaderboard.md").read_text(encoding="utf-8")


def _differences_are_numbers(project: Project) -> None:
    """What `dvc metrics diff` says can be read, by people and by a strict JSON parser: no NaN."""
    changed = json.loads(project.run("dvc", "metrics", "diff", "--json"), parse_constant=pytest.fail)
    difference = changed[f"{RUN}/summary.json"]["set_accuracy"]
    assert difference["new"] - difference["old"] == pytest.approx(difference["diff"])
    assert difference["diff"] != 0
    table = project.run("dvc", "metrics", "diff", "--md")
    assert re.search(r"\| results/grefcoco/val/almost/summary.json +\| set_accuracy +\| [\d.]+ +\| [\d.]+ +\|", table)


def test_two_versions_of_a_curve_are_drawn(dvc_project: Project) -> None:
    """From two commits' files, in the template of ours that DVC fills in; it needs no network to say so."""
    path = dvc_project.root / RUN / "curves.csv"
    header = path.read_text(encoding="utf-8").splitlines()[0]
    assert header == "curve,threshold,recall,precision"
    path.write_text(f"{header}\nAP,0.9,0.25,1.0\nAP,0.5,0.75,0.5\n", encoding="utf-8")
    dvc_project.run("dvc", "commit", "-f", "-q")
    commit(dvc_project, "a curve")
    path.write_text(f"{header}\nAP,0.9,0.5,1.0\n", encoding="utf-8")
    said = json.loads(dvc_project.run("dvc", "plots", "diff", "HEAD", "--json"), parse_constant=pytest.fail)
    (drawn,) = said["data"][f"{RUN}/curves.csv"]
    points = {(p["rev"], float(p["recall"]), float(p["precision"])) for p in drawn["content"]["data"]["values"]}
    assert points == {("HEAD", 0.25, 1.0), ("HEAD", 0.75, 0.5), ("workspace", 0.5, 1.0)}
    assert {drawn["content"]["encoding"][axis]["field"] for axis in "xy"} == {"recall", "precision"}


# 10. Many small files.


def test_a_run_is_a_handful_of_files_however_many_samples(audited: Project) -> None:
    for run in plan.load(audited.root / "params.yaml").runs:
        assert len(list((audited.root / run.folder).iterdir())) == len(results.PIPELINE) + 1


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
    """What a person does who adds a model: an entry, files, `groundeval dvc`, `dvc repro` of at least its stage."""
    options = {"noisy": "{boxes: xyxy, unit: norm1000}", "nothing": "{boxes: xyxy, unit: px}"}[name]
    with (project.root / "params.yaml").open("a") as params:
        params.write(f"      {name}: {{format: boxes_json, options: {options}}}\n")
    project.run(sys.executable, "-m", "groundeval", "demo", "--predictions-only")
    project.run("dvc", "add", "-q", f"data/predictions/grefcoco/{name}")
    project.run("groundeval", "dvc")
    project.run("dvc", "repro", "-q", f"evaluate@grefcoco-val-{name}")


def test_a_stage_leaves_a_cluster_nothing_to_guess(tmp_path: Path) -> None:
    """The two dashes, the profile and the force stand in what is written, whatever the plan."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    from groundeval.stages import dvc

    commands = re.findall(r"cmd: (snakemake .*)", dvc.text(plan.load(ROOT / "params.yaml")))
    assert len(commands) == 3
    assert all("SNAKEMAKE_PROFILE" in c and " -F -- " in c for c in commands)
