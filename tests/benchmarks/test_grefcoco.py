"""GREC: the named cases, the metrics against a slow separate implementation, and the traps of the official files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval import tables
from groundeval.benchmarks.grefcoco import RECORD, demo, official, protocol, truth
from groundeval.errors import InputError
from groundeval.metrics.ratios import Metric

Boxes = list[list[float]]
VARIANTS = ("circulated_recipe", "official_code", "greedy_iou", "maximum")
COLUMNS = ("correct_circulated_recipe", "correct_official_code", "correct_greedy_iou", "correct")


def counts(
    predictions: list[Boxes | str], truths: list[Boxes], scores: list[list[float]] | None = None, **options: Any
) -> dict[str, np.ndarray]:
    """counts() of samples whose predictions are boxes or a status."""
    ids = [f"{i:03d}" for i in range(len(truths))]
    expected = [{"sample_id": i, "boxes": t, "scores": None} for i, t in zip(ids, truths, strict=True)]
    answers = [
        {"sample_id": name, "status": p, "boxes": None, "scores": None}
        if isinstance(p, str)
        else {
            "sample_id": name,
            "status": "answered" if p else "none",
            "boxes": p or None,
            "scores": scores[i] if scores and p else None,
        }
        for i, (name, p) in enumerate(zip(ids, predictions, strict=True))
    ]
    true_rows, predicted_rows, known = (
        pa.RecordBatch.from_pylist(rows, schema=schema)
        for rows, schema in (
            (expected, tables.truth_schema("boxes")),
            (answers, tables.predictions_schema("boxes")),
            ([], tables.MANIFEST),
        )
    )
    return protocol.counts(true_rows, predicted_rows, known, options, {})


def measured(counted: dict[str, np.ndarray]) -> dict[str, Metric]:
    kinds = np.array([("none", "single", "multi")[min(n, 2)] for n in counted["true"].tolist()], dtype=object)
    return protocol.metrics({**counted, "kind": kinds}, {}, {})


A: tuple[Boxes, Boxes] = ([[22, 0, 122, 100], [50, 0, 150, 100]], [[0, 0, 100, 100], [40, 0, 140, 100]])
CASES: dict[str, tuple[Boxes, Boxes, tuple[int, ...]]] = {
    "A": (*A, (0, 1, 1, 1)),
    "A reversed": (A[0][::-1], A[1], (1, 1, 1, 1)),
    "B": ([[50, 0, 150, 100], [80, 0, 180, 100]], [[50, 0, 150, 100], [20, 0, 120, 100]], (0, 0, 0, 1)),
    "C": (
        [[30, 0, 130, 100], [60, 0, 160, 100], [90, 0, 190, 100]],
        [[0, 0, 100, 100], [30, 0, 130, 100], [60, 0, 160, 100]],
        (0, 0, 0, 1),
    ),
    "D": ([[18, 18, 118, 118]], [[0, 0, 100, 100]], (1, 0, 1, 1)),
    "E": ([[0, 0, 100, 200]], [[0, 0, 100, 100]], (1, 1, 1, 1)),
    "F": ([], [], (1, 1, 1, 1)),
    "H": ([[0, 0, 100, 100], [0, 0, 100, 100]], [[0, 0, 100, 100]], (0, 0, 0, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_named_cases(name: str) -> None:
    predictions, truths, expected = CASES[name]
    found = counts([predictions], [truths])
    assert tuple(int(found[column][0]) for column in COLUMNS) == expected


def test_named_cases_all_at_once() -> None:
    found = counts([c[0] for c in CASES.values()], [c[1] for c in CASES.values()])
    assert list(zip(*(found[c].tolist() for c in COLUMNS), strict=True)) == [c[2] for c in CASES.values()]
    shares = measured(found)
    assert shares["disagreements"].numerator == 4
    assert shares["disagreements/maximum/official_code"].numerator == 3
    assert shares["disagreements/official_code/circulated_recipe"].numerator == 2


def test_case_g_the_dummy_annotation_is_no_target(tmp_path: Path) -> None:
    dummy = {"id": 5, "image_id": 1, "bbox": [0, 0, 0, 0], "category_id": -1, "iscrowd": -1}
    write(tmp_path, [ref(1, ann_id=[5])], [annotation(1), dummy])
    manifest, true = read(tmp_path)
    assert (manifest["kind"].to_pylist(), true["1:0"]) == (["none"], [])


@pytest.mark.parametrize("status", ["missing", "invalid"])
def test_no_answer_is_wrong_everywhere(status: str) -> None:
    found = counts([status, status, []], [[], [[0, 0, 1, 1]], []])
    assert [found[c].tolist() for c in COLUMNS] == [[0, 0, 1]] * 4
    shares = measured(found)
    assert (shares["set_accuracy"].numerator, shares["set_accuracy"].denominator) == (1, 3)
    assert (shares["N_acc"].numerator, shares["N_acc"].denominator) == (1, 2)
    assert shares["T_acc"].value == shares["mean_F1"].value == 0


def test_a_score_at_the_threshold_stays() -> None:
    box = [0.0, 0.0, 9.0, 9.0]
    for threshold, predicted in ((0.7, [1, 0]), (0.71, [0, 0]), (0, [1, 1])):
        found = counts([[box], [box]], [[box], []], [[0.7], [0.69]], score_threshold=threshold)
        assert found["predicted"].tolist() == predicted
        assert found["answered"].tolist() == [bool(n) for n in predicted]
    assert counts([[box]], [[box]], score_threshold=0.9)["predicted"].tolist() == [1]  # no scores: all stay


def test_the_higher_score_goes_first_among_equal_overlaps() -> None:
    """Both predictions overlap the first truth alike; only the left one can also take the second."""
    truths = [[40.0, 0.0, 140.0, 100.0], [0.0, 0.0, 100.0, 100.0]]
    left, right = [20.0, 0.0, 120.0, 100.0], [60.0, 0.0, 160.0, 100.0]
    for scores, correct in (([0.8, 0.9], 1), ([0.9, 0.8], 0)):
        for order in (slice(None), slice(None, None, -1)):
            found = counts([[left, right][order]], [truths], [scores[order]], score_threshold=0.7)
            assert found["correct_official_code"].tolist() == found["correct_greedy_iou"].tolist() == [correct]


BOX = st.tuples(*[st.sampled_from([0.0, 10.0, 20.0, 30.0])] * 2, *[st.sampled_from([20.0, 30.0, 40.0])] * 2).map(
    lambda b: [b[0], b[1], b[0] + b[2], b[1] + b[3]]
)
SAMPLE = st.tuples(st.lists(BOX, max_size=3), st.lists(BOX, max_size=3))


def overlap(a: list[float], b: list[float], generalised: bool) -> Any:
    """IoU in float64 or GIoU in float32, scalar by scalar."""
    kind: Any = np.float32 if generalised else np.float64
    x, y, r, b_ = (kind(n) for n in a)
    u, v, s, t = (kind(n) for n in b)
    shared = max(min(r, s) - max(x, u), kind(0)) * max(min(b_, t) - max(y, v), kind(0))
    union = (r - x) * (b_ - y) + (s - u) * (t - v) - shared
    around = (max(r, s) - min(x, u)) * (max(b_, t) - min(y, v))
    return shared / union - (around - union) / around if generalised else shared / union


def slow(predictions: Boxes, truths: Boxes, variant: str) -> int:
    """Matched pairs, in plain Python."""
    order = predictions if variant == "circulated_recipe" else sorted(predictions, reverse=True)
    table = [[overlap(p, t, variant == "official_code") for t in truths] for p in order]
    if variant == "maximum":
        return _most(table, frozenset())
    free_rows, free = set(range(len(order))), set(range(len(truths)))
    while free and free_rows:
        rows = [min(free_rows)] if variant == "circulated_recipe" else sorted(free_rows)
        best, row, column = max(((table[p][t], -p, -t) for p in rows for t in free), key=lambda c: c)
        if best >= 0.5:
            free.remove(-column)
        elif variant != "circulated_recipe":
            break
        free_rows.remove(-row)
    return len(truths) - len(free)


def _most(table: list[list[Any]], used: frozenset[int]) -> int:
    if not table:
        return 0
    ways = [1 + _most(table[1:], used | {t}) for t, v in enumerate(table[0]) if v >= 0.5 and t not in used]
    return max([_most(table[1:], used), *ways])


@settings(max_examples=80)
@given(st.lists(SAMPLE, max_size=6))
def test_as_the_slow_way(samples: list[tuple[Boxes, Boxes]]) -> None:
    found = counts([p for p, _ in samples], [t for _, t in samples])
    for column, variant in zip(COLUMNS, VARIANTS, strict=True):
        assert found[column].tolist() == [int(slow(p, t, variant) == len(p) == len(t)) for p, t in samples]
    assert found["matched"].tolist() == [slow(p, t, "maximum") for p, t in samples]
    shares = measured(found)
    f1 = [2 * slow(p, t, "maximum") / (len(p) + len(t)) for p, t in samples if t]
    expected: dict[str, list[Any]] = {
        "set_accuracy": [slow(p, t, "maximum") == len(p) == len(t) for p, t in samples],
        "N_acc": [not p for p, t in samples if not t],
        "T_acc": [bool(p) for p, t in samples if t],
        "mean_F1": f1,
        "by_kind/multi/set_accuracy": [slow(p, t, "maximum") == len(p) == len(t) for p, t in samples if len(t) > 1],
    }
    for name, values in expected.items():
        assert name in shares or not values
        if name in shares:
            assert shares[name].value == (pytest.approx(sum(values) / len(values)) if values else None)


@settings(max_examples=50)
@given(st.lists(SAMPLE, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_order_of_boxes_concerns_the_recipe_alone(samples: list[tuple[Boxes, Boxes]], random: Any) -> None:
    shuffled = [random.sample(p, len(p)) for p, _ in samples]
    truths = [t for _, t in samples]
    one, other = counts([p for p, _ in samples], truths), counts(shuffled, truths)
    for column in (*COLUMNS[1:], "matched", "predicted"):
        assert one[column].tolist() == other[column].tolist()


def test_always_empty_scores_the_share_of_no_target_samples() -> None:
    truths: list[Boxes] = [[], [[0, 0, 1, 1]], [], [], [[0, 0, 1, 1], [2, 2, 3, 3]]]
    counted = counts([[] for _ in truths], truths)
    shares, baseline = measured(counted), protocol.baselines(counted, {}, {})["empty"]
    assert set(baseline) == set(RECORD.columns)
    assert {name: shares[name] for name in baseline} == baseline
    assert shares["set_accuracy"].value == 3 / 5
    assert shares["by_kind/none/T_acc"].value is None
    assert shares["by_kind/none/T_acc"].reason


def annotation(number: int, **other: Any) -> dict[str, Any]:
    return {"id": number, "image_id": 1, "bbox": [10.25, 20, 30.5, 40], "category_id": 1, "iscrowd": 0, **other}


def ref(number: int, **other: Any) -> dict[str, Any]:
    sentences = [{"sent_id": 0, "sent": "the <b>dog</b>"}]
    empty = {"ref_id": number, "image_id": 1, "split": "val", "file_name": "x_1.jpg", "category_id": [1]}
    return {**empty, "ann_id": [1], "no_target": False, "sentences": sentences, **other}


def write(folder: Path, refs: Any, annotations: list[dict[str, Any]]) -> None:
    (folder / official.REFS).write_text(json.dumps(refs), encoding="utf-8")
    content = {"images": [{"id": 1, "height": 100, "width": 200}], "annotations": annotations}
    (folder / official.INSTANCES).write_text(json.dumps(content), encoding="utf-8")


def read(folder: Path, notes: Counter[str] | None = None) -> tuple[pa.Table, dict[str, Boxes]]:
    manifest = truth.manifest(folder, "val", {}, Counter() if notes is None else notes)
    rows = [row for batch in truth.truth(folder, manifest, {}, Counter()) for row in batch.to_pylist()]
    assert [r["sample_id"] for r in rows] == manifest["sample_id"].to_pylist()
    return manifest, {r["sample_id"]: r["boxes"] for r in rows}


def test_official_layout_with_its_traps(tmp_path: Path) -> None:
    said = [{"sent_id": 3, "sent": "a"}, {"sent_id": 12, "sent": "b"}]
    refs = [
        ref(7, ann_id=2, category_id=1),  # bare numbers
        ref(30, ann_id=[-1], category_id=[-1], no_target=True, sentences=said),
        ref(4, ann_id=[2, 1]),
        ref(5, ann_id=-1, no_target=True),
        ref(6, sentences=[]),
        ref(8, split="testA"),
        ref(9, no_target=True),  # contradicts its annotation
    ]
    write(tmp_path, refs, [annotation(2, iscrowd=1, bbox=[0, 0, 5, 5]), annotation(1)])
    (tmp_path / "grefs(unc).p").write_bytes(b"\x80never")
    notes: Counter[str] = Counter()
    manifest, true = read(tmp_path, notes)
    first = [10.25, 20, 40.75, 60]
    assert true == {
        "30:12": [],
        "30:3": [],
        "4:0": [[0, 0, 5, 5], first],
        "5:0": [],
        "7:0": [[0, 0, 5, 5]],
        "9:0": [first],
    }
    assert manifest["kind"].to_pylist() == ["none", "none", "multi", "none", "single", "single"]
    assert manifest.take([2]).to_pylist() == [
        {
            "sample_id": "4:0", "image_id": "1", "height": 100, "width": 200, "kind": "multi", "text": "the <b>dog</b>",
            "tags": [], "truth_sha256": None,
        }
    ]  # fmt: skip
    assert notes == {
        "refs without sentences skipped": 1,
        "refs whose no_target contradicts their annotations, which decide": 1,
    }


@pytest.mark.parametrize(
    ("refs", "annotations", "said"),
    [
        ([ref(1, ann_id=[77])], [annotation(1)], '1 annotation ids are not in instances.json, first "77"'),
        ([ref(1, image_id=9)], [annotation(1)], '1 image ids are not in instances.json, first "9"'),
        ([ref(1), ref(1)], [annotation(1)], "the same ref_id and sent_id stand more than once"),
        ([ref(1, ann_id=[1, -1])], [annotation(1)], "beside real annotations"),
        ([ref(1)], [annotation(1, bbox=[0, 0, -1, 5])], "negative width"),
        ([ref(1)], [annotation(1, bbox=[0, 0, 1])], "not in the official layout"),
        ([ref(1, ann_id=["1"])], [annotation(1)], "not in the official layout"),
        ([{"ref_id": 1}], [annotation(1)], 'an entry has no "image_id"'),
        ({"refs": []}, [annotation(1)], "not in the official layout"),
        ([3], [annotation(1)], "not in the official layout"),
    ],
)
def test_broken_official_files_are_one_line(tmp_path: Path, refs: Any, annotations: Any, said: str) -> None:
    write(tmp_path, refs, annotations)
    with pytest.raises(InputError) as error:
        read(tmp_path)
    assert said in str(error.value)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, [ref(1)], [annotation(1)])
    before, _ = read(tmp_path)
    write(tmp_path, [ref(1), ref(2)], [annotation(1)])
    manifest, _ = read(tmp_path)
    assert (before.num_rows, manifest.num_rows) == (1, 2)
    write(tmp_path, [ref(2)], [annotation(1)])
    with pytest.raises(InputError, match="not the file that the manifest was made from"):
        list(truth.truth(tmp_path, manifest, {}, Counter()))


def test_demo_has_every_trap(tmp_path: Path) -> None:
    demo.write(tmp_path, 7)
    refs = json.loads((tmp_path / official.REFS).read_text())
    coco = json.loads((tmp_path / official.INSTANCES).read_text())["annotations"]
    assert any(isinstance(r["ann_id"], int) for r in refs)
    assert any(r["ann_id"] == [-1] for r in refs)
    assert any(not r["sentences"] for r in refs)
    assert any(r["file_name"].count("_") > 2 for r in refs)
    assert any(a["iscrowd"] for a in coco)
    for split in RECORD.splits:
        manifest = truth.manifest(tmp_path, split, {}, Counter())
        assert 40 <= manifest.num_rows <= 150
        assert set(manifest["kind"].to_pylist()) == {"none", "single", "multi"}
