"""report: the leaderboards of all runs as csv, Markdown, LaTeX and pages that open from disk."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundeval import files
from groundeval.errors import InputError, first_of
from groundeval.report import commands, evidence, export, site
from groundeval.report.assemble import boards
from groundeval.report.collect import load

PLOTS = "plots"  # the folder of the numbers of plots
MARK = '<meta name="generator" content="groundeval">'
OURS = (".html", ".csv", ".md", ".tex")
NOT_COUNTED = {".snakemake_timestamp", ".gitignore"}


@dataclass(frozen=True)
class Report:
    """What was written. lacking: page -> what it does not show, for want of what."""

    index: Path
    names: Sequence[str]
    lacking: Mapping[str, Sequence[str]]


def report(results: list[Path], out: Path, root: Path = Path()) -> Report:
    """Make the folder `out` the report of these runs; what stood there before is gone. All is made before anything is written.

    results: one metrics.json a run, with its tables beside it where they are kept. root: the tree that holds data/.
    InputError: no runs, an unusable file, a run that stands twice, `out` holds something else than a report.
    """
    if not results:
        raise InputError(out, "no runs to report", "Name at least one metrics.json.")
    _check(out)
    runs = load(results)
    made = {run.identity: commands.made(file.parent) for file, run in zip(results, runs, strict=True)}
    found = [one for pair in zip(results, runs, strict=True) if (one := evidence.load(*pair)) is not None]
    ranked = boards(runs, found)
    built = site.build(ranked, found, made, root)
    texts = {
        "leaderboard.csv": export.as_csv(ranked),
        "leaderboard.md": export.as_markdown(ranked),
        "leaderboard.tex": export.as_tex(ranked),
        **built.files,
    }
    with files.replaced(out) as folder:
        (folder / PLOTS).mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
    return Report(out / "index.html", sorted(texts), built.lacking)


def show(made: Report, in_browser: bool) -> None:
    """Print where the report is and what it lacks; open it in the browser if asked."""
    for what in sorted({what for lacking in made.lacking.values() for what in lacking}):
        print(f"{what}: the report does not show what needs it.", file=sys.stderr)
    print(made.index)
    if in_browser:
        import webbrowser

        if not webbrowser.open(made.index.resolve().as_uri()):
            raise InputError(made.index, "no browser could be opened", "Open the file by hand.")


def _check(out: Path) -> None:
    """Only a report gives way to a report."""
    if out.exists() and not out.is_dir():
        raise InputError(out, "a file where the report's folder should be", "Name another folder.")
    here = [path for path in sorted(out.iterdir()) if path.name not in NOT_COUNTED] if out.exists() else []
    strange = [path.name for path in here if not (path.suffix in OURS if path.is_file() else path.name == PLOTS)]
    index = out / "index.html"
    if strange or (here and not (index.is_file() and MARK.encode() in index.read_bytes())):
        what = f"holds something else than a report, {first_of(strange or [here[0].name])}"
        raise InputError(
            out, what, "Name an empty folder, or one that does not exist; a report replaces the whole folder."
        )
