"""What the machine does to a run: no room, no permission, files that change, two runs at once."""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from groundeval.digests import file_sha256
from tests.security import child
from tests.security.scene import Scene

Make = Callable[[str], Scene]
RESULTS = {"histograms.parquet", "metrics.json", "provenance.json", "samples.parquet"}


@pytest.fixture
def common(scenes: dict[str, Scene]) -> Iterator[Callable[[str], Scene]]:
    """A copy that any user may read and write; pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)

        def made(kind: str) -> Scene:
            found = scenes[kind].copy(Path(folder, "work"))
            for path in (found.root, *found.root.rglob("*")):
                path.chmod(0o777 if path.is_dir() else 0o666)
            return found

        yield made


def somebody() -> int | None:
    """Another user, where we are root: root ignores permissions."""
    return child.NOBODY if os.geteuid() == 0 else None


@pytest.mark.parametrize("room", [1 << 11, 1 << 12])
def test_a_full_disk(scene: Make, room: int) -> None:
    """A limit on the size of a file: no result can be written whole, so none is there."""
    found = scene("boxes")
    line = found.refused("Check permissions and free space", limits={resource.RLIMIT_FSIZE: room})
    assert line.startswith("out: ")


def test_earlier_results_survive_a_full_disk(scene: Make) -> None:
    found = scene("boxes")
    assert found.evaluate("--model", "first").code == 0
    before = {path.name: path.read_bytes() for path in (found.root / "out").iterdir()}
    found.refused("free space", "--model", "second", limits={resource.RLIMIT_FSIZE: 1 << 12})
    assert {path.name: path.read_bytes() for path in (found.root / "out").iterdir()} == before


@pytest.mark.parametrize(
    ("name", "mode", "what"),
    [
        ("predictions/FIRST", 0o000, "cannot be read (Permission denied)"),
        ("predictions", 0o000, "cannot be listed (Permission denied)"),
        ("predictions", 0o444, "Permission denied"),
        ("raw/test/data_test.json", 0o000, "cannot be read (Permission denied)"),
        (".", 0o555, "no permission to write to"),
    ],
)
def test_no_permission(common: Make, name: str, mode: int, what: str) -> None:
    found = common("mask")
    path = found.root / name.replace("FIRST", found.first(".png").name)
    before = child.listing(found.root)
    path.chmod(mode)
    done = found.evaluate(user=somebody())
    path.chmod(0o777)
    found.check_refused(child.Done(done.code, done.out, done.err, done.peak, child.listing(found.root)), what, before)


def test_a_subfolder_that_cannot_be_listed_is_not_passed_over(common: Make) -> None:
    found = common("mask")
    (found.predictions / "more").mkdir(mode=0o000)
    found.refused("predictions/more: cannot be listed", user=somebody())


def test_an_archive_without_permission(common: Make) -> None:
    found = common("mask")
    shutil.make_archive(str(found.root / "preds"), "zip", found.predictions)
    (found.root / "preds.zip").chmod(0o000)
    found.refused("preds.zip: Permission denied", predictions="preds.zip", user=somebody())


def test_a_result_folder_that_is_a_file(scene: Make) -> None:
    found = scene("boxes")
    (found.root / "out").write_text("mine")
    found.refused("out is a file, expected a folder")
    assert (found.root / "out").read_text() == "mine"


def test_too_little_memory_is_one_line(scene: Make) -> None:
    found = scene("boxes")
    with found.json().open("r+b") as opened:
        opened.truncate(900 << 20)
    found.refused("groundeval: out of memory", room=512 << 20)


def test_two_runs_write_the_same_result(scene: Make) -> None:
    """Both end well, and what is there is all of one of them."""
    found = scene("mask")
    for _ in range(2):
        runs = [child.start(found.root, found.arguments("--model", f"model{n}")) for n in range(4)]
        for process, _paths in runs:
            process.join(60)
        assert [child.finished(found.root, p.exitcode, paths).code for p, paths in runs] == [0] * 4
        out = found.root / "out"
        assert {path.name for path in out.iterdir()} == RESULTS
        statement = json.loads((out / "provenance.json").read_bytes())
        digests = {s["name"]: s["digest"]["sha256"] for s in statement["subject"]}
        assert digests == {name: file_sha256(out / name) for name in RESULTS - {"provenance.json"}}
        model = json.loads((out / "metrics.json").read_bytes())["model"]
        assert statement["predicate"]["run"]["model"] == model


def test_a_run_that_is_killed_leaves_no_result(scene: Make) -> None:
    found = scene("mask")
    process, paths = child.start(found.root, found.arguments(), {resource.RLIMIT_CPU: 0})
    process.join(60)
    done = child.finished(found.root, process.exitcode, paths)
    assert done.code < 0
    assert not {n for n in done.files if n.startswith("out/") and "/." not in n}
