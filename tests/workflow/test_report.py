"""Snakemake's own report of a finished project: it needs no network, and each result has its caption."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.workflow.project import Project


def test_snakemakes_report_holds_the_pages_and_metrics_with_captions(finished: Project, tmp_path: Path) -> None:
    """A zip: Snakemake puts no folder of pages into a single page."""
    made = tmp_path / "report.zip"
    finished.snakemake("--report", str(made))
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
        (page,) = [name for name in names if name.endswith("/report.html")]
        shown = archive.read(page).decode()
    assert len([name for name in names if name.endswith("/metrics.json")]) == 4
    assert len([name for name in names if name.endswith("/leaderboard.csv")]) == 1
    assert "All numbers of almost on grefcoco, val" in shown
    assert "All numbers of nothing on instructpart, test" in shown
    assert "Leaderboards of all runs" in shown
