"""The tables beside metrics.json."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from groundeval.errors import InputError
from groundeval.report import evidence
from groundeval.report.collect import load
from report import made_up
from tests.benchmarks.case import Case


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    case = Case("gmrp", tmp_path_factory.mktemp("gmrp"))
    case.evaluate("almost", case.folder / "out")
    return case.folder / "out"


def test_it_holds_the_samples_and_what_they_scored(folder: Path) -> None:
    (run,) = load([folder / "metrics.json"])
    found = evidence.load(folder / "metrics.json", run)
    assert found is not None
    assert (found.run, found.folder) == (run, folder)
    assert found.samples.num_rows == run.counts["expected"] == len(found.by_sample["image_mIoU"])
    assert set(found.curves) == {f"AP/{name}" for name in ("unlabeled", "drivable_area", "road_anomaly")}


def test_no_tables_are_no_evidence(tmp_path: Path) -> None:
    (file,) = made_up.write(tmp_path, made_up.run("a"))
    assert evidence.load(file, load([file])[0]) is None


def test_tables_of_another_run_are_refused(folder: Path, tmp_path: Path) -> None:
    made_up.copy_tables(folder, tmp_path, model="another")
    (tmp_path / "metrics.json").write_bytes((folder / "metrics.json").read_bytes())
    (run,) = load([tmp_path / "metrics.json"])
    with pytest.raises(InputError, match='model is "another", there "almost"'):
        evidence.load(tmp_path / "metrics.json", run)


def test_float32_scores_are_left_where_they_are(tmp_path: Path) -> None:
    from groundeval.samples import read_histograms
    from groundeval.stages import score

    scores = np.arange(6, dtype=np.float32)
    arrays = {"eval/float32/0/positives/a": scores, "eval/by_image/a": np.ones((3, 513), np.int64)}
    table = made_up.empty_samples()
    score.write(table, arrays, {}, tmp_path / "samples.parquet", tmp_path / "histograms.parquet")
    assert set(read_histograms(tmp_path / "histograms.parquet")) == set(arrays)
    assert set(read_histograms(tmp_path / "histograms.parquet", scores=False)) == {"eval/by_image/a"}
