"""What a run's provenance says, and what it never says."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundeval.digests import merkle_root
from groundeval.provenance import environment, inputs, results, statement
from tests.audit import kill
from tests.audit.project import commit, verified
from tests.workflow.project import Project

RUN = "instructpart/test/almost"
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def said(project: Project, run: str = RUN) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.root / "results" / run / "provenance.json").read_bytes())
    return found


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def by_the_letter(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1: split at the largest power of two smaller than n."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + by_the_letter(leaves[:k]) + by_the_letter(leaves[k:])).digest()


@given(st.dictionaries(NAMES, st.binary(min_size=32, max_size=32), min_size=1, max_size=40))
def test_the_root_is_that_of_rfc_6962(files: dict[str, bytes]) -> None:
    leaves = [hashlib.sha256(n.encode()).digest() + files[n] for n in sorted(files)]
    assert merkle_root({n: d.hex() for n, d in files.items()}) == by_the_letter(leaves).hex()


@given(st.dictionaries(NAMES, st.binary(min_size=32, max_size=32), min_size=2, max_size=9), st.data())
def test_every_file_and_name_is_in_the_root(files: dict[str, bytes], data: st.DataObject) -> None:
    named = {n: d.hex() for n, d in files.items()}
    name = data.draw(st.sampled_from(sorted(named)))
    others = [
        {**named, name: hashlib.sha256(files[name]).hexdigest()},
        {n: d for n, d in named.items() if n != name},
        {(n + "x" * 9 if n == name else n): d for n, d in named.items()},
    ]
    assert len({merkle_root(of) for of in (named, *others)}) == 4


def test_it_names_what_went_in(audited: Project) -> None:
    found = said(audited)
    for subject in found["subject"]:
        assert subject["digest"]["sha256"] == sha256(audited.root / "results" / RUN / subject["name"])
    assert {s["name"] for s in found["subject"]} == set(results.PIPELINE)
    went_in = found["predicate"]["inputs"]
    for name in ("manifest", "truth", "raw"):
        assert went_in[name]["sha256"] == sha256(audited.root / went_in[name]["name"])
    delivered = audited.root / went_in["predictions"]["name"]
    assert went_in["predictions"]["sha256"] == {p.name: sha256(p) for p in sorted(delivered.iterdir())}
    scorer = found["predicate"]["scorer"]["sha256"]
    assert {n: sha256(audited.root / n) for n in scorer} == scorer
    assert "scripts/groundeval/metrics/masks.py" in scorer
    assert not [name for name in scorer if "/report/" in name or "/provenance/" in name]
    table = said(audited, "kitti_semantic/test/nothing")["predicate"]["scorer"]["sha256"]
    assert "scripts/groundeval/benchmarks/kitti_semantic/merge.yaml" in table


def test_it_names_the_software_the_data_and_the_commit(audited: Project) -> None:
    predicate = said(audited)["predicate"]
    software = predicate["software"]
    assert software["libraries"]["numpy"] == __import__("numpy").__version__
    assert {"pyarrow", "pycocotools"} <= software["libraries"].keys()
    assert None not in software["libraries"].values()
    assert software["lock"] == sha256(audited.root / "requirements.lock")
    head = audited.run("git", "rev-parse", "HEAD").strip()
    assert predicate["tree"] == {"commit": head, "state": "clean"}
    assert predicate["dataset"]["version"] == "demo"
    assert predicate["dataset"]["licence"]


def test_no_clock_no_host_no_path_in_anything_that_is_hashed(audited: Project) -> None:
    absolute = re.compile(rb"/(tmp|home|root|usr|work|var)/")
    for name, data in audited.digests().items():
        assert str(audited.root).encode() not in data, name
        if not name.endswith(".parquet"):
            assert not absolute.search(data), name
            assert socket.gethostname().encode() not in data or len(socket.gethostname()) < 4, name
            assert not re.search(rb"\d\d:\d\d:\d\d", data), name


def test_a_commit_alone_reruns_nothing(tiny_project: Project) -> None:
    commit(tiny_project, "nothing changed")
    assert tiny_project.wanted() == set()


def edit(path: Path) -> None:
    with path.open("a") as file:
        file.write("\nedited\n")


def test_a_dirty_tree_is_told(tiny_project: Project) -> None:
    edit(tiny_project.root / "README.md")
    tiny_project.snakemake("-R", "provenance", "--")
    assert said(tiny_project, "grefcoco/val/almost")["predicate"]["tree"]["state"] == "dirty"
    for name in ("index.html", "leaderboard.md", "leaderboard.csv"):
        text = (tiny_project.root / "results/report" / name).read_text(encoding="utf-8")
        assert "dirty" in next(line for line in text.splitlines() if "almost" in line)
    assert "note: made from a tree whose state was dirty" in verified(tiny_project, 1)


def test_a_clean_tree_is_not_marked(tiny: kill.Undisturbed) -> None:
    for name in ("index.html", "leaderboard.md", "leaderboard.csv"):
        assert "dirty" not in (tiny.whole.root / "results/report" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("edited", "state"), [("README.md", "dirty"), ("untracked.txt", "clean"), ("dvc.lock", "clean")]
)
def test_what_makes_a_tree_dirty(tiny_project: Project, edited: str, state: str) -> None:
    if edited == "dvc.lock":
        (tiny_project.root / edited).write_text("schema: '2.0'\n")
        commit(tiny_project)
    edit(tiny_project.root / edited)
    program = "from groundeval.provenance import tree; print(tree.state()['state'])"
    assert tiny_project.run(sys.executable, "-c", program).strip() == state


def test_code_inside_somebody_elses_repository_has_no_commit(tmp_path: Path, audited: Project) -> None:
    """A package that is installed below a repository which does not track it is not that repository's commit."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit(Project(tmp_path))
    installed = tmp_path / "site-packages"
    (tmp_path / ".gitignore").write_text("site-packages\n")
    shutil.copytree(audited.root / "scripts/groundeval", installed / "groundeval")
    program = "from groundeval.provenance import tree; print(tree.state())"
    environment_ = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment_, cwd="/", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{'commit': None, 'state': 'unknown'}"


