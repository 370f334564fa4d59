"""MaxF and average precision: closed forms, and a slow implementation that looks at every pixel at every threshold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from groundeval.metrics import maxf

CLASSES = hnp.arrays(np.uint8, (4, 9), elements=st.sampled_from([0, 1, 255]))
CONFIDENCES = hnp.arrays(np.uint8, (4, 9), elements=st.sampled_from([0, 1, 2, 100, 254, 255]))


def curve(classes: NDArray[np.uint8], confidence: NDArray[np.uint8], lost: tuple[int, int] = (0, 0)) -> maxf.Curve:
    other, road = maxf.histograms(classes, confidence)
    return maxf.curve(road, other, lost)


def values(of: maxf.Curve) -> dict[str, float | None]:
    return {name: metric.value for name, metric in maxf.metrics(of).items()}


def slow(classes: NDArray[np.uint8], confidence: NDArray[np.uint8], lost: tuple[int, int]) -> dict[str, Fraction]:
    """Fractions all the way; each threshold looks at all pixels anew. There has to be a road pixel."""
    pixels = [(c, v) for c, v in zip(classes.ravel().tolist(), confidence.ravel().tolist(), strict=True) if c < 2]
    rows = []
    for k in range(256):
        tp = sum(c == 1 and v >= k for c, v in pixels)
        fp = sum(c == 0 and v >= k for c, v in pixels) + lost[1]
        fn = sum(c == 1 and v < k for c, v in pixels) + lost[0]
        tn = sum(c == 0 and v < k for c, v in pixels)
        rows.append((Fraction(2 * tp, 2 * tp + fp + fn), tp, fp, fn, tn, k))
    best, tp, fp, fn, tn, k = max(rows, key=lambda r: (r[0], -r[5]))
    tops = [
        max(
            (Fraction(r[1], r[1] + r[2]) for r in rows if r[1] * 10 >= t * (tp + fn) and r[1] + r[2]),
            default=Fraction(0),
        )
        for t in range(11)
    ]
    found = {
        "MaxF": best,
        "AP": sum(tops, Fraction(0)) / 11,
        "REC": Fraction(tp, tp + fn),
        "FNR": Fraction(fn, tp + fn),
    }
    found |= {"PRE": Fraction(tp, tp + fp)} if tp + fp else {}
    found |= {"FPR": Fraction(fp, fp + tn)} if fp + tn else {}
    return {n: 100 * v for n, v in found.items()} | {"threshold": Fraction(k, 255)}


@settings(max_examples=60, deadline=None)
@given(CLASSES, CONFIDENCES, st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_equals_the_slow_way(classes: NDArray[np.uint8], confidence: NDArray[np.uint8], lost: tuple[int, int]) -> None:
    got = values(curve(classes, confidence, lost))
    if not (classes == 1).any() and lost[0] == 0:
        assert set(got.values()) == {None}
        return
    expected = slow(classes, confidence, lost)
    assert {n for n, v in got.items() if v is not None} == set(expected)
    for name, value in expected.items():
        assert got[name] == pytest.approx(float(value), abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(CLASSES, CONFIDENCES)
def test_histograms_count_every_pixel_of_the_two_classes(
    classes: NDArray[np.uint8], confidence: NDArray[np.uint8]
) -> None:
    got = maxf.histograms(classes, confidence)
    for row in (0, 1):
        assert got[row].tolist() == np.bincount(confidence[classes == row], minlength=256).tolist()


def test_histograms_add_up_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    classes = rng.choice(np.array([0, 1, 255], np.uint8), (30, 41))
    confidence = rng.integers(0, 256, (30, 41), dtype=np.uint8)
    whole = maxf.histograms(classes, confidence)
    monkeypatch.setattr(maxf, "_CHUNK", 100)
    assert (maxf.histograms(classes, confidence) == whole).all()


def test_the_truth_itself_is_perfect_and_the_lowest_best_threshold_is_kept() -> None:
    classes = np.array([[0, 1, 255, 1]], np.uint8)
    got = values(curve(classes, np.array([[0, 255, 0, 255]], np.uint8)))
    assert got == {"MaxF": 100, "AP": 100, "PRE": 100, "REC": 100, "FPR": 0, "FNR": 0, "threshold": 1 / 255}


@pytest.mark.parametrize("level", [0, 7, 255])
def test_one_confidence_everywhere_is_the_all_positive_predictor(level: int) -> None:
    classes = np.array([[1, 1, 0, 0, 0, 0, 0, 0]], np.uint8)  # P 2, N 6: F = 4 / (4 + 6)
    of = curve(classes, np.full(classes.shape, level, np.uint8))
    got = maxf.metrics(of)
    assert [got[n].value for n in maxf.NAMES] == pytest.approx([40, 25, 25, 100, 100, 0])
    assert of.best == 0
    assert "all-positive" in (got["threshold"].reason or "")


def test_a_binary_map_has_one_point_of_precision_at_each_recall_it_reaches() -> None:
    classes = np.array([[1] * 10 + [0] * 10], np.uint8)
    confidence = np.array([[255] * 3 + [0] * 7 + [255] + [0] * 9], np.uint8)  # recall .3, precision .75
    assert values(curve(classes, confidence))["AP"] == pytest.approx(100 * (4 * 0.75 + 7 * 0.5) / 11)


@settings(max_examples=40, deadline=None)
@given(CLASSES, CONFIDENCES, CLASSES, CONFIDENCES)
def test_no_answer_is_never_better_than_any_answer(
    classes: NDArray[np.uint8], confidence: NDArray[np.uint8], others: NDArray[np.uint8], other_map: NDArray[np.uint8]
) -> None:
    """At every threshold a lost image adds the most errors that its truth allows."""
    both = curve(np.vstack([classes, others]), np.vstack([confidence, other_map]))
    lost = curve(classes, confidence, (int((others == 1).sum()), int((others == 0).sum())))
    assert (lost.positives, lost.negatives) == (both.positives, both.negatives)
    assert (lost.tp <= both.tp).all()
    assert (lost.fp >= both.fp).all()


def test_nothing_but_lost_images_scores_zero() -> None:
    nothing = np.zeros(256, np.int64)
    got = values(maxf.curve(nothing, nothing, (3, 5)))
    assert got == {"MaxF": 0, "AP": 0, "PRE": 0, "REC": 0, "FPR": 100, "FNR": 100, "threshold": 0}


def test_what_does_not_exist_says_why() -> None:
    nothing = np.zeros(256, np.int64)
    assert {m.reason for m in maxf.metrics(maxf.curve(nothing, nothing)).values()} == {"no road pixel in the truth"}
    assert maxf.metrics(maxf.curve(nothing, nothing, (3, 0)))["FPR"].value is None
    assert maxf.metrics(maxf.curve(nothing, nothing, (3, 0)))["PRE"].value is None
