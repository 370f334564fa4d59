"""Groups of ties: in closed form, between equal models, and on a leaderboard with and without counts."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from groundeval.metrics import paired
from groundeval.metrics.significance import Difference
from groundeval.metrics.terms import ratios
from groundeval.report import evidence, ties
from groundeval.report.assemble import boards
from groundeval.report.board import Board
from groundeval.report.collect import load
from report import made_up
from tests.benchmarks.case import Case

MODELS = ("almost", "noisy", "nothing")
SIMULATIONS = 600


def tied(*pairs: tuple[int, int]) -> list[paired.Pair]:
    return [paired.Pair(a, b, Difference(0.0, None, 1.0), None, 1.0, 1.0) for a, b in pairs]


@pytest.mark.parametrize(
    ("pairs", "groups"),
    [
        ([], [[0], [1], [2], [3]]),
        ([(0, 1)], [[0, 1], [2], [3]]),
        ([(0, 1), (1, 2)], [[0, 1], [2], [3]]),  # the third is tied with the second alone: told from the group's best
        ([(0, 2)], [[0, 1, 2], [3]]),  # the second stands between two that are tied
        (list(combinations(range(4), 2)), [[0, 1, 2, 3]]),
        ([(2, 3)], [[0], [1], [2, 3]]),
    ],
)
def test_a_group_reaches_down_to_the_last_run_that_is_not_told_from_its_best(
    pairs: list[tuple[int, int]], groups: list[list[int]]
) -> None:
    assert paired.groups(range(4), tied(*pairs)) == groups
    assert paired.groups([], []) == []


@pytest.mark.parametrize("models", [2, 3])
def test_equal_models_are_one_group(models: int) -> None:
    """In 93 % of simulations at least: models that are right equally often, on hard and easy images alike."""
    rng, one_group = np.random.default_rng(5), 0
    sentences = rng.integers(1, 6, 60)
    for _ in range(SIMULATIONS if models == 2 else SIMULATIONS // 2):
        image = rng.beta(1.4, 0.6, 60)
        right = rng.binomial(sentences, (image + rng.beta(1.4, 0.6, (models, 60))) / 2).astype(float)
        shares = (right.sum(axis=1) / sentences.sum()).tolist()
        terms = [ratios({"x": (row, sentences.astype(float))}) for row in right]
        found = [pair for pair in paired.pairs("x", terms, np.arange(60), shares) if pair.tie]
        order = sorted(range(models), key=lambda i: -shares[i])
        one_group += len(paired.groups(order, found)) == 1
    assert one_group / (SIMULATIONS if models == 2 else SIMULATIONS // 2) >= 0.93


def test_a_worse_model_is_in_a_group_of_its_own() -> None:
    rng, each = np.random.default_rng(6), np.ones(400)
    rows = [(rng.random(400) < p).astype(float) for p in (0.8, 0.8, 0.6)]
    shares = [float(row.mean()) for row in rows]
    found = paired.pairs("x", [ratios({"x": (row, each)}) for row in rows], np.arange(400), shares)
    order = sorted(range(3), key=lambda i: -shares[i])
    assert [sorted(group) for group in paired.groups(order, [p for p in found if p.tie])] == [[0, 1], [2]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """metrics.json of four runs with their counts: the demo models, and the first a second time with another format."""
    case = Case("grefcoco", tmp_path_factory.mktemp("grefcoco"))
    folders = [case.folder / "results" / model for model in (*MODELS, "twin")]
    for model, out in zip((*MODELS, "almost"), folders, strict=True):
        case.evaluate(model, out)
    return [folder / "metrics.json" for folder in folders]


def board(files: list[Path], with_evidence: int) -> Board:
    runs = load(files)
    found = [evidence.load(file, run) for file, run in zip(files, runs, strict=True)][:with_evidence]
    (made,) = boards(runs, [one for one in found if one is not None])
    return made


def test_ranks_and_groups_of_a_board(files: list[Path]) -> None:
    found = board(files[:3], 3)
    assert [(row.name, row.rank) for row in found.runs] == [("almost", "1"), ("noisy", "2"), ("nothing", "3")]
    assert found.ties == []
    assert "set_accuracy cannot be told apart" in found.ties_note
    assert "3 pairs" in found.ties_note
    assert {row.rank for row in (*found.baselines, *found.published)} <= {""}


def test_without_counts_ranks_are_the_bare_order_and_say_so(files: list[Path]) -> None:
    found = board(files[:3], 2)
    assert [row.rank for row in found.runs] == ["1", "2", "3"]
    assert found.ties_note == ties.BY_ORDER.format(why=ties.NO_COUNTS)


def test_equal_runs_share_a_rank(tmp_path: Path, files: list[Path]) -> None:
    """The same answers under another name."""
    copies = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        content = (files[0].parent / "metrics.json").read_text(encoding="utf-8")
        (folder / "metrics.json").write_text(
            content.replace('"model": "almost"', f'"model": "{name}"'), encoding="utf-8"
        )
        made_up.copy_tables(files[0].parent, folder, model=name)
        copies.append(folder / "metrics.json")
    found = board([*copies, files[1]], 3)
    assert [(row.name, row.rank) for row in found.runs] == [("a", "1-2"), ("b", "1-2"), ("noisy", "3")]
    assert [[row.name for row in group] for group in found.ties] == [["a", "b"]]


def test_a_run_without_a_headline_has_no_rank() -> None:
    (found,) = boards([*map(made_up.parsed, [made_up.run("a"), made_up.run("void", metrics={})])])
    assert [(row.name, row.rank) for row in found.runs] == [("a", "1"), ("void", "")]
    assert found.ties_note == ""
