"""report: the leaderboards of all runs as csv, Markdown and one page."""

from __future__ import annotations

from pathlib import Path

from groundeval import files
from groundeval.errors import InputError
from groundeval.report import export, page
from groundeval.report.assemble import boards
from groundeval.report.collect import load


def report(results: list[Path], out: Path) -> Path:
    """Write leaderboard.csv, leaderboard.md and index.html to the folder `out`; return the path of index.html.

    results: one metrics.json a run. All is made before anything is written.
    InputError: no runs, an unusable file, a run that stands twice, `out` is a file.
    """
    if not results:
        raise InputError(out, "no runs to report", "Name at least one metrics.json.")
    if out.exists() and not out.is_dir():
        raise InputError(out, "a file where the report's folder should be", "Name another folder.")
    found = boards(load(results))
    made = {
        "leaderboard.csv": export.as_csv(found),
        "leaderboard.md": export.as_markdown(found),
        "index.html": page.render(found),
    }
    for name, text in made.items():
        files.write_text(out / name, text)
    return out / "index.html"
