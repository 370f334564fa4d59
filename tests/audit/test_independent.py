"""The second scorer: right where it can be checked otherwise, and not deceived by an error of the first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pycocotools.mask as coco
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from groundeval.metrics import masks, matching
from groundeval.verify import independent
from groundeval.verify.independent import boxes, maps
from groundeval.verify.independent import masks as plain
from tests.audit.project import made_alone, score_again, verified
from tests.workflow.project import Project

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(st.data(), SHAPES)
def test_run_lengths_are_read_as_pycocotools_writes_them(data: st.DataObject, shape: tuple[int, int]) -> None:
    a, b = (data.draw(arrays(np.uint8, shape, elements=st.integers(0, 1))) for _ in range(2))
    spans = [plain.spans(coco.encode(np.asfortranarray(m))["counts"]) for m in (a, b)]
    assert [plain.area(s) for s in spans] == [a.sum(), b.sum()]
    assert plain.shared(*spans) == (a & b).sum()


def test_long_runs() -> None:
    mask = np.zeros((1200, 1600), np.uint8, order="F")
    mask[300:, 7:1500] = 1
    assert plain.area(plain.spans(coco.encode(mask)["counts"])) == mask.sum()


@settings(max_examples=60)
@given(arrays(np.bool_, st.tuples(st.integers(1, 6), st.integers(1, 6))))
def test_the_matching_is_a_maximum(fits: np.ndarray) -> None:
    rows, columns = linear_sum_assignment(fits, maximize=True)
    assert boxes.most_pairs(fits.tolist()) == fits[rows, columns].sum()


def test_exact_overlap() -> None:
    assert boxes.iou((0, 0, 2, 1), (1, 0, 3, 1)) == boxes.Fraction(1, 3)
    assert boxes.iou((1, 1, 1, 1), (1, 1, 1, 1)) == 0


def test_the_largest_score_is_the_class_the_first_where_several_are() -> None:
    scores = np.zeros((3, maps.HEIGHT, maps.WIDTH), np.float32)
    scores[1:, 10] = 1
    truth = np.ones((2 * maps.HEIGHT, 2 * maps.WIDTH), np.uint8)
    counted = np.reshape(maps.confusion(truth, scores, 3, 3, None), (3, 4))
    assert counted.tolist() == [[0] * 4, [maps.WIDTH * (maps.HEIGHT - 1), maps.WIDTH, 0, 0], [0] * 4]


@pytest.mark.parametrize("model", ["almost", "noisy"])
@pytest.mark.parametrize("benchmark", sorted(independent.SCORERS))
def test_both_scorers_agree(tmp_path: Path, benchmark: str, model: str) -> None:
    project = made_alone(tmp_path, benchmark, model)
    found = verified(project, 5, independent=2)
    assert "independent scorer           PASS" in found
    assert found.splitlines()[-1].startswith("PASS"), found


@pytest.mark.parametrize(
    ("module", "name", "run", "reason"),
    [
        (masks, "areas", "instructpart/test/almost", "truth_area of "),
        (matching, "maximum", "grefcoco/val/almost", "matched of "),
    ],
)
def test_an_error_of_the_scorer_is_seen(
    project: Project, monkeypatch: pytest.MonkeyPatch, module: object, name: str, run: str, reason: str
) -> None:
    """With the error in place everything agrees with itself; only a second scorer tells."""
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: right(*given) + 1)
    score_again(project, run)
    assert "metrics from counts PASS" in (text := verified(project, 3, run, independent=5, seed=1))
    assert "counts from tables  FAIL" not in text
    assert "independent scorer           FAIL" in text
    assert reason in text
    assert "the second scorer counts" in text


def test_the_seed_chooses_the_samples(audited: Project) -> None:
    texts = [verified(audited, 0, "instructpart", independent=2, seed=seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1]
    assert "2 of 57 samples counted again, seed 2" in texts[2]
