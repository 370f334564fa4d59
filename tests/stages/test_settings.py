"""What a model's results depend on beside data: exactly what can change them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workflow.project import Project, make_project

GREFCOCO, INSTRUCTPART = ({f"{b}/{m}" for m in ("almost", "nothing")} for b in ("grefcoco", "instructpart"))
DATA = {"grefcoco", "instructpart"}


def settings(project: Project) -> dict[str, bytes]:
    project.run("python", "-m", "groundeval", "settings")
    folder = project.root / "data/settings"
    return {str(p.relative_to(folder).with_suffix("")): p.read_bytes() for p in folder.rglob("*.json")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(tmp_path_factory.mktemp("settings"))


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ("README.md", set()),
        ("scripts/groundeval/report/page.py", set()),
        ("scripts/groundeval/metrics/matching.py", GREFCOCO),
        ("scripts/groundeval/formats/mask_png.py", {"instructpart/almost"}),
        ("scripts/groundeval/benchmarks/instructpart/protocol.py", INSTRUCTPART),
        ("scripts/groundeval/benchmarks/grefcoco/demo.py", {"grefcoco"}),
        ("scripts/groundeval/benchmarks/grefcoco/truth.py", {"grefcoco"} | GREFCOCO),
        ("scripts/groundeval/stages/score.py", GREFCOCO | INSTRUCTPART),
        ("scripts/groundeval/provenance/tree.py", GREFCOCO | INSTRUCTPART),
        ("scripts/rules/evaluate.smk", GREFCOCO | INSTRUCTPART),
        ("scripts/rules/data.smk", DATA),
        ("scripts/groundeval/cli.py", DATA | GREFCOCO | INSTRUCTPART),
        ("scripts/groundeval/commands/stages.py", DATA | GREFCOCO | INSTRUCTPART),
        ("scripts/groundeval/commands/user.py", set()),
        ("requirements.lock", DATA | GREFCOCO | INSTRUCTPART),
    ],
)
def test_an_edit_changes_exactly_what_uses_the_file(project: Project, edited: str, expected: set[str]) -> None:
    before = settings(project)
    with (project.root / edited).open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    after = settings(project)
    assert {name for name in after if after[name] != before[name]} == expected
    assert set(after) == DATA | GREFCOCO | INSTRUCTPART


def test_a_model_comes_changes_and_goes(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    before = settings(project)
    params = project.root / "params.yaml"
    text = params.read_text(encoding="utf-8")
    times = {path: path.stat().st_mtime_ns for path in (project.root / "data/settings").rglob("*.json")}
    new = text.replace("score_threshold: 0.7", "score_threshold: 0.5").replace(
        "      nothing: {format: coco_rle", "      other: {format: coco_rle"
    )
    params.write_text(new, encoding="utf-8")
    after = settings(project)
    assert set(after) - set(before) == {"instructpart/other"}
    assert set(before) - set(after) == {"instructpart/nothing"}
    assert json.loads(after["grefcoco/almost"])["model"]["options"]["score_threshold"] == 0.5
    same = {name for name in after if after[name] == before.get(name)}
    assert same == {"grefcoco", "instructpart", "grefcoco/nothing", "instructpart/almost"}
    for name in same:
        path = project.root / f"data/settings/{name}.json"
        assert path.stat().st_mtime_ns == times[path], "DVC does not hash it again"
