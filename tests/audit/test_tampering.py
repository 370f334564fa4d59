"""Whatever is done to results or to what they come from, verify says so, and says what.

The forger may know everything but the signer's key: many cases write a provenance that fits what was altered.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundeval.provenance import dsse
from groundeval.stages import sign as sign_stage
from tests.audit.project import (
    copy_of,
    edit_json,
    edit_meta,
    edit_table,
    flip,
    forge,
    forge_metrics,
    score_again,
    verified,
)
from tests.workflow.project import Project

MASKS, BOXES, MAPS = "instructpart/test/almost", "grefcoco/val/almost", "kitti_semantic/test/nothing"
Tamper = Callable[[Project], Any]


def results(project: Project, name: str) -> Path:
    return project.root / "results" / name


def delivered(project: Project) -> list[Path]:
    return sorted((project.root / "data/predictions/instructpart/almost").glob("*.png"))


def test_untouched_results_pass_every_level(audited: Project) -> None:
    text = verified(audited, 5, independent=3)
    assert text.endswith("PASS: 32 checks, 0 failed\n"), text
    assert "not checked: who made them: the results are not signed" in text
    assert "tree whose state was" not in text


# name -> (what is done, the level that must see it, the reason that it must give)
SIMPLE: dict[str, tuple[Tamper, int, str]] = {
    "a prediction's byte": (
        lambda p: flip(delivered(p)[7]),
        1,
        'predictions: data/predictions/instructpart/almost: 1 changed, first "',
    ),
    "a byte of the truth": (
        lambda p: flip(p.root / "data/truth/instructpart/test.parquet"),
        1,
        "truth: data/truth/instructpart/test.parquet is not the file that was recorded",
    ),
    "a byte of a table": (
        lambda p: flip(results(p, f"{MASKS}/predictions.parquet")),
        1,
        "predictions.parquet is not the file that was recorded",
    ),
    "a byte of the manifest": (
        lambda p: flip(p.root / "data/splits/grefcoco/val.parquet"),
        1,
        "manifest: data/splits/grefcoco/val.parquet is not the file that was recorded",
    ),
    "a number in metrics.json": (
        lambda p: edit_json(results(p, f"{MASKS}/metrics.json"), lambda c: c["metrics"]["gIoU"].update(value=99.5)),
        1,
        "metrics.json is not the file that was recorded",
    ),
    "a byte of the report": (
        lambda p: edit_text(results(p, "report/index.html"), "instructpart", "instructqart"),
        2,
        "index.html, line ",
    ),
    "a number in the report": (
        lambda p: edit_text(results(p, "report/leaderboard.csv"), ",set_accuracy,0.9", ",set_accuracy,1.9"),
        2,
        "leaderboard.csv, line ",
    ),
    "a row of the report": (
        lambda p: results(p, "report/leaderboard.md").write_text(
            "".join(results(p, "report/leaderboard.md").read_text(encoding="utf-8").splitlines(keepends=True)[:-4])
        ),
        2,
        "leaderboard.md, line ",
    ),
    "a delivered file renamed": (
        lambda p: delivered(p)[3].rename(delivered(p)[3].with_name("renamed.png")),
        1,
        '1 absent, first "',
    ),
    "a delivered file back-dated": (lambda p: replace_keeping_times(delivered(p)[0], delivered(p)[1]), 1, "1 changed"),
    "a delivered file added": (lambda p: shutil.copy(delivered(p)[0], delivered(p)[0].parent / "more.png"), 1, "1 new"),
    "a delivered file replaced by a link": (lambda p: link(delivered(p)[5], "z.png"), 1, " -> z.png"),
    "a result replaced by a link": (
        lambda p: link(results(p, f"{MASKS}/samples.parquet"), "../../samples"),
        0,
        "samples.parquet is a link: its bytes stand elsewhere and may change",
    ),
    "an input replaced by a link": (
        lambda p: link(p.root / "data/truth/grefcoco/val.parquet", "elsewhere"),
        1,
        "data/truth/grefcoco/val.parquet is a link",
    ),
    "a model's results left out": (
        lambda p: shutil.rmtree(results(p, BOXES)),
        0,
        f'1 runs of params.yaml have no results, first "results/{BOXES}"',
    ),
    "a file left out": (lambda p: results(p, f"{MASKS}/summary.json").unlink(), 0, "summary.json is absent"),
    "the provenance left out": (
        lambda p: results(p, f"{MASKS}/provenance.json").unlink(),
        0,
        "provenance.json: cannot be read",
    ),
    "a file added": (
        lambda p: results(p, f"{MASKS}/better.json").write_text("{}"),
        0,
        "better.json is no file of a run",
    ),
    "another model's folder": (
        lambda p: shutil.copytree(results(p, BOXES), results(p, "grefcoco/val/best")),
        0,
        "metrics.json is of grefcoco/val/almost, but stands in grefcoco/val/best",
    ),
    "two models' folders swapped": (
        lambda p: swap_folders(results(p, "grefcoco/val/almost"), results(p, "grefcoco/val/nothing")),
        0,
        "metrics.json is of grefcoco/val/nothing, but stands in grefcoco/val/almost",
    ),
    "a file beside the runs": (
        lambda p: results(p, "grefcoco/val/better.csv").write_text("set_accuracy,1.0\n"),
        0,
        "grefcoco/val/better.csv is of no run",
    ),
    "a run's folder replaced by a link": (
        lambda p: link(results(p, BOXES), "../../../elsewhere"),
        0,
        f"{BOXES} is a link: its bytes stand elsewhere and may change",
    ),
    "a pipe in place of a file": (
        lambda p: (results(p, f"{BOXES}/metrics.json").unlink(), os.mkfifo(results(p, f"{BOXES}/metrics.json"))),
        5,
        f"{BOXES}/metrics.json is neither a file nor a folder; nothing was read",
    ),
    "a link to a device": (
        lambda p: results(p, f"{BOXES}/more.json").symlink_to("/dev/zero"),
        5,
        f"{BOXES}/more.json is neither a file nor a folder; nothing was read",
    ),
    "an input replaced by a device": (
        lambda p: (
            (p.root / "data/truth/grefcoco/val.parquet").unlink(),
            (p.root / "data/truth/grefcoco/val.parquet").symlink_to("/dev/zero"),
        ),
        5,
        "data/truth/grefcoco/val.parquet: is neither a file nor a folder",
    ),
    "a curve": (
        lambda p: edit_text(results(p, f"{BOXES}/curves.csv"), "curve,", "Curve,"),
        1,
        "curves.csv is not the file that was recorded",
    ),
    "an input that the provenance does not name": (
        lambda p: edit_json(
            results(p, f"{MASKS}/provenance.json"), lambda c: c["predicate"]["inputs"].pop("predictions")
        ),
        0,
        "provenance.json does not name what went in: predictions",
    ),
    "code that the provenance does not name": (
        lambda p: edit_json(
            results(p, f"{MASKS}/provenance.json"), lambda c: c["predicate"]["scorer"].update(modules=[], sha256={})
        ),
        1,
        "provenance.json: the scorer's modules are [], should be ['benchmarks.instructpart.protocol', ",
    ),
    "the licence in the provenance": (
        lambda p: edit_json(
            results(p, f"{MASKS}/provenance.json"), lambda c: c["predicate"]["dataset"].update(licence="CC0")
        ),
        1,
        "provenance.json: the dataset's licence is 'CC0', its record says ",
    ),
    "a provenance of another kind": (
        lambda p: edit_json(results(p, f"{MASKS}/provenance.json"), lambda c: c["predicate"].update(tree=None)),
        0,
        "not a run's provenance (the predicate's tree is no mapping)",
    ),
    "NaN in metrics.json": (
        lambda p: edit_text(results(p, f"{BOXES}/metrics.json"), '"value": 1.0', '"value": NaN'),
        0,
        "NaN is no value",
    ),
    "a parameter in params.yaml": (
        lambda p: edit_text(p.root / "params.yaml", "0.7", "0.5"),
        0,
        f"results/{BOXES}: made with options ",
    ),
    "the dataset's version in params.yaml": (
        lambda p: edit_text(
            p.root / "params.yaml", "{version: demo, splits: [val]}", "{version: official, splits: [val]}"
        ),
        0,
        f"results/{BOXES}: made from dataset version 'demo', params.yaml says 'official'",
    ),
    "an input that leads out of the tree": (
        lambda p: edit_json(
            results(p, f"{MASKS}/provenance.json"),
            lambda c: c["predicate"]["inputs"]["truth"].update(name="../../../etc/passwd"),
        ),
        1,
        'input "../../../etc/passwd" leads out of the tree',
    ),
    "the record of the download": (
        lambda p: edit_json(p.root / "data/raw/grefcoco/demo.json", lambda c: c.update(licence="none")),
        1,
        "raw: data/raw/grefcoco/demo.json is not the file that was recorded",
    ),
    "a raw file": (
        lambda p: flip(sorted((p.root / "data/raw/instructpart/demo/test/masks").glob("*.png"))[2]),
        5,
        'raw: data/raw/instructpart/demo: 1 changed, first "test/masks/',
    ),
}


@pytest.mark.parametrize("name", SIMPLE)
def test_a_plain_tampering_is_seen(project: Project, name: str) -> None:
    tamper, level, reason = SIMPLE[name]
    tamper(project)
    text = verified(project, level)
    assert text.splitlines()[-1].startswith("FAIL")
    assert reason in text, text


GARBAGE = ("", "null", "[]", "[" * 100_000, '{"metrics": {"gIoU": 1e999}}', "\0", "9" * 5000, '{"a": "\\ud800"}')


@pytest.mark.parametrize("file", ["metrics.json", "provenance.json", "summary.json"])
def test_garbage_is_a_failure_with_a_reason(project: Project, file: str) -> None:
    """Never a traceback, and never a verdict on something else."""
    path = results(project, f"{BOXES}/{file}")
    for garbage in GARBAGE:
        path.write_text(garbage, encoding="utf-8")
        text = verified(project, 5, BOXES, independent=1)
        assert text.splitlines()[-1].startswith("FAIL"), garbage[:40]
        assert "level 1, digests             FAIL" in text, garbage[:40]


def test_a_linked_folder_of_results_is_told_and_verified(project: Project) -> None:
    link(project.root / "results", "elsewhere")
    text = verified(project, 3)
    assert text.endswith("PASS: 20 checks, 0 failed\n"), text
    assert "note: results is a link to elsewhere" in text


def swap_folders(a: Path, b: Path) -> None:
    aside = a.with_name("aside")
    a.rename(aside)
    b.rename(a)
    aside.rename(b)


def edit_text(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def replace_keeping_times(path: Path, by: Path) -> None:
    stat = path.stat()
    shutil.copyfile(by, path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def link(path: Path, name: str) -> None:
    target = path.parent / name
    path.rename(target)
    path.symlink_to(os.path.relpath(target, path.parent))


# What a forger does who then writes a provenance that fits: digests agree, so only making things again tells.
FORGED: dict[str, tuple[Tamper, int, str]] = {
    "a number in metrics.json": (
        lambda p: (
            edit_json(results(p, f"{MASKS}/metrics.json"), lambda c: c["metrics"]["gIoU"].update(value=99.5)),
            forge(p, MASKS),
        ),
        2,
        "metrics.json: metrics/gIoU/value is 99.5, should be 9",
    ),
    "the leaderboard's columns": (
        lambda p: (edit_json(results(p, f"{MASKS}/summary.json"), lambda c: c.update(gIoU=99.5)), forge(p, MASKS)),
        2,
        "summary.json: gIoU is 99.5, should be 9",
    ),
    "an option": (
        lambda p: (
            edit_json(results(p, f"{BOXES}/metrics.json"), lambda c: c["options"].update(score_threshold=0.1)),
            forge(p, BOXES),
        ),
        2,
        "metrics.json: options/score_threshold is 0.1, should be 0.7",
    ),
    "an option in the table, too": (
        lambda p: (
            edit_meta(results(p, f"{BOXES}/samples.parquet"), lambda m: m["options"].update(score_threshold=0.1)),
            forge_metrics(p, BOXES),
        ),
        3,
        "options/score_threshold is 0.1, should be 0.7",
    ),
    "a wrong sample removed": (
        lambda p: (edit_table(results(p, f"{MASKS}/samples.parquet"), lambda r: r.pop(4)), forge_metrics(p, MASKS)),
        0,
        'samples.parquet lacks 1 samples of the manifest, first "',
    ),
    "a sample added": (
        lambda p: (
            edit_table(results(p, f"{MASKS}/samples.parquet"), lambda r: r.append({**r[0], "sample_id": "zzz"})),
            forge_metrics(p, MASKS),
        ),
        0,
        'samples.parquet has 1 samples that the manifest lacks, first "zzz"',
    ),
    "a right sample doubled": (
        lambda p: (
            edit_table(results(p, f"{MASKS}/samples.parquet"), lambda r: r.insert(0, r[0])),
            forge_metrics(p, MASKS),
        ),
        0,
        "samples.parquet: 1 samples stand twice",
    ),
    "counts swapped between samples": (
        lambda p: (
            edit_table(results(p, f"{MASKS}/samples.parquet"), lambda r: swap(r, "intersection")),
            forge_metrics(p, MASKS),
        ),
        3,
        "samples.parquet: intersection of ",
    ),
    "a count": (
        lambda p: (
            edit_table(results(p, f"{BOXES}/samples.parquet"), lambda r: [s.update(correct=1) for s in r]),
            forge_metrics(p, BOXES),
        ),
        3,
        "samples.parquet: correct of ",
    ),
    "predictions swapped between samples": (lambda p: swapped_predictions(p), 4, "predictions.parquet: mask of "),
    "the manifest shortened": (lambda p: shortened(p), 5, "val.parquet: 107 rows, should be 108"),
    "the truth": (lambda p: easier_truth(p), 5, "val.parquet: boxes of "),
    "an extra model": (
        lambda p: extra_model(p),
        0,
        '1 results are of no run in params.yaml, first "results/grefcoco/val/best"',
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_provenance_does_not_help(project: Project, name: str) -> None:
    tamper, level, reason = FORGED[name]
    tamper(project)
    assert "is not the file that was recorded" not in verified(project, 1), "the forger is better than that"
    below = ("grefcoco", "instructpart") if level else ("",)  # the whole from level 2 on makes the report again
    text = "".join(verified(project, level, name) for name in below)
    assert "FAIL: " in text
    assert reason in text, text


def swap(rows: list[dict[str, Any]], column: str) -> None:
    a, b = next((a, b) for a in rows for b in rows if a[column] != b[column])
    a[column], b[column] = b[column], a[column]


def swapped_predictions(project: Project) -> None:
    edit_table(results(project, f"{MASKS}/predictions.parquet"), two_of_one_size(project))
    score_again(project, MASKS)


def two_of_one_size(project: Project) -> Callable[[list[dict[str, Any]]], None]:
    """Swap two masks of images of the same size, so that the table stays a valid one."""
    from groundeval import tables

    rows = tables.read(project.root / "data/splits/instructpart/test.parquet").to_pylist()
    sizes = [(row["height"], row["width"]) for row in rows]
    a, b = next((a, b) for a in range(len(sizes)) for b in range(a) if sizes[a] == sizes[b])

    def change(of: list[dict[str, Any]]) -> None:
        assert of[a]["mask"] != of[b]["mask"]
        of[a]["mask"], of[b]["mask"] = of[b]["mask"], of[a]["mask"]

    return change


def shortened(project: Project) -> None:
    """A sample that the model got wrong disappears from everything that the project keeps."""
    from groundeval import tables

    wrong = next(
        i
        for i, s in enumerate(tables.read(results(project, f"{BOXES}/samples.parquet")).to_pylist())
        if not s["correct"]
    )
    for run in (BOXES, "grefcoco/val/nothing"):
        edit_table(results(project, f"{run}/predictions.parquet"), lambda rows: rows.pop(wrong))
    for kind in ("splits", "truth"):
        edit_table(project.root / f"data/{kind}/grefcoco/val.parquet", lambda rows: rows.pop(wrong))
    for run in (BOXES, "grefcoco/val/nothing"):
        score_again(project, run)


def easier_truth(project: Project) -> None:
    from groundeval import tables

    given = tables.read(results(project, f"{BOXES}/predictions.parquet")).to_pylist()
    path = project.root / "data/truth/grefcoco/val.parquet"
    edit_table(path, lambda rows: [r.update(boxes=g["boxes"]) for r, g in zip(rows, given, strict=True) if g["boxes"]])
    for run in (BOXES, "grefcoco/val/nothing"):
        score_again(project, run)


def extra_model(project: Project) -> None:
    for kind in ("results/grefcoco/val", "data/predictions/grefcoco"):
        shutil.copytree(project.root / kind / "almost", project.root / kind / "best")
    edit_json(results(project, "grefcoco/val/best/provenance.json"), _point_at_best)
    score_again(project, "grefcoco/val/best")


def _point_at_best(content: dict[str, Any]) -> None:
    inputs = content["predicate"]["inputs"]
    inputs["predictions"]["name"] = inputs["predictions"]["name"].replace("almost", "best")


# The code: verify runs from the tree that was altered.
CODE = {
    "the scorer": (BOXES, "metrics/matching.py", "", "\n# edited\n", 'first "scripts/groundeval/metrics/matching.py"'),
    "the class table": (MAPS, "benchmarks/kitti_semantic/merge.yaml", "", "\n# edited\n", "kitti_semantic/merge.yaml"),
    "a newer benchmark": (
        BOXES,
        "benchmarks/grefcoco/__init__.py",
        'version="',
        'version="9',
        "of grefcoco, here it is 9",
    ),
    "other arithmetic": (
        MASKS,
        "metrics/ratios.py",
        "scaled / denominator)",
        "scaled / denominator / 2)",
        "metrics/gIoU/value is",
    ),
}


@pytest.mark.parametrize("name", CODE)
def test_other_code_than_made_the_result_is_seen(audited: Project, tmp_path: Path, name: str) -> None:
    run, path, old, new, reason = CODE[name]
    project = copy_of(audited, tmp_path / "p")
    file = project.root / "scripts/groundeval" / path
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")
    output = project.run(sys.executable, "-m", "groundeval", "verify", f"results/{run}", "--level", "2", code=1)
    assert "made by other code than stands here" in output
    assert reason in output, output


def test_code_that_is_not_the_commits_is_seen(audited: Project, tmp_path: Path) -> None:
    """Scored with edited code, and a provenance that calls the tree clean: all digests agree with the edited files."""
    project = copy_of(audited, tmp_path / "p")
    with (project.root / "scripts/groundeval/metrics/matching.py").open("a") as file:
        file.write("# edited\n")
    where, raw = f"results/{BOXES}", "data/raw/grefcoco/demo.json"
    went_in = ["--manifest", "data/splits/grefcoco/val.parquet", "--truth", "data/truth/grefcoco/val.parquet"]
    went_in += ["--predictions", "data/predictions/grefcoco/almost", "--raw", raw, "--out", f"{where}/provenance.json"]
    project.run(sys.executable, "-m", "groundeval", "provenance", where, *went_in)
    edit_json(results(project, f"{BOXES}/provenance.json"), lambda c: c["predicate"]["tree"].update(state="clean"))
    output = project.run(sys.executable, "-m", "groundeval", "verify", where, "--level", "5", code=1)
    reason = "made by other code than its provenance says: 1 of "
    assert reason in output
    assert f'commit {said_commit(project)[:12]}, first "scripts/groundeval/metrics/matching.py"' in output
    assert output.count("FAIL") == 2, output  # this check, and so the whole


def said_commit(project: Project) -> str:
    return str(json.loads(results(project, f"{BOXES}/provenance.json").read_bytes())["predicate"]["tree"]["commit"])


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / f"{name}.pem" for name in ("signer", "other")}
    for path in made.values():
        dsse.make_key(path)
    return made


def sign(project: Project, key: Path) -> None:
    sign_stage.run(project.root / "results", key)


SIGNED: dict[str, tuple[Tamper, str]] = {
    "provenance made again without the key": (
        lambda p: (flip(delivered(p)[7]), forge(p, MASKS)),
        f'1 files are not those that were signed, first "{MASKS}/provenance.json"',
    ),
    "another commit in the provenance": (
        lambda p: edit_json(
            results(p, f"{MASKS}/provenance.json"), lambda c: c["predicate"]["tree"].update(commit="0" * 40)
        ),
        f'1 files are not those that were signed, first "{MASKS}/provenance.json"',
    ),
    "a run added": (lambda p: extra_model(p), '7 files were not signed, first "grefcoco/val/best/curves.csv"'),
    "a run removed": (lambda p: shutil.rmtree(results(p, BOXES)), "7 files were signed and are absent"),
    "the signed list": (lambda p: edit_json(results(p, "signature.dsse.json"), _shorter), "what is signed was altered"),
    "no signature": (lambda p: results(p, "signature.dsse.json").unlink(), "the results are not signed"),
}


def _shorter(envelope: dict[str, Any]) -> None:
    import base64

    content = json.loads(base64.b64decode(envelope["payload"]))
    content["subject"].pop()
    envelope["payload"] = base64.b64encode(json.dumps(content).encode()).decode()


@pytest.mark.parametrize("name", SIGNED)
def test_a_signature_holds_everything(project: Project, keys: dict[str, Path], name: str) -> None:
    sign(project, keys["signer"])
    public = Path(f"{keys['signer']}.pub")
    assert "signature                    PASS" in verified(project, 0, key=public)
    tamper, reason = SIGNED[name]
    tamper(project)
    text = verified(project, 0, key=public)
    assert "signature                    FAIL" in text
    assert reason in text, text


def test_another_key_is_named(project: Project, keys: dict[str, Path]) -> None:
    sign(project, keys["other"])
    assert "another key signed it: " in verified(project, 0, key=Path(f"{keys['signer']}.pub"))
    assert "the results are signed; give --key" in verified(project, 0)
