"""A run on several cores gives the bytes of a run on one, and says how far it is."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

from groundeval import benchmarks, cores
from groundeval.errors import InputError
from groundeval.sources import progress
from groundeval.stages import evaluate


@pytest.fixture(autouse=True)
def every_run_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_FEW", 1)


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_the_same_bytes_on_two_cores(benchmark: str, tmp_path: Path) -> None:
    demo, record = benchmarks.part(benchmark, "demo"), benchmarks.record(benchmark)
    raw, split = tmp_path / "raw", "training" if benchmark == "kitti_road" else "test"
    raw.mkdir()
    demo.write(raw, 1)
    split = split if record.has_split(split) and benchmark != "grefcoco" else "val"
    for model, said in demo.MODELS.items():
        given = tmp_path / model
        given.mkdir()
        demo.predict(raw, given, model, 1)
        files = given / said["files"].replace("{split}", split) if "files" in said else given
        made = []
        for count in (1, 2):
            out = tmp_path / f"{model}{count}"
            with cores.using(count):
                evaluate.run(benchmark, raw, split, files, said["format"], said.get("options", {}), out, "m", True)
            made.append({p.name: p.read_bytes() for p in out.iterdir() if p.name != "provenance.json"})
        assert made[0] == made[1], model


def test_order_notes_and_errors() -> None:
    notes: Counter[str] = Counter()

    def work(item: int) -> tuple[int, int]:
        notes[f"{item % 3}"] += 1
        if item == 70:
            raise InputError("a", "b", "c")
        return item * item, os.getpid()

    with cores.using(2):
        done = list(cores.mapped(work, range(70), notes, part=4))
    assert [value for value, _ in done] == [i * i for i in range(70)]
    assert os.getpid() not in {process for _, process in done}
    assert notes == {"0": 24, "1": 23, "2": 23}
    with cores.using(2), pytest.raises(InputError, match="a: b"):
        list(cores.mapped(work, range(100), notes))


def test_what_is_in_flight_is_bounded() -> None:
    taken: list[int] = []
    with cores.using(2):
        given = cores.mapped(abs, (taken.append(i) or i for i in range(1000)), Counter())
        next(given)
        assert len(taken) <= 2 * 2 + 1
        given.close()


def test_a_process_that_the_kernel_kills_is_memory_that_was_lacking() -> None:
    def work(item: int) -> int:
        if item == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with cores.using(2), pytest.raises(MemoryError):
        list(cores.mapped(work, range(10), Counter()))


def test_an_archive_is_read_by_one_process(tmp_path: Path) -> None:
    demo = benchmarks.part("instructpart", "demo")
    raw, given = tmp_path / "raw", tmp_path / "given"
    raw.mkdir(), given.mkdir()
    demo.write(raw, 1)
    demo.predict(raw, given, "almost", 1)
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", given))
    with cores.using(2):
        both = [evaluate.run("instructpart", raw, "test", p, "mask_png", {}, None, "m") for p in (given, packed)]
    assert both[0] == both[1]


def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = iter([0.0, 10.0, 40.0, 50.0, 400.0, 500.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.counted("score x", 1000) as advance:
        for count in (50, 50, 50, 50, 800):
            advance(count)
    assert capsys.readouterr().err.splitlines() == [
        "score x: 100 of 1000, about 6 min left",
        "score x: 200 of 1000, about 27 min left",
    ]
