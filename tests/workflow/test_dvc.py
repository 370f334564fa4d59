"""DVC decides what is stale, by content; Snakemake, forced, makes it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.workflow.project import Project

STAGE = re.compile(r"Running stage '([^']+)'")


@pytest.fixture(scope="module")
def reproduced(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A git and DVC repository in which `dvc repro` has run once."""
    root = tmp_path_factory.mktemp("reproduced") / "p"
    shutil.copytree(finished.root, root, symlinks=True)
    shutil.rmtree(root / "results")
    shutil.copytree(Path(__file__).parents[2] / ".dvc", root / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp"))
    made = Project(root)
    made.run("git", "init", "-q")
    made.run("groundeval", "dvc")
    output = made.run("dvc", "repro")
    assert len(STAGE.findall(output)) == 1 + 2 + 4 + 1
    return made


def test_the_same_bytes_as_snakemake_alone(finished: Project, reproduced: Project) -> None:
    assert reproduced.digests() == finished.digests()


def test_nothing_to_do_when_all_is_done(reproduced: Project) -> None:
    assert "up to date" in reproduced.run("dvc", "status")
    assert STAGE.findall(reproduced.run("dvc", "repro")) == []


def test_metrics_are_shown(reproduced: Project) -> None:
    shown = json.loads(reproduced.run("dvc", "metrics", "show", "--json"))[""]["data"]
    found = shown["results/grefcoco/val/almost/summary.json"]["data"]
    assert 0 < found["set_accuracy"] <= 1


def test_push_wipe_pull(reproduced: Project) -> None:
    before = reproduced.digests()
    reproduced.run("dvc", "push")
    for name in ("results", "data/raw", "data/splits", "data/truth", ".dvc/cache"):
        shutil.rmtree(reproduced.root / name)
    reproduced.run("dvc", "pull")
    assert reproduced.digests() == before
    assert "up to date" in reproduced.run("dvc", "status")


def test_one_changed_model_reruns_itself_and_the_report(reproduced: Project) -> None:
    path = next(iter((reproduced.root / "data/predictions/grefcoco/almost").iterdir()))
    rows = json.loads(path.read_text(encoding="utf-8"))
    rows[0] |= {"bbox": [0.0, 0.0, 1.0, 1.0], "score": 0.99}  # above the threshold, so that the numbers change
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert STAGE.findall(reproduced.run("dvc", "repro")) == ["evaluate@grefcoco-val-almost", "report"]


def test_an_option_makes_its_model_stale_and_no_other(reproduced: Project) -> None:
    params = reproduced.root / "params.yaml"
    before = params.read_text(encoding="utf-8")
    params.write_text(before.replace("0.7", "0.5"), encoding="utf-8")
    assert list(json.loads(reproduced.run("dvc", "status", "--json"))) == ["settings"]
    reproduced.run("dvc", "repro", "-q", "settings")
    assert list(json.loads(reproduced.run("dvc", "status", "--json"))) == ["evaluate@grefcoco-val-almost"]
    params.write_text(before, encoding="utf-8")
    reproduced.run("dvc", "repro", "-q", "settings")


def test_a_run_that_dvc_yaml_lacks_is_not_left_out_silently(reproduced: Project) -> None:
    params = reproduced.root / "params.yaml"
    before = params.read_text(encoding="utf-8")
    params.write_text(
        before.replace("      nothing: {format: coco_rle}", "      other: {format: coco_rle}"), encoding="utf-8"
    )
    output = reproduced.run("groundeval", "dvc", "--check", code=2)
    params.write_text(before, encoding="utf-8")
    assert "dvc.yaml: does not list the runs of params.yaml. Run `groundeval dvc`." in output


def test_shipped_dvc_yaml_lists_the_shipped_runs() -> None:
    from groundeval import plan
    from groundeval.stages import dvc

    root = Path(__file__).parents[2]
    assert (root / "dvc.yaml").read_text(encoding="utf-8") == dvc.text(plan.load(root / "params.yaml"))
