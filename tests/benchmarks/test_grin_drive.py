"""GRiN-Drive: both layouts, the four cases, the numbers by hand and by the definition on whole frames."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco

from groundeval import tables
from groundeval.benchmarks.grin_drive import RECORD, demo, protocol, truth
from groundeval.errors import InputError
from groundeval.metrics import masks
from groundeval.metrics.ratios import Metric
from groundeval.samples import arrays
from groundeval.stages import evaluate, score

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")

H, W = 20, 30
SQUARE = [2, 3, 12, 3, 12, 13, 2, 13]  # 100 pixels
BASE = {"image": "i.png", "height": H, "width": W, "instruction": "Stop there."}


def _rectangle(rows: slice, columns: slice, height: int = H, width: int = W) -> np.ndarray:
    mask = np.zeros((height, width), np.uint8)
    mask[rows, columns] = 1
    return mask


def _write(folder: Path, *records: Any, split: str = "test") -> None:
    lines = [
        json.dumps({**BASE, "sample_id": f"{n}", **r} if isinstance(r, dict) else r) for n, r in enumerate(records)
    ]
    (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n")


def _read(folder: Path, split: str = "test") -> tuple[pa.Table, list[np.ndarray], Counter[str]]:
    notes: Counter[str] = Counter()
    manifest = truth.manifest(folder, split, {}, notes)
    found = pa.Table.from_batches(truth.truth(folder, manifest, {}, notes), tables.truth_schema("mask"))
    assert found.column("sample_id").equals(manifest.column("sample_id"))
    sizes = zip(manifest.column("height").to_pylist(), manifest.column("width").to_pylist(), strict=True)
    pixels = zip(found.column("mask").to_pylist(), sizes, strict=True)
    return manifest, [coco.decode({"size": list(size), "counts": counts}) for counts, size in pixels], notes


def _refused(folder: Path, *records: Any) -> str:
    _write(folder, *records)
    with pytest.raises(InputError) as caught:
        _read(folder)
    assert "test.jsonl" in caught.value.line()
    return caught.value.line()


# The layout of our own.


def test_a_region_may_be_polygons_a_run_length_or_an_image(tmp_path: Path) -> None:
    mask = _rectangle(slice(3, 13), slice(2, 12))
    (tmp_path / "masks").mkdir()
    cv2.imwrite(str(tmp_path / "masks" / "m.png"), mask * 255)
    runs = np.diff(np.flatnonzero(np.diff(mask.ravel("F"), prepend=0, append=0)), prepend=0, append=0)
    runs[-1] = H * W - runs[:-1].sum()
    packed = coco.encode(np.asfortranarray(mask))["counts"].decode()
    regions = [
        {"polygons": [SQUARE]},
        {"polygons": [[[x, y] for x, y in zip(SQUARE[::2], SQUARE[1::2], strict=True)]]},
        {"size": [H, W], "counts": packed},
        {"size": [H, W], "counts": runs.tolist()},
        {"png": "masks/m.png"},
    ]
    scaled = {"polygons": [[v / (H if i % 2 else W) for i, v in enumerate(SQUARE)]]}
    _write(tmp_path, *({"regions": [r], "unit": "px"} for r in regions), {"regions": [scaled], "unit": "norm1"})
    manifest, found, _ = _read(tmp_path)
    assert manifest.column("kind").to_pylist() == ["single"] * 6
    for each in found:
        assert (each == mask).all()


def test_the_truth_is_the_union_and_the_kind_counts_regions_with_a_pixel(tmp_path: Path) -> None:
    left, right, dot = (
        {"polygons": [SQUARE]},
        {"polygons": [[8, 3, 20, 3, 20, 13, 8, 13]]},
        {"polygons": [[1, 1, 2, 2]]},
    )
    blank = {"size": [H, W], "counts": [H * W]}
    _write(
        tmp_path,
        {"regions": []},
        {"regions": [dot, blank], "unit": "px"},
        {"regions": [left, dot], "unit": "px"},
        {"regions": [{"polygons": [*left["polygons"], *right["polygons"]]}], "unit": "px"},
        {"regions": [left, right], "unit": "px"},
        {"regions": [left, left], "unit": "px"},
    )
    manifest, found, notes = _read(tmp_path)
    assert manifest.column("kind").to_pylist() == ["none", "none", "single", "single", "multi", "multi"]
    assert [int(m.sum()) for m in found] == [0, 0, 100, 180, 180, 100]
    assert (found[4] == _rectangle(slice(3, 13), slice(2, 20))).all()  # where they overlap there is no hole
    assert notes["truth: polygons of fewer than 3 distinct points, or of no area, dropped"] == 2
    assert notes["samples in test, where 758 are published"] == 6


def test_the_manifest_is_sorted_and_names_the_photo(tmp_path: Path) -> None:
    _write(tmp_path, *({"regions": [], "sample_id": i, "image": f"{i[0]}.png"} for i in ("b1", "a10", "a9")))
    manifest, _, _ = _read(tmp_path)
    assert manifest.schema == tables.MANIFEST
    assert manifest.column("sample_id").to_pylist() == ["a10", "a9", "b1"]
    assert manifest.column("image_id").to_pylist() == ["a.png", "a.png", "b.png"]
    assert manifest.column("text").to_pylist() == ["Stop there."] * 3


def test_more_samples_than_one_batch(tmp_path: Path) -> None:
    records = [
        {"sample_id": f"{n:04d}", "regions": [{"polygons": [SQUARE]}] * (n % 3), "unit": "px"} for n in range(600)
    ]
    _write(tmp_path, *records)
    manifest, found, _ = _read(tmp_path)
    assert manifest.column("kind").to_pylist() == ["none", "single", "multi"] * 200
    assert [int(m.sum()) for m in found] == [0, 100, 100] * 200


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ([], "is no JSON object"),
        ({"sample_id": 7, "regions": []}, 'sample_id is "7", not a text'),
        ({"image": "", "regions": []}, "image is"),
        ({"height": 0, "regions": []}, 'height is "0", not a number of pixels'),
        ({"width": True, "regions": []}, 'width is "True", not a number of pixels'),
        ({"height": 10**6, "width": 10**6, "regions": []}, "pixels, more than"),
        ({"instruction": 1, "regions": []}, "instruction is"),
        ({}, "regions is missing, not a list"),
        ({"regions": None}, "not a list"),
        ({"regions": [[SQUARE]]}, "region 1 has to be one of"),
        ({"regions": [{"polygons": [SQUARE], "png": "a.png"}]}, "region 1 has to be one of"),
        ({"regions": [{"polygons": [SQUARE]}]}, "unit is missing, not px or norm1"),
        ({"regions": [{"polygons": [SQUARE]}], "unit": "norm1000"}, 'unit is "norm1000", not px or norm1'),
        ({"regions": [{"polygons": [SQUARE, [1, 2, 3]]}], "unit": "px"}, "region 1, polygon 2 has an odd number"),
        ({"regions": [{"polygons": [SQUARE]}], "unit": "norm1"}, "outside the image (unit norm1)"),
        ({"regions": [{"png": "../secret.png"}]}, 'there is no file "../secret.png"'),
        ({"regions": [{"png": ["a.png"]}]}, "there is no file"),
        ({"regions": [{"size": [W, H], "counts": [H * W]}]}, "height and width are swapped"),
        ({"regions": [{"counts": [H * W]}]}, "is of size None"),
        ({"regions": [{"size": [H, W], "counts": [H * W - 1]}]}, "covers 599 pixels"),
        ({"regions": [{"size": [H, W], "counts": [-1, H * W + 1]}]}, "region 1"),
        ({"regions": [{"size": [H, W], "counts": [1.5, 598.5]}]}, "neither COCO's string nor a list of runs"),
        ({"regions": [{"size": [H, W], "counts": []}]}, "neither COCO's string nor a list of runs"),
        ({"regions": [{"size": [H, W], "counts": "?\u00e9"}]}, "region 1"),
    ],
)
def test_a_faulty_record_is_refused_with_line_and_reason(tmp_path: Path, record: Any, said: str) -> None:
    line = _refused(tmp_path, {"regions": []}, record)
    assert said in line
    assert "line 2" in line


def test_doubled_ids_and_images_of_another_size_are_refused(tmp_path: Path) -> None:
    assert "more than once" in _refused(tmp_path, {"regions": [], "sample_id": "a"}, {"regions": [], "sample_id": "a"})
    cv2.imwrite(str(tmp_path / "m.png"), np.zeros((W, H), np.uint8))
    assert "height and width are swapped" in _refused(tmp_path, {"regions": [{"png": "m.png"}]})


def test_a_folder_without_the_split_is_refused(tmp_path: Path) -> None:
    _write(tmp_path, {"regions": []}, split="val")
    with pytest.raises(InputError, match=r"has neither test\.jsonl nor a JSON file"):
        _read(tmp_path)
    manifest = truth.manifest(tmp_path, "val", {}, Counter())
    _write(tmp_path, {"regions": [], "sample_id": "other"}, split="val")
    with pytest.raises(InputError, match="1 samples of the split are gone"):
        list(truth.truth(tmp_path, manifest, {}, Counter()))


# The layout of Talk2Car-RegSeg.


def _write_regseg(folder: Path, indices: Sequence[str], split: str = "val") -> dict[str, np.ndarray]:
    (folder / "val_masks_new").mkdir(exist_ok=True)
    drawn = {i: _rectangle(slice(0, n), slice(0, 9)) for n, i in enumerate(indices)}
    entries = {i: {"img": f"img_{split}_{i}.jpg", "command": f"go to {i}", "centernet": []} for i in indices}
    (folder / "talk2car.json").write_text(json.dumps({"train": {}, split: entries}))
    for i, mask in drawn.items():
        cv2.imwrite(str(folder / "val_masks_new" / f"gt_img_ann_{split}_{i}.png"), mask * 255)
    return drawn


def test_the_layout_of_talk2car_regseg(tmp_path: Path) -> None:
    drawn = _write_regseg(tmp_path, ["0", "2", "10"])
    gray = _rectangle(slice(0, 5), slice(0, 5)) * 7 + _rectangle(slice(2, 9), slice(2, 9)) * 3  # all above 0 is target
    cv2.imwrite(str(tmp_path / "val_masks_new" / "gt_img_ann_val_2.png"), gray)
    manifest, found, _ = _read(tmp_path, "val")
    assert manifest.column("sample_id").to_pylist() == ["val_0", "val_10", "val_2"]
    assert manifest.column("kind").to_pylist() == ["none", "single", "single"]
    assert manifest.column("image_id").to_pylist()[1] == "img_val_10.jpg"
    assert manifest.column("text").to_pylist()[1] == "go to 10"
    data = (tmp_path / "val_masks_new" / "gt_img_ann_val_10.png").read_bytes()
    assert manifest.column("truth_sha256").to_pylist()[1] == hashlib.sha256(data).hexdigest()
    for mask, expected in zip(found, (drawn["0"], drawn["10"], gray > 0), strict=True):
        assert (mask == expected).all()


def test_a_missing_or_doubled_mask_is_refused(tmp_path: Path) -> None:
    _write_regseg(tmp_path, ["0", "1", "2"])
    (tmp_path / "old").mkdir()
    (tmp_path / "val_masks_new" / "gt_img_ann_val_1.png").rename(tmp_path / "old" / "gt_img_ann_val_1.png")
    assert _read(tmp_path, "val")[0].num_rows == 3  # the folder's name does not matter
    (tmp_path / "old" / "gt_img_ann_val_0.png").write_bytes((tmp_path / "old" / "gt_img_ann_val_1.png").read_bytes())
    with pytest.raises(InputError, match='two masks of index 0, "old/'):
        _read(tmp_path, "val")
    for path in (tmp_path / "old").iterdir():
        path.unlink()
    with pytest.raises(InputError, match=r'have no mask, first "gt_img_ann_val_1\.png"'):
        _read(tmp_path, "val")


def test_two_json_files_with_the_split_are_refused(tmp_path: Path) -> None:
    _write_regseg(tmp_path, ["0"])
    (tmp_path / "second.json").write_text('{"val": {"0": {"img": "a.jpg"}}}')
    with pytest.raises(InputError, match="2 JSON files with a split"):
        _read(tmp_path, "val")


# Numbers.


class Made(dict[str, Any]):
    """Truth and prediction masks of some samples, and what comes of them. A prediction is a mask or a status."""

    def __init__(
        self, pairs: Sequence[tuple[np.ndarray, np.ndarray | str]], kinds: Sequence[str] | None = None
    ) -> None:
        given = [(p, None) if isinstance(p, str) else ("answered", masks.encode(p)) for _, p in pairs]
        base = [{"sample_id": f"{n:04d}", "image_id": "i", "tags": {}} for n in range(len(pairs))]
        shapes = [{"height": t.shape[0], "width": t.shape[1]} for t, _ in pairs]
        labels = kinds or ["single" if t.any() else "none" for t, _ in pairs]
        rows = [b | s | {"kind": k} for b, s, k in zip(base, shapes, labels, strict=True)]
        manifest = pa.Table.from_pylist(rows, schema=tables.MANIFEST)
        ids = manifest.column("sample_id")
        expected = pa.table([ids, [masks.encode(t) for t, _ in pairs]], schema=tables.truth_schema("mask"))
        columns = [ids, [s for s, _ in given], [None] * len(pairs), [m for _, m in given]]
        answers = pa.table(columns, schema=tables.predictions_schema("mask"))
        table, _, _ = score.score("grin_drive", manifest, expected.to_batches(), answers.to_batches(), {})
        self.samples = arrays(table)
        super().__init__(protocol.metrics(self.samples, {}, {}))

    def value(self, name: str) -> Any:
        return self[name].value

    def part(self, name: str) -> tuple[Any, Any]:
        metric: Metric = self[name]
        return metric.numerator, metric.denominator


TARGET, NONE = _rectangle(slice(0, 10), slice(0, 10)), _rectangle(slice(0, 0), slice(0, 0))
HALF = _rectangle(slice(0, 5), slice(0, 10))


def test_the_four_cases_and_the_two_faults() -> None:
    # TP with IoU 1/2, TP with IoU 0, TN, FP, FN, and no answer with and without a target.
    away = _rectangle(slice(15, 20), slice(15, 25))
    made = Made(
        [
            (TARGET, HALF),
            (TARGET, away),
            (NONE, "none"),
            (NONE, HALF),
            (TARGET, "none"),
            (NONE, "missing"),
            (TARGET, "invalid"),
        ]
    )
    assert made.value("msIoU") == pytest.approx((0.95 + 0 + 1) / 7, abs=1e-15)
    assert made.value("gIoU") == pytest.approx((0.5 + 0 + 1) / 7, abs=1e-15)
    assert made.part("cIoU") == (50, 100 + 150 + 0 + 50 + 100 + 0 + 100)
    assert made.part("P@0.1") == (1, 4)
    assert made.value("P@0.1") == 25
    assert made.part("P@0.1/over_TP") == (1, 2)
    assert made.part("P@0.1/over_all_TN_hit") == (2, 7)
    assert made.part("Acc.") == (3, 7)
    assert made.value("Acc.") == pytest.approx(300 / 7)
    assert {n: made.part(f"cases/{n}")[0] for n in ("TP", "TN", "FP", "FN", "unanswered")} == {
        "TP": 2, "TN": 1, "FP": 1, "FN": 2, "unanswered": 1,
    }  # fmt: skip
    assert made.value("msIoU_circulated_recipe") == pytest.approx((0.275 + 0 + 1 + 1 + 0 + 1 + 0) / 7, abs=1e-15)


@pytest.mark.parametrize(
    ("iou", "expected"),
    [(0, 0), (1, 0.055), (5, 0.275), (10, 0.55), (17, 0.755), (20, 0.8), (30, 0.88), (50, 0.95), (100, 1)],
)
def test_a_true_positive_has_the_value_of_the_table(iou: int, expected: float) -> None:
    line = np.zeros((2, 100), np.uint8)
    line[0] = 1
    prediction = np.zeros_like(line)
    prediction[0, :iou] = 1
    prediction[1, 0] = iou == 0  # somewhere else
    made = Made([(line, prediction)])
    assert made.value("msIoU") == pytest.approx(expected, abs=1e-12)
    assert made.value("msIoU_circulated_recipe") == pytest.approx(0.55 * iou / 100, abs=1e-12)
    assert made.value("P@0.1") == (100 if iou > 10 else 0)


def test_an_answer_without_a_pixel_claims_nothing() -> None:
    made = Made([(NONE, NONE), (TARGET, NONE)])
    assert made.samples["status"].tolist() == ["none", "none"]
    assert (made.value("msIoU"), made.value("Acc.")) == (0.5, 50)


def test_whole_batches_of_answers() -> None:
    made = Made([(TARGET, HALF)] * 700)
    assert made.value("gIoU") == 0.5
    assert made.part("cIoU") == (50 * 700, 100 * 700)


def test_metrics_by_kind_and_what_does_not_exist() -> None:
    made = Made([(NONE, "none"), (TARGET, HALF), (TARGET, TARGET)], ["none", "single", "multi"])
    assert [made.value(f"by_kind/{k}/msIoU") for k in RECORD.kinds] == [1, 0.95, 1]
    assert {name.rpartition("by_kind/none/")[2] for name in made if "by_kind/none" in name} == {
        name for name in made if "by_kind" not in name
    }
    assert made.value("by_kind/none/P@0.1") is None
    assert made["by_kind/none/P@0.1"].reason == "no sample has a target"
    assert made.value("by_kind/none/cIoU") is None
    assert made.value("by_kind/multi/P@0.1/over_TP") == 100


def test_perfect_predictions() -> None:
    made = Made([(TARGET, TARGET), (NONE, "none"), (HALF, HALF)])
    assert [made.value(n) for n in ("msIoU", "gIoU", "cIoU", "P@0.1", "Acc.")] == [1, 1, 1, 100, 100]
    assert made.value("msIoU_circulated_recipe") == pytest.approx((0.55 + 1 + 0.55) / 3)


def test_baselines_are_what_their_predictions_would_score() -> None:
    targets = [NONE, TARGET, HALF, NONE, NONE, TARGET, HALF]
    whole = np.ones((H, W), np.uint8)
    found = protocol.baselines(Made([(t, HALF) for t in targets]).samples, {}, {})
    none, full = Made([(t, "none") for t in targets]), Made([(t, whole) for t in targets])
    assert found["always_none"] == {n: none[n] for n in RECORD.columns}
    assert found["always_whole_image"] == {n: full[n] for n in RECORD.columns}
    assert found["always_none"]["msIoU"].value == found["always_none"]["gIoU"].value == 3 / 7


pixels = st.lists(st.integers(0, 1), min_size=12, max_size=12).map(lambda v: np.array(v, np.uint8).reshape(3, 4))
answer = st.one_of(pixels, st.sampled_from(["none", "missing", "invalid"]))


@settings(max_examples=50)
@given(st.lists(st.tuples(pixels, answer), min_size=1, max_size=6))
def test_the_numbers_are_those_of_the_definition_on_whole_frames(pairs: list[tuple[np.ndarray, Any]]) -> None:
    siou, iou, hits, right = [], [], 0, 0
    for true, said in pairs:
        predicted = said.astype(bool) if isinstance(said, np.ndarray) else np.zeros_like(true, bool)
        both, either = (true.astype(bool) & predicted).sum(), (true.astype(bool) | predicted).sum()
        if not true.any():
            rejected = said not in ("missing", "invalid") if isinstance(said, str) else not predicted.any()
            siou, iou, right = [*siou, float(rejected)], [*iou, float(rejected)], right + rejected
        else:
            siou.append(np.mean([min(k * both / either, 1) for k in range(1, 11)]))
            iou.append(both / either)
            hits, right = hits + (both / either > 0.1), right + predicted.any()
    made = Made(pairs)
    assert made.value("msIoU") == pytest.approx(np.mean(siou), abs=1e-12)
    assert made.value("gIoU") == pytest.approx(np.mean(iou), abs=1e-12)
    assert made.value("Acc.") == pytest.approx(100 * right / len(pairs))
    assert made.part("P@0.1") == (hits, sum(t.any() for t, _ in pairs))
    assert sum(made.part(f"cases/{n}")[0] for n in ("TP", "TN", "FP", "FN", "unanswered")) == len(pairs)


# The demo.


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo.write(folder / "raw", 3)
    for model in demo.MODELS:
        demo.predict(folder / "raw", folder / model, model, 3)
    return folder


def _evaluate(folder: Path, model: str, **more: Any) -> Mapping[str, Any]:
    said = demo.MODELS[model]
    args = (folder / "raw", demo.SPLIT, folder / model, said["format"], said["options"], None, model)
    return evaluate.run("grin_drive", *args, **more)


def test_the_demo_is_the_same_for_the_same_seed_and_a_third_has_no_target(demo_folder: Path, tmp_path: Path) -> None:
    demo.write(tmp_path, 3)
    first, again = (f.rglob("*") for f in (demo_folder / "raw", tmp_path))
    assert [p.read_bytes() for p in sorted(first) if p.is_file()] == [
        p.read_bytes() for p in sorted(again) if p.is_file()
    ]
    kinds = Counter(truth.manifest(tmp_path, demo.SPLIT, {}, Counter()).column("kind").to_pylist())
    assert sum(kinds.values()) == demo.SAMPLES
    assert kinds["none"] == demo.SAMPLES / 3
    assert min(kinds["single"], kinds["multi"]) > 20


def test_the_demo_models_and_the_baseline(demo_folder: Path) -> None:
    almost, noisy, nothing = (_evaluate(demo_folder, m) for m in ("almost", "noisy", "nothing"))
    assert almost["metrics"]["msIoU"]["value"] > noisy["metrics"]["msIoU"]["value"] > 0.5
    assert nothing["metrics"]["msIoU"]["value"] == almost["baselines"]["always_none"]["msIoU"]["value"]
    assert nothing["metrics"]["gIoU"]["value"] == pytest.approx(1 / 3, abs=1e-12)
    assert almost["notes"]["records with exists true and an empty mask, taken as no target"] == 1
    assert almost["notes"]["truth: polygons that cross themselves, filled by the even-odd rule"] == 1


def test_a_missing_answer_stops_the_run_or_counts_as_wrong(demo_folder: Path, tmp_path: Path) -> None:
    lines = (demo_folder / "almost" / "predictions.jsonl").read_text().splitlines(keepends=True)
    short = tmp_path / "short.jsonl"
    short.write_text("".join(lines[3:]))
    args = ("grin_drive", demo_folder / "raw", demo.SPLIT, short, "polygons_jsonl", {"unit": "px"}, None, "short")
    with pytest.raises(InputError, match="3 of 90 samples have no answer"):
        evaluate.run(*args)
    found = evaluate.run(*args, allow_incomplete=True)
    whole = _evaluate(demo_folder, "almost")["metrics"]["msIoU"]
    assert found["status"] == "incomplete"
    assert found["metrics"]["msIoU"]["denominator"] == 90
    assert found["metrics"]["msIoU"]["value"] < whole["value"]
