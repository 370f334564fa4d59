"""Plots of every benchmark's demo: what they hold, that a strict page can hold them, and that their bytes are fixed."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from groundeval import benchmarks, tables
from groundeval.report import evidence
from groundeval.report.assemble import boards
from groundeval.report.board import Board
from groundeval.report.collect import load
from groundeval.report.evidence import Evidence
from groundeval.report.plots import Plot, figure, plots, precision_recall, thresholds
from report import made_up
from tests.benchmarks.case import Case

EVIL = "=HYPERLINK(0) $x$ <script>alert(1)</script> & \"'\u202e %_{}"
TAGS = {"svg", "g", "path", "defs", "use", "text", "clipPath", "rect"}
EXPECTED = {
    "gmrp": {"distribution", "best-two", "confusion", "curve-ap-drivable-area"},
    "kitti_semantic": {"distribution", "best-two", "confusion", "curve-ap-vehicles", "curve-native-ap-vehicles"},
    "kitti_road": {"distribution", "best-two", "by-category", "curve-bev-urban", "curve-persp-um-lane"},
    "grefcoco": {"distribution", "best-two", "by-number-of-targets"},
    "grin_drive": {"distribution", "best-two", "by-mask-size", "by-kind"},
    "instructpart": {"distribution", "best-two", "by-mask-size", "by-object", "by-part", "by-affordance"},
}
Made = tuple[Board, list[Evidence]]


@pytest.fixture(scope="module", params=benchmarks.names())
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    return demo(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def drawn(made: Made) -> list[Plot]:
    return plots(*made)


def demo(name: str, folder: Path) -> Made:
    """The board of a benchmark's demo models."""
    case = Case(name, folder)
    files = [case.folder / "results" / model / "metrics.json" for model in case.demo.MODELS]
    for file, model in zip(files, case.demo.MODELS, strict=True):
        case.evaluate(model, file.parent)
    return of(files)


def of(files: list[Path]) -> Made:
    runs = load(files)
    found = [one for pair in zip(files, runs, strict=True) if (one := evidence.load(*pair)) is not None]
    (board,) = boards(runs, found)
    return board, found


def renamed(made: Made, names: list[str]) -> Made:
    """The same runs under other names."""
    board, found = made
    of_model = dict(zip([row.name for row in board.runs], names, strict=True))
    others = [replace(one, run=replace(one.run, model=of_model[one.run.model])) for one in found]
    runs = {one.run.model: one.run for one in others}
    rows = [replace(row, name=of_model[row.name], run=runs[of_model[row.name]]) for row in board.runs]
    return replace(board, runs=rows), others


def elements(plot: Plot) -> Iterator[ET.Element]:
    return ET.fromstring(plot.svg).iter()


def table(plot: Plot) -> list[list[str]]:
    return list(csv.reader(io.StringIO(plot.csv)))


def test_each_benchmark_has_its_plots(made: Made, drawn: list[Plot]) -> None:
    names = [plot.name for plot in drawn]
    assert EXPECTED[made[0].record.name] <= set(names)
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)
    for plot in drawn:
        assert plot.title
        assert len(plot.caption) > 20
        assert len(plot.svg) < 150_000
        head, *rows = table(plot)
        assert rows
        assert {len(row) for row in rows} == {len(head)}


def test_a_page_without_scripts_styles_and_requests_can_hold_them(drawn: list[Plot]) -> None:
    ids: list[str] = []
    for plot in drawn:
        for element in elements(plot):
            assert element.tag in TAGS
            attributes = element.attrib
            assert not {"style", "class", "onload"} & set(attributes)
            assert all(value.startswith(f"#{plot.name}-") for name, value in attributes.items() if name == "href")
            assert all(f"url(#{plot.name}-" in value for value in attributes.values() if "url(" in value)
            ids += [attributes["id"]] if "id" in attributes else []
        assert not re.search(r"https?:|data:|xlink|<!|<\?", plot.svg)
        used = set(re.findall(r"#((?:[a-z0-9]+-)+[A-Za-z0-9_-]+)", plot.svg))
        assert used == {element.get("id") for element in elements(plot) if element.get("id")}
    assert len(ids) == len(set(ids))


def test_text_and_axes_have_the_colour_of_the_page(drawn: list[Plot]) -> None:
    hues = set(figure.COLOURS) | {"none", "currentColor"}
    for plot in drawn:
        for element in elements(plot):
            if element.tag == "text":
                assert element.get("fill") == "currentColor"
            elif plot.name != "confusion":
                assert {element.get(name, "none") for name in ("fill", "stroke")} <= hues


def test_hues_stand_out_from_light_and_from_dark() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    for colour in figure.COLOURS:
        own = luminance(colour)
        assert 1.05 / (own + 0.05) >= 3, colour
        assert (own + 0.05) / (luminance("#16181b") + 0.05) >= 3, colour


@pytest.mark.parametrize("name", ["gmrp", "instructpart"])
def test_foreign_names_are_text(name: str, tmp_path: Path) -> None:
    made = demo(name, tmp_path)
    names = [f"{EVIL} {i}" for i in range(len(made[0].runs))]
    shown = [figure.shown(name) for name in names]
    for plot in plots(*renamed(made, names)):
        assert {element.tag for element in elements(plot)} <= TAGS
        texts = "".join(element.text or "" for element in elements(plot) if element.tag == "text")
        assert shown[0] in texts
        assert "\u202e" not in plot.svg + plot.csv
        cells = {cell for row in table(plot) for cell in row}
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@"))]


