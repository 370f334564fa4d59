"""What the engines know that the report depends on."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from groundeval import benchmarks, closure, plan
from groundeval.sources.licences import shows_images

ROOT = Path(__file__).parents[2]


def planned(root: Path, monkeypatch: pytest.MonkeyPatch, version: str = "demo", **sources: object) -> plan.Plan:
    """One model on each of two benchmarks, one of which has images."""
    monkeypatch.chdir(root)
    (root / "data").mkdir(exist_ok=True)
    (root / "data/sources.yaml").write_text(yaml.safe_dump({"grin_drive": {"v1": sources}}), encoding="utf-8")
    blocks = {
        "grin_drive": {"dataset": {"version": version, "splits": ["test"]}, "models": {"a": {"format": "mask_png"}}},
        "grefcoco": {"dataset": {"version": "demo", "splits": ["val"]}, "models": {}},
    }
    (root / "params.yaml").write_text(yaml.safe_dump({"benchmarks": blocks}), encoding="utf-8")
    return plan.load(root / "params.yaml")


def test_the_tables_of_the_runs_and_images_that_may_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = ["data/splits/grin_drive/test.parquet", "data/truth/grin_drive/test.parquet"]
    assert plan.pictured(planned(tmp_path, monkeypatch)) == [*tables, "data/raw/grin_drive/demo"]
    assert plan.pictured(planned(tmp_path, monkeypatch, "v1")) == tables
    shown = planned(tmp_path, monkeypatch, "v1", show_images=True)
    assert plan.pictured(shown) == [*tables, "data/raw/grin_drive/v1"]


def test_no_official_dataset_s_images_are_shown() -> None:
    sources = ROOT / "data" / "sources.yaml"
    for name, versions in yaml.safe_load(sources.read_text(encoding="utf-8")).items():
        assert not any(shows_images(sources, name, version) for version in versions)
        assert shows_images(sources, name, "demo")


def test_all_that_makes_the_report_is_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = set(closure.files(*plan.reporting(planned(tmp_path, monkeypatch))))
    report = ROOT / "scripts/groundeval/report"
    own = {
        path.relative_to(ROOT).as_posix()
        for path in report.rglob("*")
        if path.suffix in (".py", ".html", ".css", ".js")
    }
    unused = {f"scripts/groundeval/report/{name}.py" for name in ("leaderboard", "comparison", "terminal")}
    assert own - known <= unused
    assert "scripts/groundeval/benchmarks/grin_drive/protocol.py" in known


@pytest.mark.parametrize("name", [n for n in benchmarks.names() if benchmarks.record(n).shape == "map"])
def test_a_benchmark_of_maps_says_how_it_is_drawn(name: str) -> None:
    assert callable(benchmarks.part(name, "picture").layers)
