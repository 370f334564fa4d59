"""inspect finds what the files are: for every demo model of every benchmark its declared format fits best."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groundeval import benchmarks
from groundeval.errors import InputError
from groundeval.stages import inspect
from tests.benchmarks.case import Case

LINE = re.compile(r"^  (\w+) (.*?): (\d+) (?:answered|none).*?(?:on these alone: (\S+))?$", re.M)


@pytest.fixture(scope="module", params=benchmarks.names())
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case("grefcoco", tmp_path_factory.mktemp("boxes"))


def said(capsys: pytest.CaptureFixture[str], asked: inspect.Asked) -> str:
    inspect.run(asked)
    return capsys.readouterr().out


def test_the_declared_format_fits_best(case: Case, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    declared = case.demo.MODELS["noisy"]
    texts = {k: v for k, v in declared.get("options", {}).items() if k == "colours"}  # which nobody could try out
    out = said(capsys, inspect.Asked(case.folder / "noisy", case.name, case.raw, case.split, texts, tmp_path))
    fitting = LINE.findall(out.partition("does not fit")[0])
    best = max(float(agreement) for *_, agreement in fitting)
    options = {f"{k}={v}" for k, v in declared.get("options", {}).items() if "threshold" not in k}
    agreeing = [(f, o) for f, o, _, agreement in fitting if float(agreement) == best]
    assert any(f == declared["format"] and all(said_ in o for said_ in options) for f, o in agreeing), out
    assert "to try, if it is what is meant" in out
    with Image.open(tmp_path / "overlay.png") as opened:
        colours = {tuple(c) for c in np.asarray(opened).reshape(-1, 3).tolist()}
    assert len(colours) > 3


def test_the_command_to_try_works(boxes: Case, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from groundeval.stages import convert, evaluate

    out = said(capsys, inspect.Asked(boxes.folder / "almost", "grefcoco", boxes.raw, "val"))
    words = shlex.split(out.splitlines()[-1])
    given = dict(zip(words[3::2], words[4::2], strict=False))
    sets = dict(w.split("=") for a, w in pairwise(words) if a == "--set")
    assert convert.declared(words[2], given["--format"], sets)
    content = evaluate.run(
        words[2], Path(given["--truth"]), "val", Path(given["--predictions"]), given["--format"], sets, None, "m"
    )
    assert content["metrics"]["set_accuracy"]["value"] > 0.6


def test_what_is_there(boxes: Case, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, inspect.Asked(boxes.folder / "almost", "grefcoco", boxes.raw, "val"))
    assert "a folder" in out
    assert "1 .json" in out
    assert "keys: image_id" in out
    assert re.search(r"boxes in bbox: \d+ of four numbers, ", out)
    assert re.search(r"score: \d+ numbers from 0\.\d+ to 0\.9\d+", out)
    assert re.search(r"ids: (\d+) of \1 names are samples of the split, of which it has \1", out)


def test_other_ids_are_counted(boxes: Case, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, inspect.Asked(boxes.folder / "almost", "grefcoco", boxes.raw, "testA"))
    assert "ids: 0 of " in out
    assert "fits: 0 of " in out
    assert "to try" not in out


def test_options_that_are_known_narrow_the_trials(boxes: Case, capsys: pytest.CaptureFixture[str]) -> None:
    known = {"boxes": "xywh", "unit": "px", "score_threshold": "0.7"}
    out = said(capsys, inspect.Asked(boxes.folder / "almost", "grefcoco", boxes.raw, "val", known))
    assert "\n  boxes_json boxes=xywh unit=px score_threshold=0.7: " in out


def test_an_option_that_nothing_has(boxes: Case) -> None:
    with pytest.raises(InputError, match='unknown option "boxs", did you mean "boxes"'):
        inspect.run(inspect.Asked(boxes.folder / "almost", "grefcoco", boxes.raw, "val", {"boxs": "xywh"}))


def test_without_a_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mask = np.zeros((20, 30), np.uint8)
    mask[3:9] = 255
    for name in ("a", "b"):
        Image.fromarray(mask).save(tmp_path / f"{name}.png")
    out = said(capsys, inspect.Asked(tmp_path))
    assert "kinds: 8-bit grey PNG (2)" in out
    assert "sizes (height x width): 20x30 (2)" in out
    assert "values: 0 (70 %), 255 (30 %); from 0 to 255" in out
    assert "ids and sizes are not checked" in out
    assert "\n  mask_png (no options): 2 answered" in out


def test_an_archive(boxes: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = said(capsys, inspect.Asked(boxes.folder / "almost", boxes.name, boxes.raw, boxes.split))
    packed = shutil.make_archive(str(tmp_path / "almost"), "zip", boxes.folder / "almost")
    archive = said(capsys, inspect.Asked(Path(packed), boxes.name, boxes.raw, boxes.split))
    assert "an archive" in archive
    assert LINE.findall(archive.partition("does not fit")[0]) == LINE.findall(folder.partition("does not fit")[0])


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("x.json", b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        ("x.json", b"[NaN]", "not JSON: NaN"),
        ("x.json", b'["\\u001b[31m\\n"]', "fits: 0"),
        ("x.json", b'[{"sample_id": "a", "a\\u001b\\nb": 1}]', "a\\x1b"),
        ("x.json", b"7", "fits: 0"),
        ("x.jsonl", b'{"sample_id": "a", "response": "I see <box>"}\n', 'response is a text, the first: "I see <box>"'),
        ("x.png", b"nothing", "1 cannot be read"),
        ("x.npz", b"PK nothing", "1 cannot be read"),
        ("x.bin", b"", "1 cannot be read"),
    ],
)
def test_what_cannot_be_read_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, data: bytes, what: str
) -> None:
    (tmp_path / name).write_bytes(data)
    for path in (tmp_path, tmp_path / name):
        out = said(capsys, inspect.Asked(path))
        assert what in out
        assert "\x1b" not in out
        assert "fits: 0" in out or "to try" in out


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "fits: 0" in said(capsys, inspect.Asked(tmp_path))
