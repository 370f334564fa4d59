"""params.yaml: every mistake is one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundeval import benchmarks, plan
from groundeval.errors import InputError
from groundeval.sources import yamlfile

ROOT = Path(__file__).parents[2]
GOOD = """
benchmarks:
  grefcoco:
    dataset: {version: demo, splits: [val, testA]}
    models:
      one: {format: boxes_json, files: "{split}.json", options: {boxes: xyxy, unit: px}}
"""


def parsed(tmp_path: Path, text: str) -> plan.Plan:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return plan.load(path)


def test_runs(tmp_path: Path) -> None:
    runs = parsed(tmp_path, GOOD).runs
    assert [r.folder for r in runs] == ["results/grefcoco/val/one", "results/grefcoco/testA/one"]
    assert [r.predictions for r in runs] == [f"data/predictions/grefcoco/one/{s}.json" for s in ("val", "testA")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("benchmarks:", "benchmark:", 'unknown key "benchmark", did you mean "benchmarks"?'),
        ("models:", "modles:", 'unknown key "modles" in grefcoco, did you mean "models"?'),
        ("grefcoco:", "grefcooc:", 'unknown benchmark "grefcooc", did you mean "grefcoco"?'),
        ("boxes_json", "box_json", 'unknown format "box_json", did you mean "boxes_json"?'),
        ("testA]", "testa]", 'unknown split "testa", did you mean "testA"'),
        ("testA]", "val]", "a split stands twice"),
        ("[val, testA]", "val", "splits is not a list"),
        ("version: demo, ", "", "version: YAML reads the name as NoneType"),
        ("one:", "no:", "YAML reads the name as bool False. Put the name in quotes"),
        ("one:", "1.10:", "YAML reads the name as float 1.1. Put the name in quotes"),
        ("one:", "2024_01_10:", "YAML reads the name as int 20240110. Put the name in quotes"),
        ("one:", '"../x":', 'model "../x" is not a name'),
        ("one:", '"=x":', 'model "=x" is not a name'),
        ("one:", '"a; rm -rf b":', "is not a name"),
        ("one:", "One.x: {format: boxes_json, files: '{split}'}\n      one-X:", "differ in case or punctuation only"),
        ("one:", "one: {format: boxes_json, files: '{split}'}\n      one:", 'key "one" stands twice'),
        ("options:", "option:", 'unknown key "option"'),
        ("format: boxes_json, ", "", "format is not declared. Declare one of"),
        ("{split}.json", "../{split}.json", "leaves the model's folder"),
        ("{split}.json", "all.json", "several splits would read the same files"),
        ("options:", "allow_incomplete: maybe, options:", 'allow_incomplete is "maybe"'),
        ("benchmarks:", "benchmarks: [", "not readable YAML (line"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        parsed(tmp_path, GOOD.replace(old, new, 1))
    assert message in caught.value.line()
    assert str(tmp_path / "params.yaml") in caught.value.line()


def test_shipped_params_name_every_demo_model() -> None:
    blocks = yamlfile.load(ROOT / "params.yaml")["benchmarks"]
    assert sorted(blocks) == benchmarks.names()
    for name, block in blocks.items():
        models = {m: {"options": {}, **said} for m, said in block["models"].items()}
        assert models == {m: dict(said) for m, said in benchmarks.part(name, "demo").MODELS.items()}, name
        formats = [m["format"] for m in block["models"].values()]
        assert len(formats) == 3


def test_fingerprint_notices_an_older_file(tmp_path: Path) -> None:
    import os

    (tmp_path / "a.png").write_bytes(b"1")
    before = plan.fingerprint(str(tmp_path))
    os.utime(tmp_path / "a.png", (1, 1))
    assert plan.fingerprint(str(tmp_path)) != before
