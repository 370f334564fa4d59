"""compare: runs of the demo models, from folders of results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from groundeval import tables
from groundeval.cli import app
from groundeval.errors import InputError
from groundeval.report import comparison
from groundeval.stages import compare
from tests.benchmarks.case import Case

MODELS = ("almost", "noisy", "nothing")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """The results of the three demo models of three benchmarks."""
    found = {}
    for name in ("grefcoco", "grin_drive", "kitti_semantic"):
        case = Case(name, tmp_path_factory.mktemp(name))
        found[name] = [case.folder / "results" / model for model in MODELS]
        for model, out in zip(MODELS, found[name], strict=True):
            case.evaluate(model, out)
    return found


def changed(folder: Path, out: Path, rows: Any = None, **about: Any) -> Path:
    """A copy of a run's folder with other rows or saying other things of itself."""
    shutil.copytree(folder, out)
    path = out / "samples.parquet"
    table, said = tables.read(path), tables.meta(path)
    schema = table.schema.remove_metadata()
    table = table if rows is None else pa.Table.from_pylist(rows(table.to_pylist()), schema=schema)
    tables.write(path, table.to_batches(), schema, {**said, **about})
    return out


def refusal(*runs: Path) -> str:
    with pytest.raises(InputError) as caught:
        compare.run(runs, None)
    return caught.value.line()


def test_all_pairs_of_three_runs(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    content = compare.run(folders["grefcoco"], tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text()) == content
    headline = content["metrics"]["set_accuracy"]
    assert headline["best"] == ["almost"]
    assert [pair["of"] for pair in headline["pairs"]] == [
        ["almost", "noisy"],
        ["almost", "nothing"],
        ["noisy", "nothing"],
    ]
    for pair in headline["pairs"]:
        a, b = (headline["values"][name] for name in pair["of"])
        assert pair["difference"] == pytest.approx(a - b)
        low, high = pair["interval"]
        assert low < pair["difference"] < high
        one, other = pair["only_one_right"]
        assert (one - other) / content["samples"] == pytest.approx(a - b)
        assert pair["p"] <= pair["p_corrected"] < 0.05
        assert not pair["tie"]
    assert content["metrics"]["T_acc"]["best"] == ["almost", "noisy"]


def test_values_are_those_of_the_runs(folders: dict[str, list[Path]]) -> None:
    for paths in folders.values():
        content = compare.run(paths[:2], None)
        for model, path in zip(MODELS, paths[:2], strict=False):
            metrics = json.loads((path / "metrics.json").read_text())["metrics"]
            for name, metric in content["metrics"].items():
                assert metric["values"][model] == metrics[name]["value"]


def test_what_has_no_value_is_said(folders: dict[str, list[Path]]) -> None:
    content = compare.run(folders["kitti_semantic"][:2], None)
    assert {"mIoU", "mFsc"} < set(content["metrics"])
    assert content["not_compared"]["mAP"] == "it has no value in every run"
    assert "mAP: not compared" in "\n".join(comparison.lines(content))


def test_average_precisions_are_compared_from_coarse_counts(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    almost = folders["kitti_semantic"][0]
    (pair,) = compare.run([almost, changed(almost, tmp_path / "copy")], None)["metrics"]["mAP"]["pairs"]
    assert (pair["difference"], pair["interval"], pair["tie"]) == (0, [0, 0], True)


def test_a_run_is_tied_with_itself_and_named_by_its_folder(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    noisy = folders["grin_drive"][1]
    copy = changed(noisy, tmp_path / "copy")
    content = compare.run([noisy, copy], None)
    for metric in content["metrics"].values():
        (pair,) = metric["pairs"]
        assert pair["of"] == metric["best"] == [str(noisy), str(copy)]
        assert (pair["difference"], pair["interval"], pair["p"], pair["tie"]) == (0, [0, 0], 1, True)


def test_the_order_of_rows_changes_nothing(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    almost, noisy, _ = folders["grin_drive"]
    mixed = changed(noisy, tmp_path / "mixed", rows=lambda rows: rows[::-1])
    assert compare.run([almost, mixed], None)["metrics"] == compare.run([almost, noisy], None)["metrics"]


def test_runs_that_do_not_compare_are_refused_with_every_difference(
    folders: dict[str, list[Path]], tmp_path: Path
) -> None:
    almost, noisy, _ = folders["grefcoco"]
    said = refusal(almost, folders["grin_drive"][0])
    assert 'benchmark is "grin_drive", there "grefcoco"' in said
    other = changed(noisy, tmp_path / "a", version="0.9", split="testA", dataset={"truth": "00", "version": None})
    said = refusal(almost, other)
    assert all(part in said for part in ('version is "0.9"', 'split is "testA"', 'dataset truth is "00"'))
    shorter = changed(noisy, tmp_path / "b", rows=lambda rows: rows[3:])
    assert "3 samples only in the first, such as" in refusal(almost, shorter)
    assert "3 samples only in this, such as" in refusal(shorter, almost)


def test_another_merge_is_another_task(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    almost, noisy, _ = folders["kitti_semantic"]
    options = tables.meta(noisy / "samples.parquet")["options"]
    strict = changed(noisy, tmp_path / "strict", options={**options, "merge": "strict"})
    assert 'option merge is "strict", there "category"' in refusal(almost, strict)


def test_one_run_is_not_enough(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    assert "needs two runs" in refusal(folders["grefcoco"][0])
    assert "no such table" in refusal(folders["grefcoco"][0], tmp_path)


def test_the_command(folders: dict[str, list[Path]], tmp_path: Path) -> None:
    almost, noisy, _ = map(str, folders["grefcoco"])
    done = CliRunner().invoke(app, ["compare", almost, noisy, "--out", str(tmp_path / "c.json")])
    assert done.exit_code == 0
    assert "set_accuracy, best: almost" in done.stdout
    assert ": differ" in done.stdout
    assert (tmp_path / "c.json").exists()
