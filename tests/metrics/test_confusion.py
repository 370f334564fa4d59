"""Confusion matrices against scikit-learn and against a slow loop, and what is read off them."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from groundeval.metrics import confusion as c

NAMES = ("zero", "one", "two")
SEEDS = st.integers(0, 2**32 - 1)


def maps(seed: int, high: int = 3, dtype: str = "uint8") -> tuple[NDArray[np.uint8], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    size = tuple(rng.integers(1, 9, 2))
    return rng.integers(0, 3, size).astype(np.uint8), rng.integers(0, high, size).astype(dtype)


def loop(truth: NDArray[Any], prediction: NDArray[Any], rows: int, classes: int, ignore: int | None) -> list[list[int]]:
    out = [[0] * (classes + 1) for _ in range(rows)]
    for t, p in zip(truth.ravel().tolist(), prediction.ravel().tolist(), strict=True):
        if t != ignore:
            out[t][min(p, classes)] += 1
    return out


@settings(deadline=None)
@given(SEEDS)
def test_counts_are_scikit_learns(seed: int) -> None:
    truth, prediction = maps(seed)
    expected = confusion_matrix(truth.ravel(), prediction.ravel(), labels=[0, 1, 2])
    matrix = c.confusion(truth, prediction, 3, 3)
    assert matrix.dtype == np.int64
    np.testing.assert_array_equal(matrix, np.c_[expected, [0, 0, 0]])


@settings(deadline=None)
@given(SEEDS, st.sampled_from(["uint8", "uint16"]), st.sampled_from([None, 2, 255]), st.sampled_from([3, 34, 80]))
def test_outside_values_and_ignore_are_a_loops(seed: int, dtype: str, ignore: int | None, rows: int) -> None:
    truth, prediction = maps(seed, 256 if dtype == "uint8" else 65536, dtype)
    if ignore == 255:
        truth = np.where(truth == 1, np.uint8(255), truth)
    found = c.confusion(truth, prediction, rows, 4, ignore)
    assert found.tolist() == loop(truth, prediction, rows, 4, ignore)


@settings(deadline=None)
@given(SEEDS, st.integers(3, 300))
def test_f_is_two_iou_over_one_plus_iou_exactly(seed: int, high: int) -> None:
    truth, prediction = maps(seed, high, "uint16")
    metrics = c.per_class(c.confusion(truth, prediction, 3, 3), NAMES)
    for name in NAMES:
        iou, f = metrics[f"IoU/{name}"], metrics[f"Fsc/{name}"]
        assert (iou.value is None) == (f.value is None)
        if iou.value is not None:
            exact = Fraction(int(iou.numerator or 0), int(iou.denominator or 1))
            assert Fraction(int(f.numerator or 0), int(f.denominator or 1)) == 2 * exact / (1 + exact)


@settings(deadline=None)
@given(SEEDS)
def test_class_scores_are_scikit_learns(seed: int) -> None:
    truth, prediction = maps(seed)
    metrics = c.per_class(c.confusion(truth, prediction, 3, 3), NAMES)
    with warnings.catch_warnings(action="ignore"):
        expected = precision_recall_fscore_support(truth.ravel(), prediction.ravel(), labels=[0, 1, 2])
    for i, name in enumerate(NAMES):
        found = [metrics[f"{m}/{name}"].value for m in ("precision", "recall", "Fsc")]
        peer = [column[i] for column in expected[:3]]
        assert all(a is None or abs(a - b) < 1e-12 for a, b in zip(found, peer, strict=True))


def test_absent_and_unpredicted_classes() -> None:
    matrix = np.array([[5, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])  # one: predicted only; two: nowhere
    metrics = c.per_class(matrix, NAMES)
    assert metrics["IoU/one"].value == 0
    assert metrics["recall/one"].reason == c.NO_TRUTH
    assert (metrics["IoU/two"].value, metrics["IoU/two"].reason) == (None, c.ABSENT)
    assert c.present(matrix, NAMES) == ["zero"]
    over_present = c.class_mean(metrics, "IoU", ["zero"])
    assert (over_present.value, over_present.denominator) == (5 / 6, 1)
    assert c.class_mean(metrics, "IoU", []).value is None
    assert c.class_mean(metrics, "IoU", NAMES).reason == c.ABSENT


def test_pixels_without_an_answer_are_wrong() -> None:
    truth = np.array([[0, 0, 0, 0, 2, 2]], np.uint8)
    matrix = c.confusion(truth, np.full_like(truth, 255), 3, 3)
    metrics = c.per_class(matrix, NAMES)
    assert metrics["recall/zero"].value == metrics["IoU/two"].value == 0
    assert metrics["precision/zero"].reason == c.NEVER_PREDICTED
    assert matrix.sum(axis=1).tolist() == [4, 0, 2]


@settings(deadline=None)
@given(SEEDS)
def test_merging_rows_is_merging_pixels(seed: int) -> None:
    truth, prediction = maps(seed)
    table = (1, 0, 1)
    merged = c.confusion(np.array(table, np.uint8)[truth], prediction, 2, 3)
    np.testing.assert_array_equal(c.merge_rows(c.confusion(truth, prediction, 3, 3), table, 2), merged)


@settings(deadline=None)
@given(SEEDS, st.sampled_from(["uint8", "uint16", "float16", "float32"]))
def test_class_map_is_the_first_highest_score(seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0 if dtype.startswith("u") or seed % 2 else -2, 4, (5, 3, 4)).astype(dtype)
    scores[rng.random(scores.shape) < 0.1] *= (
        -1 if dtype.startswith("f") else 1
    )  # a zero with a sign is no less than one without
    np.testing.assert_array_equal(c.class_map(scores), np.argmax(scores, axis=0))


def test_what_is_no_class_map_is_refused() -> None:
    truth = np.array([[0, 7, 9]], np.uint8)
    with pytest.raises(ValueError, match="2 truth pixels are no class, lowest value 7"):
        c.confusion(truth, truth, 3, 3)
    with pytest.raises(ValueError, match="one shape and be uint8"):
        c.confusion(truth, truth.T, 10, 10)
    with pytest.raises(ValueError, match="one shape and be uint8"):
        c.confusion(truth, truth.astype(np.int32), 10, 10)
