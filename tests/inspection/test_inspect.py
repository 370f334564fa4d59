"""inspect finds what the files are: for every demo model of every benchmark its declared format fits best."""

from __future__ import annotations

import json
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
from groundeval.inspection import part
from groundeval.sources.folder import Source
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


def command(out: str) -> list[str]:
    """The words of the printed command."""
    return shlex.split(re.findall(r"^  (groundeval evaluate .*)$", out, re.M)[-1])


def test_the_declared_format_fits_best(case: Case, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    declared = case.demo.MODELS["noisy"]
    out = said(capsys, inspect.Asked(case.folder / "noisy", case.name, case.raw, case.split, {}, tmp_path))
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
    words = command(out)
    given = dict(zip(words[3::2], words[4::2], strict=False))
    sets = dict(w.split("=", 1) for a, w in pairwise(words) if a == "--set")
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
        ("x.json", b"{}", "fits: "),
        ("x.json", b"[]", "fits: "),
        ("x.json", b'{"img_height": 99999999999, "img_width": -1, "annotations": []}', "fits: 0"),
        ("x.json", b'{"images": [1, {"id": {}, "sample_id": 3}]}', "fits: 0"),
        ("x.json", b'{"a": "b"}', 'an object of 1 texts, the first "a": "b"'),
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


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty: there is no file in it"):
        inspect.run(inspect.Asked(tmp_path))


def test_all_files_of_a_sample_are_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("gmrp", tmp_path)
    flat = tmp_path / "flat"
    flat.mkdir()
    for path in (case.folder / "almost").glob("*.npz"):
        for number, plane in enumerate(np.load(path)["scores"]):
            Image.fromarray(plane.astype(np.uint16) * 257).save(flat / f"{path.stem}_{number}.png")
    out = said(capsys, inspect.Asked(flat, "gmrp", case.raw, case.split))
    assert "looked at 120 of 120 files" in out
    assert "\n  scores_png16 (no options): 40 answered" in out


def test_a_part_of_many_files_is_whole_samples(tmp_path: Path) -> None:
    ids = [f"s{i:03d}" for i in range(200)]
    for name in (f"{i}_{c}.png" for i in ids for c in range(3)):
        (tmp_path / name).write_bytes(b"x")
    for beginnings in (frozenset(ids), frozenset[str]()):
        seen = part.of(Source(tmp_path), beginnings).part.names()
        samples = {n[:4] for n in seen}
        assert len(seen) == 3 * len(samples)
        assert 30 <= len(samples) <= part.SAMPLES


def test_the_colours_are_told_and_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("kitti_semantic", tmp_path)
    out = said(capsys, inspect.Asked(case.folder / "noisy", case.name, case.raw, case.split))
    assert re.search(r"\ncolours: #000000 \(\d", out)
    assert "colours=0=#000000 1=#804080 2=#00008e 3=#dc143c" in command(out)


def test_roads_without_lanes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("kitti_road", tmp_path)
    for path in (case.folder / "almost").glob("um_lane_*"):
        path.unlink()
    out = said(capsys, inspect.Asked(case.folder / "almost", case.name, case.raw, "training"))
    assert "tasks=road" in command(out)


def test_samples_without_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("instructpart", tmp_path)
    masks = sorted((case.folder / "almost").iterdir())
    for path in masks[:5]:
        path.unlink()
    out = said(capsys, inspect.Asked(case.folder / "almost", case.name, case.raw, case.split))
    assert f"5 of {len(masks)} samples have no answer, which stops a run" in out


def test_a_threshold_is_no_finding(boxes: Case, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, inspect.Asked(boxes.folder / "almost", boxes.name, boxes.raw, "val"))
    assert "score_threshold=0.7" in command(out)
    assert re.search(r"score_threshold is your choice, .* at or above 0: \d+, 0\.3: \d+, 0\.5: \d+, 0\.7: \d+", out)


def test_names_that_a_map_leads_to_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("instructpart", tmp_path)
    renamed, names = tmp_path / "renamed", {}
    renamed.mkdir()
    for number, path in enumerate(sorted((case.folder / "almost").iterdir())):
        names[f"q{number}"] = path.stem
        np.save(renamed / f"q{number}.npy", np.asarray(Image.open(path)) > 0)
    (renamed / "names.json").write_text(json.dumps(names), encoding="utf-8")
    out = said(capsys, inspect.Asked(renamed, case.name, case.raw, case.split))
    assert f'names.json: an object of {len(names)} texts, the first "q0": ' in out
    assert "names.json may lead from them to samples" in out
    assert "map=names.json" in command(out)


def test_an_image_of_several_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("instructpart", tmp_path)
    by_image = tmp_path / "by_image"
    by_image.mkdir()
    for path in sorted((case.folder / "almost").iterdir()):
        name = f"{path.stem.split('-')[0]}_mask_0.jpg"
        Image.fromarray(np.asarray(Image.open(path)) // 255 * 100).save(by_image / name, quality=95)
    out = said(capsys, inspect.Asked(by_image, case.name, case.raw, case.split))
    assert "are names of images: an image of several samples does not say" in out
    assert re.search(r"fits in part\n  lisa_demo names=image: \d+ answered, \d+ invalid", out)
    assert "declare map=" in out
    assert command(out)[-5:] == ["--set", "names=image", "--allow-incomplete", "--out", "OUT"]


def test_only_values_that_exist_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ramp = np.linspace(0, 250, 126, dtype=np.uint8).reshape(9, 14)
    Image.fromarray(ramp).save(tmp_path / "a.png")
    np.save(tmp_path / "b.npy", np.linspace(0.25, 0.75, 1000, dtype=np.float32).reshape(20, 50))
    out = said(capsys, inspect.Asked(tmp_path))
    (of_png,) = re.findall(r"values of 8-bit grey PNG: (.*?); from 0 to 250", out)
    assert {int(v) for v in re.findall(r"(\d+) \(", of_png)} <= set(ramp.ravel().tolist())
    assert "values of float32 .npy: more than 256 different, from 0.25 to 0.75" in out


def test_the_photo_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("gmrp", tmp_path)
    asked = inspect.Asked(case.folder / "noisy", case.name, case.raw, case.split, {}, tmp_path / "out")
    out = said(capsys, asked)
    assert "3 of 3 over their photo" in out
    (first,) = re.findall(r"overlay\.png: (\w+), ", out)
    (case.raw / "rgb" / f"{first}.png").write_bytes(b"no image")
    assert "2 of 3 over their photo" in said(capsys, asked)
