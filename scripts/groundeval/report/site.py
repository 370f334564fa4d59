"""The pages of a report: an index, and for each leaderboard its own page, its gallery and its table of samples."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from groundeval.errors import InputError
from groundeval.report import card, commands, dataset, gallery, plots, sampletable
from groundeval.report.board import Board
from groundeval.report.commands import Made
from groundeval.report.evidence import Evidence
from groundeval.report.page import render
from groundeval.report.plots import Plot


@dataclass(frozen=True)
class Section:
    """A leaderboard with all that stands on its pages."""

    board: Board
    anchor: str
    evidences: Sequence[Evidence]
    made: Mapping[Any, Made]
    plots: Sequence[Plot]

    @property
    def pages(self) -> dict[str, str]:
        """What a reader calls a page -> its file."""
        names = {"Leaderboard": "", "Gallery": ".gallery", "Samples": ".samples"}  # no anchor holds a dot
        return {name: f"{self.anchor}{end}.html" for name, end in names.items()}

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The commands that make each run's numbers again."""
        runs = [row.run for row in self.board.runs if row.run is not None]
        metrics = [column.name for column in self.board.columns]
        unknown = Made(False, None)
        found = ((run, self.made.get(run.identity, unknown), [n for n in metrics if n in run.metrics]) for run in runs)
        return [(run.label, "\n".join(commands.again(run, how, names))) for run, how, names in found]

    def plot_file(self, plot: Plot) -> str:
        """Where the numbers of a plot stand."""
        return f"plots/{self.anchor}-{plot.name}.csv"


@dataclass
class Site:
    """Files by name, and what a page cannot show for want of what."""

    files: dict[str, str] = field(default_factory=dict)
    lacking: dict[str, Sequence[str]] = field(default_factory=dict)


def build(boards: Sequence[Board], evidences: Sequence[Evidence], made: Mapping[Any, Made], root: Path) -> Site:
    """All pages and the numbers of all plots. made: how each run was made, by identity; root: the tree that holds data/."""
    known = {evidence.run.identity: evidence for evidence in evidences}
    site, sections = Site(), [_section(b, a, known, made) for b, a in zip(boards, anchors(boards), strict=True)]
    site.files["index.html"] = render("index.html", sections=sections)
    for section in sections:
        _pages(site, section, root)
    return site


def _section(board: Board, anchor: str, known: Mapping[Any, Evidence], made: Mapping[Any, Made]) -> Section:
    runs = [row.run for row in board.runs if row.run is not None]
    evidences = [known[run.identity] for run in runs if run.identity in known]
    for one in evidences:
        if not one.samples.column("sample_id").equals(evidences[0].samples.column("sample_id")):
            what = f"has other samples than {evidences[0].folder / 'samples.parquet'}, of the same truth"
            raise InputError(one.folder / "samples.parquet", what, "Make both runs again.")
    return Section(board, anchor, evidences, made, plots.plots(board, evidences))


def _pages(site: Site, section: Section, root: Path) -> None:
    board, evidences = section.board, section.evidences
    ids = evidences[0].samples.column("sample_id").to_pylist() if evidences else []
    data = dataset.find(root, board, ids)
    drawn = gallery.make(board.record, evidences, data, section.made)
    table = sampletable.make(board.record, evidences, data, section.made)
    leaderboard, pictures, samples = section.pages.values()
    drawings = [(plot, Markup(plot.svg)) for plot in section.plots]  # noqa: S704 - ours, its text escaped
    shown = {"section": section, "board": board, "anchor": section.anchor}
    site.files[leaderboard] = render(
        "board.html", page=leaderboard, card=card.html(board.record.name), drawings=drawings, **shown
    )
    site.files[pictures] = render("gallery.html", page=pictures, gallery=drawn, **shown)
    json = None if table is None else Markup(table.json)  # noqa: S704 - it cannot end its element
    site.files[samples] = render("samples.html", page=samples, table=table, json=json, **shown)
    site.files |= {section.plot_file(plot): plot.csv for plot in section.plots}
    site.lacking |= {pictures: drawn.lacking, samples: table.lacking if table else ()}


def anchors(boards: Sequence[Board]) -> list[str]:
    """A distinct name for each board: `grefcoco-val`, with a number where several share the name."""
    seen: Counter[str] = Counter()
    found = []
    for board in boards:
        name = re.sub(r"[^a-z0-9]+", "-", f"{board.record.name}-{board.split}".lower())
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}--{seen[name]}")
    return found
