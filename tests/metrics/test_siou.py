"""sIoU: the values that follow from its definition, and a slow implementation in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundeval.metrics import siou

# IoU of a true positive in hundredths -> mean sIoU for K = 0.1, n = 10, by hand from min(k * IoU, 1).
TABLE = {0: 0, 1: 0.055, 5: 0.275, 10: 0.55, 17: 0.755, 20: 0.8, 30: 0.88, 50: 0.95, 100: 1}


def _int(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def _bool(*values: bool) -> np.ndarray:
    return np.array(values, dtype=bool)


@pytest.mark.parametrize("scale", [1, 7, 14400])
def test_true_positives_have_the_values_of_the_definition(scale: int) -> None:
    hundredths = _int(*TABLE) * scale
    unions = np.full(len(TABLE), 100 * scale, dtype=np.int64)
    hits = np.ones(len(TABLE), dtype=bool)
    found = siou.mean_siou(hundredths, unions, hits, ~hits, 10)
    assert np.abs(found - list(TABLE.values())).max() < 1e-12


@given(st.lists(st.tuples(st.integers(0, 2_000_000), st.integers(0, 2_000_000)), min_size=1), st.integers(1, 20))
def test_it_is_the_correctly_rounded_mean_over_k(pairs: list[tuple[int, int]], steps: int) -> None:
    intersection = _int(*(min(p) for p in pairs))
    union = _int(*(max(p) + 1 for p in pairs))
    hits = np.ones(len(pairs), dtype=bool)
    found = siou.mean_siou(intersection, union, hits, ~hits, steps)
    for i, u, value in zip(intersection.tolist(), union.tolist(), found.tolist(), strict=True):
        terms = [min(k * Fraction(i, u), Fraction(1)) for k in range(1, steps + 1)]
        assert value == float(sum(terms) / steps)


def test_only_true_positives_have_a_share_and_only_rejections_are_1() -> None:
    # TP with IoU 1/2, TN, FP, FN; both empty is never divided.
    found = siou.mean_siou(_int(1, 0, 0, 0), _int(2, 0, 9, 9), _bool(1, 0, 0, 0), _bool(0, 1, 0, 0), 10)
    assert found.tolist() == [0.95, 1.0, 0.0, 0.0]


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_the_circulated_recipe_never_exceeds_055_for_a_target(intersection: int, more: int) -> None:
    union = intersection + more
    steps = [min(k / 10 * (intersection / union), 1) for k in range(1, 11)]  # the recipe itself, in floats
    found = siou.circulated_recipe(_int(intersection), _int(union), _bool(True))[0]
    assert found == pytest.approx(sum(steps) / 10, abs=1e-12)
    assert found <= 0.55


def test_the_circulated_recipe_takes_a_false_alarm_for_a_rejection() -> None:
    found = siou.circulated_recipe(_int(9, 0, 0, 0), _int(9, 0, 9, 9), _bool(1, 0, 0, 1))
    assert found.tolist() == [0.55, 1.0, 1.0, 0.0]  # a perfect mask, TN, FP, FN


def test_the_threshold_is_strict_and_exact() -> None:
    big = 10**9
    found = siou.iou_exceeds(_int(1, 2, big, big + 1, 0), _int(10, 19, 10 * big, 10 * big, 0), 1)
    assert found.tolist() == [False, True, False, True, False]
