"""Which rows stand on a leaderboard, and in which order."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from groundeval import benchmarks
from groundeval.errors import InputError
from groundeval.report import published
from groundeval.report.assemble import boards
from groundeval.report.board import Board
from groundeval.report.collect import parse
from groundeval.report.details import details, parts
from report import made_up


def board(*runs: dict[str, Any]) -> Board:
    (found,) = boards([parse(run) for run in runs])
    return found


def models(found: Board) -> list[str]:
    return [row.name for row in found.runs]


def with_headline(model: str, metric: dict[str, Any]) -> dict[str, Any]:
    return made_up.run(model, metrics={"acc": metric})


def test_runs_stand_by_headline_with_those_without_a_value_last_whatever_the_order_given() -> None:
    void, absent = with_headline("void", made_up.metric(0, 0)), made_up.run("absent", metrics={})
    runs = [made_up.run("good", 7), made_up.run("bad", 1), made_up.run("also bad", 1), void, absent]
    for order in permutations(runs):
        assert models(board(*order)) == ["good", "also bad", "bad", "absent", "void"]


def test_a_headline_of_which_less_is_better_turns_the_order() -> None:
    runs = [with_headline(name, made_up.metric(n, 8, direction="lower")) for name, n in (("bad", 7), ("good", 1))]
    found = board(with_headline("void", made_up.metric(0, 0, direction="lower")), *runs)
    assert models(found) == ["good", "bad", "void"]
    assert found.columns[0].lower


def test_other_splits_versions_and_truths_are_other_boards() -> None:
    runs = [
        made_up.run("a"),
        made_up.run("a", split="test"),
        made_up.run("a", version="4"),
        made_up.run("a", dataset={"version": "demo", "truth": "cd" * 32}),
    ]
    found = boards([parse(run) for run in runs])
    assert [(b.split, b.version, b.siblings) for b in found] == [
        ("test", "3", 0),
        ("val", "3", 2),
        ("val", "3", 2),
        ("val", "4", 2),
    ]


def test_a_baseline_on_which_runs_agree_stands_once() -> None:
    assert [row.name for row in board(made_up.run("a"), made_up.run("b")).baselines] == ["empty"]


def test_a_baseline_on_which_runs_differ_is_shown_for_each() -> None:
    other = made_up.run("b", baselines={"empty": {"acc": made_up.metric(3, 8)}})
    assert [row.name for row in board(made_up.run("a"), other).baselines] == ["empty (as of a)", "empty (as of b)"]


def test_published_rows_are_those_of_the_split_in_the_units_of_the_runs() -> None:
    (row,) = board(made_up.run("a")).published
    assert (row.name, row.note, row.source) == ("Theirs", "read from a figure", "A paper, table 2")
    assert {n: (m.value, m.unit) for n, m in row.metrics.items()} == {
        "acc": (0.621, "fraction"),
        "P@50": (58.2, "percent"),
    }


def test_published_rows_keep_their_unit_where_no_run_has_the_metric() -> None:
    found = board(made_up.run("a", status="package", metrics={}, baselines={}))
    assert (found.published[0].metrics["acc"].value, found.columns[0].unit) == (62.1, "percent")


def test_published_rows_of_settings_without_a_run_stand_apart_by_setting(folder: Path) -> None:
    rows = [("A", "x"), ("A", "y"), ("A", "z"), ("B", "x"), ("B", "y"), ("B", "z")]
    listed = "".join(f"  - {{method: {m}, split: val, setting: {s}, metrics: {{acc: 1}}}}\n" for m, s in rows)
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows:\n{listed}", encoding="utf-8")
    found = board(made_up.run("a", options={"setting": "z"}))
    assert [(row.name, row.setting) for row in found.published] == [("A", "z"), ("B", "z")]
    assert [(row.name, row.setting) for row in found.elsewhere] == [("A", "x"), ("B", "x"), ("A", "y"), ("B", "y")]
    assert len(board(made_up.run("a")).published) == 6


def test_published_rows_of_splits_that_the_benchmark_lacks_stand_apart(folder: Path) -> None:
    rows = "[{method: M, split: half of val, setting: their own, note: old, metrics: {acc: 1, by_kind/multi/acc: 2}}]"
    (folder / "toy" / "published.yaml").write_text(f"source: S\nunit: percent\nrows: {rows}", encoding="utf-8")
    found = board(made_up.run("a"))
    (row,) = found.elsewhere
    assert (row.split, row.setting, row.note) == ("half of val", None, "old; their own")
    assert {name: metric.value for name, metric in found.unlisted(row).items()} == {"by_kind/multi/acc": 0.02}
    assert not found.published


def test_a_benchmark_that_is_not_there_is_an_error_with_the_near_ones() -> None:
    with pytest.raises(InputError, match='did you mean "toy"'):
        board(made_up.run("a", benchmark="toyy"))


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("mean F1", ("", "mean F1", "")),
        ("IoU/sky", ("IoU", "sky", "")),
        ("by_kind/multi/acc", ("by_kind", "multi", "acc")),
        ("by_object/cup/saucer/acc", ("by_object", "cup/saucer", "acc")),
    ],
)
def test_the_parts_of_a_flat_name(name: str, split: tuple[str, str, str]) -> None:
    assert parts(name) == split


def test_every_metric_is_a_main_column_or_in_a_detail() -> None:
    more = made_up.run("b")
    more["metrics"]["never heard of/it"] = made_up.metric(1, 3)
    more["metrics"]["by_kind/multi/acc"] = made_up.metric(1, 5)
    found = details(board(made_up.run("a", 7), more))
    assert [detail.title for detail in found] == [
        "other metrics",
        "by_kind: acc",
        "by_object: acc",
        "IoU",
        "never heard of",
    ]
    lines = {line.label: line for detail in found for line in detail.lines}
    assert set(lines) == {"mean F1", "multi", "none", "cup/saucer", "sky", "it"}
    assert [metric and metric.value for metric in lines["it"].values] == [None, 1 / 3]
    assert (lines["sky"].denominator, lines["multi"].denominator) == (12, None)


@pytest.mark.parametrize("name", benchmarks.names())
def test_published_rows_name_what_the_record_declares(name: str) -> None:
    record, rows = benchmarks.record(name), published.read(name)
    last = {metric.rpartition("/")[2] for metric in record.columns}
    assert {metric.rpartition("/")[2] for row in rows for metric in row.metrics} <= last
    keys = [(row.method, row.split, row.setting, *row.metrics) for row in rows]
    assert len(keys) == len(set(keys))
    if "setting" in record.options:
        assert {row.setting for row in rows} <= {*record.options["setting"].choices}