def test_neither_the_order_of_evidence_nor_a_leading_underscore_changes_what_is_shown(tmp_path: Path) -> None:
    board, found = renamed(demo("grin_drive", tmp_path), [f"_model {i}" for i in range(3)])
    first = plots(board, found)
    assert first == plots(board, found[::-1])
    texts = [element.text for element in elements(first[0])]
    assert [text for text in texts if text and text.startswith("_model")] == ["_model 0", "_model 1", "_model 2"]


def test_without_evidence_or_with_one_model_there_is_less(tmp_path: Path) -> None:
    board, found = demo("grin_drive", tmp_path)
    assert plots(board, []) == []
    best = next(one for one in found if one.run == board.runs[0].run)
    names = {plot.name for plot in plots(board, [best])}
    assert "distribution" in names
    assert "best-two" not in names


def test_curves_have_bands_and_the_marked_decision(made: Made, drawn: list[Plot]) -> None:
    board, _ = made
    for plot in drawn:
        if plot.name.startswith("curve-"):
            kinds = {row[1] for row in table(plot)[1:]}
            assert {"curve", "chosen", "95 % band"} <= kinds, plot.name
            for model, what, recall, precision, low, high in table(plot)[1:]:
                assert model in {row.name for row in board.runs}
                values = [float(x) for x in (recall, precision, low, high) if x]
                assert all(0 <= x <= 1 for x in values), what


def test_ten_models_at_most_are_shown_and_it_is_said(tmp_path: Path) -> None:
    case = Case("instructpart", tmp_path)
    case.evaluate("noisy", tmp_path / "out" / "0")
    files = [tmp_path / "out" / str(i) / "metrics.json" for i in range(12)]
    for i, file in enumerate(files[1:], start=1):
        file.parent.mkdir()
        content = files[0].read_text(encoding="utf-8").replace('"model": "noisy"', f'"model": "noisy {i}"')
        file.write_text(content, encoding="utf-8")
        made_up.copy_tables(files[0].parent, file.parent, model=f"noisy {i}")
    for plot in plots(*of(files)):
        assert "The best 10 of 12 runs are shown." in plot.caption or plot.name == "best-two"
        assert len(plot.svg) < 150_000


def test_another_process_makes_the_same_bytes(tmp_path: Path) -> None:
    case = Case("grin_drive", tmp_path)
    files = [tmp_path / "out" / model / "metrics.json" for model in ("almost", "noisy")]
    for file in files:
        case.evaluate(file.parent.name, file.parent)
    code = """
import hashlib, sys
from pathlib import Path
from tests.report.test_plots import of
from groundeval.report.plots import plots
print(hashlib.sha256("".join(p.svg + p.csv for p in plots(*of([Path(f) for f in sys.argv[1:]]))).encode()).hexdigest())
"""
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 33\naxes.facecolor: red\n", encoding="utf-8")
    changed = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONHASHSEED": "5",
        "MATPLOTLIBRC": str(settings),
        "TZ": "Asia/Tokyo",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, files)],
        env={**os.environ, **changed},
        capture_output=True,
        text=True,
        check=True,
    )
    here = "".join(plot.svg + plot.csv for plot in plots(*of(files)))
    assert done.stdout.strip() == hashlib.sha256(here.encode()).hexdigest()


def test_points_are_thinned_but_for_the_ends() -> None:
    points = [(i / 999, 1 - i / 2000) for i in range(1000)]
    found = precision_recall.thinned(points)
    assert len(found) <= precision_recall.MOST + 1
    assert (found[0], found[-1]) == (points[0], points[-1])
    assert precision_recall.thinned([]) == []


def test_thresholds_are_swept_from_the_scores_of_the_answers(tmp_path: Path) -> None:
    case = Case("grefcoco", tmp_path)
    manifest, _, _, _ = case.tables("almost")
    case.evaluate("almost", tmp_path / "out")
    ids = manifest.column("sample_id").to_pylist()
    samples = tables.read(tmp_path / "out" / "samples.parquet").to_pylist()
    rows = [{"sample_id": s, "status": "answered", "boxes": [[0.0, 0, 9, 9]] * 2, "scores": [0.25, 0.75]} for s in ids]
    schema = tables.predictions_schema("boxes")
    tables.write(
        tmp_path / "out" / "predictions.parquet", pa.Table.from_pylist(rows, schema=schema).to_batches(), schema, {}
    )
    (plot,) = [p for p in plots(*of([tmp_path / "out" / "metrics.json"])) if p.name == "thresholds"]
    head, *lines = table(plot)
    assert head == ["model", "score threshold", *thresholds.LINES]
    at = {float(line[1]): [float(cell) for cell in line[2:]] for line in lines}
    n, usable = len(samples), [row["status"] in ("answered", "none") for row in samples]
    true = [row["true"] for row in samples]
    targets = sum(t > 0 for t in true)
    right = {k: sum(ok and t == k for ok, t in zip(usable, true, strict=True)) / n for k in (0, 1, 2)}
    assert at[0.25] == pytest.approx([0, 1, right[2]])
    assert at[0.26] == pytest.approx([0, 1, right[1]])
    none_right = sum(ok and t == 0 for ok, t in zip(usable, true, strict=True)) / (n - targets)
    assert at[0.76] == pytest.approx([none_right, 0, right[0]])
