"""Names that people and files give: of models, of files, of samples; and texts."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.security import child
from tests.security.scene import Scene

Make = Callable[[str], Scene]
HTML = '<script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.mark.parametrize(
    "name", ["=cmd|' /C calc'!A0", "../evil", "a/b", " ", "-x", "a\nb", "a b", "<b>", "é", "a" * 5000 + "/"]
)
def test_model_names(scene: Make, name: str) -> None:
    found = scene("rle")
    before = child.listing(found.root.parent)
    found.refused("is not a name for a model", f"--model={name}")
    assert {n for n in child.listing(found.root.parent) - before if not n.endswith((".out", ".err", ".peak"))} == set()


@pytest.mark.parametrize("name", ["=evil", "..", "<b>", "a\nb", "-", "1.10"])
def test_a_models_name_from_a_folders_is_harmless(scene: Make, name: str) -> None:
    """What no name is given for is named after the predictions, whatever these are called."""
    found = scene("mask")
    target = found.predictions if name == ".." else found.root / name
    if name == "..":
        (found.predictions / "sub").mkdir()
        predictions = "predictions/sub/.."
        shutil.rmtree(found.predictions / "sub")
        (found.root / "x").mkdir()
        predictions = "x/../predictions"
    else:
        found.predictions.rename(target)
        predictions = f"./{name}"
    done = found.evaluate(predictions=predictions)
    assert done.code == 0, done.err
    model = json.loads((found.root / "out/metrics.json").read_bytes())["model"]
    assert model[0].isalpha()
    assert set(model) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")


@pytest.mark.parametrize(
    "name", ["new\nline", "\u202eabc", "é" * 60, "=x", "-x", "<b>", b"\xff\xfe".decode("utf-8", "surrogateescape")]
)
def test_file_names(scene: Make, name: str) -> None:
    found = scene("mask")
    path = found.first(".png")
    path.rename(path.with_name(f"{name}.png"))
    assert "no .png" in (line := found.refused("predictions: 1 ")) or "ids are not samples of this split" in line


def test_a_file_in_a_subfolder_is_named_by_its_whole_path(scene: Make) -> None:
    found = scene("mask")
    path = found.first(".png")
    (found.predictions / "sub").mkdir()
    path.rename(found.predictions / "sub" / path.name)
    found.refused('first "sub/')


@pytest.mark.parametrize("target", ["/etc", "/etc/passwd", "../raw", "."])
@pytest.mark.parametrize("kind", ["mask", "rle"])
def test_links_out_of_the_folder(scene: Make, kind: str, target: str) -> None:
    found = scene(kind)
    (found.predictions / "link").symlink_to(target)
    line = found.refused("predictions/link: a link ")
    assert "root:" not in line


def test_a_pipe_does_not_hang(scene: Make) -> None:
    found = scene("mask")
    os.mkfifo(found.predictions / "x.png")
    found.refused("is neither a file nor a folder")


def with_text(scene: Scene, text: str) -> None:
    path = scene.raw / "test" / "data_test.json"
    entries: list[dict[str, Any]] = json.loads(path.read_bytes())
    for entry in entries:
        for part in entry["part_list"]:
            part["instruction"] = [text] * 6
    path.write_text(json.dumps(entries), encoding="utf-8")


def test_an_instruction_with_html(scene: Make) -> None:
    """It may stand in the manifest; the report's page never has it as markup."""
    found = scene("mask")
    with_text(found, HTML)
    assert found.evaluate("--model", "m").code == 0
    done = child.run(found.root, ["report", "out/metrics.json", "--out", "report"])
    assert done.code == 0, done.err
    page = (found.root / "report/index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "onerror" not in page or "&lt;img" in page


def test_options_are_words_and_nothing_else(scene: Make) -> None:
    found = scene("rle")
    for said in ("a=b", "__class__=x", "=x", "x"):
        assert found.refused("", "--set", said)
    assert not Path(found.root, "out").exists()
