"""In the pipeline: predictions as one archive, and a format of the user's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from groundeval.digests import file_sha256
from tests.workflow.project import Project

ADAPTER = """
import json

def read(path, rows):
    answers = json.loads((path / "val.json").read_text())
    for row in rows:
        yield {"sample_id": row["sample_id"], "boxes": answers[row["sample_id"]]}
"""
ARCHIVE, OWN = "results/instructpart/test/almost", "results/grefcoco/val/nothing"


def read(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_bytes())
    return found


def edit(project: Project, old: str, new: str) -> None:
    params = project.root / "params.yaml"
    text = params.read_text(encoding="utf-8")
    assert text.count(old) == 1
    params.write_text(text.replace(old, new), encoding="utf-8")


def test_an_archive_and_an_adapter(project: Project) -> None:
    before = {name: read(project.root / name / "metrics.json") for name in (ARCHIVE, OWN)}
    folder = project.root / "data/predictions/instructpart/almost"
    shutil.make_archive(str(project.root / "preds"), "zip", folder)
    shutil.rmtree(folder)
    folder.mkdir()
    (project.root / "preds.zip").rename(folder / "preds.zip")
    edit(project, "almost: {format: mask_png}", "almost: {format: mask_png, files: preds.zip}")
    (project.root / "adapters").mkdir()
    (project.root / "adapters/mine.py").write_text(ADAPTER, encoding="utf-8")
    edit(
        project,
        "nothing: {format: boxes_json, options: {boxes: xyxy, unit: px}}",
        "nothing: {format: adapters/mine.py:read}",
    )
    project.snakemake()

    after = {name: read(project.root / name / "metrics.json") for name in (ARCHIVE, OWN)}
    assert after[ARCHIVE] == before[ARCHIVE]
    assert after[OWN]["metrics"] == before[OWN]["metrics"]
    assert after[OWN]["format"] == "adapters/mine.py:read"
    inputs = read(project.root / OWN / "provenance.json")["predicate"]["inputs"]
    digest = file_sha256(project.root / "adapters/mine.py")
    assert inputs["adapter"] == {"name": "adapters/mine.py", "sha256": digest}
    assert sorted(p.name for p in (project.root / "adapters").iterdir()) == ["mine.py"]

    _is_an_input(project)
    _is_not_run_by_verify(project)


def _is_an_input(project: Project) -> None:
    """For both engines: an edit of it reruns its model alone."""
    assert project.wanted() == set()
    (project.root / "adapters/mine.py").write_text(ADAPTER + "# edited\n", encoding="utf-8")
    run = {(rule, "grefcoco/val/nothing") for rule in ("convert", "score", "aggregate", "provenance")}
    assert project.wanted() == run | {("report", "")}
    project.run("groundeval", "dvc")
    assert "    - adapters/mine.py\n" in (project.root / "dvc.yaml").read_text(encoding="utf-8")
    settings = read(project.root / "data/settings/grefcoco/nothing.json")
    assert settings["adapter"] == {"adapters/mine.py": file_sha256(project.root / "adapters/mine.py")}


def _is_not_run_by_verify(project: Project) -> None:
    """Results are what somebody sends: their verification runs no code that they name."""
    (project.root / "adapters/mine.py").write_text("open('was_run', 'w')\n" + ADAPTER, encoding="utf-8")
    said = project.run("groundeval", "verify", OWN, "--level", "5", code=1)
    assert "not checked: an adapter, which is the user's own code" in said
    assert "adapter: adapters/mine.py is not the file that was recorded" in said
    assert not (project.root / "was_run").exists()


def test_mistakes(project: Project) -> None:
    old = "nothing: {format: boxes_json, options: {boxes: xyxy, unit: px}}"
    for format_, what in (
        ("../mine.py:read", 'format: "../mine.py" is no path inside this folder'),
        ("/tmp/mine.py:read", 'format: "/tmp/mine.py" is no path inside this folder'),
        ("absent.py:read", 'format: no file "absent.py"'),
        ("mine.py", 'unknown format "mine.py"'),
    ):
        params = project.root / "params.yaml"
        text = params.read_text(encoding="utf-8")
        edit(project, old, f"nothing: {{format: '{format_}'}}")
        output = project.run("groundeval", "dvc", code=2)
        assert what in output
        assert "Traceback" not in output
        params.write_text(text, encoding="utf-8")
