"""Which samples a gallery shows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval.report import choose

FIGURES = st.lists(
    st.lists(st.one_of(st.floats(0, 1), st.just(np.nan)), min_size=30, max_size=30), min_size=1, max_size=3
)
IDS = [f"{number}" for number in range(30)]


def groups(*figures: list[float]) -> dict[str, list[int]]:
    made = choose.groups(IDS[: len(figures[0])], [np.array(values) for values in figures], "IoU")
    return {group.name: group.rows for group in made}


def test_each_group_is_what_it_says() -> None:
    low_to_high = np.linspace(0, 1, 30)
    other = low_to_high.copy()
    other[[20, 25]] = 0, 0.5
    found = groups(low_to_high.tolist(), other.tolist())
    assert set(found["worst"]) == {0, 1, 2}
    assert found["disagree"] == [20, 25]
    middle = (low_to_high + other) / 2
    nearest = np.argsort(np.abs(middle - np.median(middle)), kind="stable")[:3]
    assert set(found["median"]) == set(nearest.tolist())
    assert len(found["random"]) == 3


def test_ties_are_broken_by_a_digest_and_not_by_the_order_of_ids() -> None:
    assert groups([0.0] * 30)["worst"] != [0, 1, 2]
    assert groups([0.0] * 30) == groups([0.0] * 30)


def test_one_model_disagrees_with_nobody_and_what_is_not_known_is_not_worst() -> None:
    found = groups([np.nan, *[0.5] * 9])
    assert "disagree" not in found
    assert 0 not in found["worst"] + found["median"]
    assert "worst" not in groups([np.nan] * 5)
    assert len(groups([np.nan] * 5)["random"]) == 3


@settings(max_examples=50)
@given(FIGURES)
def test_no_sample_is_shown_twice(figures: list[list[float]]) -> None:
    rows = [row for group in groups(*figures).values() for row in group]
    assert len(rows) == len(set(rows)) > 0


@settings(max_examples=50)
@given(FIGURES)
def test_mean_and_spread_are_those_of_the_models_that_have_a_figure(figures: list[list[float]]) -> None:
    arrays = [np.array(values) for values in figures]
    for row in range(30):
        known = [float(values[row]) for values in arrays if values[row] == values[row]]
        mean, spread = choose.mean(arrays)[row], choose.spread(arrays)[row]
        assert np.isnan(mean) if not known else np.isclose(mean, sum(known) / len(known))
        assert np.isnan(spread) if len(known) < 2 else spread == max(known) - min(known)
