"""What Snakemake reruns, and what it does not."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.workflow.project import Project


def edit(path: Path, text: str = "\n# edited\n") -> None:
    time.sleep(0.02)
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_nothing_to_do_when_all_is_done(finished: Project) -> None:
    assert finished.wanted() == set()


def test_every_run_is_in_the_report(finished: Project) -> None:
    html = (finished.root / "results/report/index.html").read_text(encoding="utf-8")
    for name in ("almost", "nothing", "InstructPart", "gRefCOCO"):
        assert name in html
    metrics = json.loads((finished.root / "results/grefcoco/val/nothing/metrics.json").read_text(encoding="utf-8"))
    assert metrics["counts"]["none"] == metrics["counts"]["expected"] > 0
    assert metrics["dataset"]["version"] == "demo"


def test_rerun_and_number_of_cores_change_no_byte(project: Project) -> None:
    before = project.digests()
    project.snakemake("--forceall", cores=1)
    assert project.digests() == before


RUNS = {b: {(r, f"{b}/{s}/{m}") for r in ("score", "aggregate", "provenance") for m in ("almost", "nothing")}
        for b, s in (("grefcoco", "val"), ("instructpart", "test"))}  # fmt: skip
PROVENANCE = {job for jobs in RUNS.values() for job in jobs if job[0] == "provenance"}
REPORT = {("report", "")}


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ("README.md", set()),
        ("scripts/groundeval/metrics/matching.py", RUNS["grefcoco"] | REPORT),
        ("scripts/groundeval/benchmarks/instructpart/protocol.py", RUNS["instructpart"] | REPORT),
        ("scripts/groundeval/stages/score.py", RUNS["instructpart"] | RUNS["grefcoco"] | REPORT),
        ("scripts/groundeval/report/page.py", REPORT),
        ("scripts/groundeval/report/templates/style.css", REPORT),
        ("scripts/groundeval/provenance/tree.py", PROVENANCE | REPORT),
        ("scripts/groundeval/benchmarks/grefcoco/README.md", REPORT),
    ],
)
def test_an_edit_reruns_exactly_what_uses_the_file(project: Project, edited: str, expected: set) -> None:
    edit(project.root / edited)
    assert project.wanted() == expected


def test_an_edited_format_reruns_its_models_only(project: Project) -> None:
    edit(project.root / "scripts/groundeval/formats/mask_png.py")
    run = {(rule, "instructpart/test/almost") for rule in ("convert", "score", "aggregate", "provenance")}
    assert project.wanted() == run | REPORT


def test_an_option_reruns_its_model_only(project: Project) -> None:
    params = project.root / "params.yaml"
    params.write_text(params.read_text(encoding="utf-8").replace("0.7", "0.5"), encoding="utf-8")
    run = {(rule, "grefcoco/val/almost") for rule in ("convert", "score", "aggregate", "provenance")}
    assert project.wanted() == run | REPORT


def test_an_older_file_in_a_prediction_folder_is_noticed(project: Project) -> None:
    folder = project.root / "data/predictions/instructpart/almost"
    first = sorted(folder.rglob("*.png"))[0]
    stat = folder.stat()
    os.utime(first, (1_000_000_000, 1_000_000_000))
    os.utime(folder, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    run = {(rule, "instructpart/test/almost") for rule in ("convert", "score", "aggregate", "provenance")}
    assert project.wanted() == run | REPORT


def test_a_mistake_in_params_is_one_line(project: Project) -> None:
    params = project.root / "params.yaml"
    params.write_text(params.read_text(encoding="utf-8").replace("models:", "modles:", 1), encoding="utf-8")
    output = project.snakemake("-n", code=2)
    assert 'params.yaml: unknown key "modles" in instructpart, did you mean "models"?' in output
    assert "Traceback" not in output


def test_bad_predictions_stop_with_their_line_and_leave_nothing(project: Project) -> None:
    target = project.root / "data/predictions/instructpart/almost"
    first = sorted(target.rglob("*.png"))[0]
    first.write_bytes(first.read_bytes()[:40])
    output = project.snakemake(code=1)
    assert "data/predictions/instructpart/almost: 1 of" in output
    assert "Traceback" not in output
    assert not (project.root / "results/instructpart/test/almost/predictions.parquet").exists()
    assert list(project.root.rglob("*.tmp")) == []


def test_evaluate_gives_the_pipelines_numbers(finished: Project, tmp_path: Path) -> None:
    arguments = ["--truth", "data/raw/instructpart/demo", "--split", "test", "--model", "almost"]
    arguments += ["--predictions", "data/predictions/instructpart/almost", "--format", "mask_png"]
    finished.run("groundeval", "evaluate", "instructpart", *arguments, "--out", str(tmp_path / "out"))
    ours = json.loads((tmp_path / "out/metrics.json").read_text(encoding="utf-8"))
    theirs = json.loads((finished.root / "results/instructpart/test/almost/metrics.json").read_text(encoding="utf-8"))
    assert ours["dataset"]["version"] == "demo"  # of the record that lies beside the dataset
    assert ours == theirs


def test_a_folder_given_directly_serves_instead_of_the_network(project: Project) -> None:
    shutil.copytree(project.root / "data/raw/grefcoco/demo", project.root / "mine")
    params = project.root / "params.yaml"
    text = params.read_text(encoding="utf-8").replace(
        "{version: demo, splits: [val]}", "{version: own, splits: [val], folder: mine}"
    )
    params.write_text(text, encoding="utf-8")
    project.snakemake("--", "data/truth/grefcoco/val.parquet")
    assert (project.root / "data/raw/grefcoco/own/instances.json").is_file()