def test_many_files_are_one_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        (tmp_path / f"{number}.png").write_bytes(bytes([number]))
    listed = inputs.files(tmp_path)
    monkeypatch.setattr(inputs, "LISTED", 6)
    known = inputs.files(tmp_path)
    assert "sha256" not in known
    assert known["merkle_root"] == listed["merkle_root"]
    (tmp_path / "3.png").write_bytes(b"x")
    assert inputs.changes(listed, tmp_path) == '1 changed, first "3.png"'
    assert inputs.changes(known, tmp_path) == "the files are not those that were scored (7 then, 7 now)"


def test_evaluate_writes_it_too_and_verify_makes_all_again(audited: Project, tmp_path: Path) -> None:
    data, files = audited.root / "data/raw/instructpart/demo", audited.root / "data/predictions/instructpart/almost"
    arguments = ["--truth", str(data), "--split", "test", "--predictions", str(files), "--format", "mask_png"]
    out = tmp_path / "out"
    audited.run("groundeval", "evaluate", "instructpart", *arguments, "--out", str(out))
    predicate = statement.predicate(out / "provenance.json")
    theirs = statement.predicate(audited.root / "results" / RUN / "provenance.json")
    for part in ("parameters", "dataset", "scorer", "software", "tree"):
        assert predicate[part] == theirs[part], part
    assert predicate["inputs"]["predictions"]["merkle_root"] == theirs["inputs"]["predictions"]["merkle_root"]
    alone = audited.run("groundeval", "verify", str(out), "--level", "5")
    assert "not checked: only metrics.json, samples.parquet and histograms.parquet were kept" in alone
    whole = ["--level", "5", "--truth", str(data), "--predictions", str(files)]
    assert "levels 3 to 5, all again     PASS" in audited.run("groundeval", "verify", str(out), *whole)


def test_a_lazily_imported_library_counts(audited: Project) -> None:
    """The scorer's libraries are read from its import statements, wherever these stand."""
    assert "opencv-python-headless" in environment.software(["stages.trace"])["libraries"]


def test_trace_goes_from_the_number_to_two_masks(audited: Project, tmp_path: Path) -> None:
    sample = sorted((audited.root / "data/predictions/instructpart/almost").iterdir())[0]
    arguments = ["--metric", "gIoU", "--sample", sample.stem, "--out", str(tmp_path)]
    text = audited.run("groundeval", "trace", f"results/{RUN}", *arguments)
    digests = [
        s["digest"]["sha256"] for s in said(audited)["subject"] if s["name"] not in (results.SUMMARY, results.CURVES)
    ]
    assert all(digest in text for digest in (*digests, sha256(sample)))
    import cv2

    counts = {name: int(re.search(rf"^  {name} = (\d+)$", text, re.M)[1]) for name in ("intersection", "union")}  # type: ignore[index]
    truth, answer = (cv2.imread(str(tmp_path / f"{side}.png"), 0) > 0 for side in ("truth", "prediction"))
    assert {"intersection": (truth & answer).sum(), "union": (truth | answer).sum()} == counts
    value = 100 * counts["intersection"] / counts["union"]
    assert float(re.search(r"gIoU of this sample alone: (\S+)", text)[1]) == pytest.approx(value)  # type: ignore[index]


def test_trace_of_a_wrong_name_says_what_there_is(audited: Project) -> None:
    text = audited.run("groundeval", "trace", f"results/{RUN}", "--metric", "gIou", code=2)
    assert 'no metric "gIou", did you mean "gIoU"' in text
