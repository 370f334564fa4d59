"""GMRP: the real frames, parity with scikit-learn, two sizes, missing answers, splits, and labels that are none."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from sklearn.metrics import average_precision_score, confusion_matrix

from groundeval import tables
from groundeval.benchmarks import _splits
from groundeval.benchmarks.gmrp import RECORD, TASK, demo, protocol, truth
from groundeval.errors import InputError
from groundeval.formats import class_png, scores_npz
from groundeval.metrics import resize
from groundeval.metrics.ratios import Metric
from groundeval.options import resolve
from groundeval.sources.folder import Source

CLASSES = TASK.classes


class Run:
    """All counts and numbers of a folder of predictions."""

    def __init__(self, raw: Path, predictions: Path, split: str = "test", **said: Any) -> None:
        form = scores_npz if "dtype" in said else class_png
        self.options = resolve({**RECORD.options, **form.FORMAT.options}, said, "test")
        self.totals: dict[str, NDArray[Any]] = {}
        self.notes = Counter[str]()
        manifest = truth.manifest(raw, split, self.options, self.notes)
        streams = (
            truth.truth(raw, manifest, self.options, self.notes),
            form.read(Source(predictions), manifest, self.options, self.notes),
            manifest.to_batches(),
        )
        parts = [protocol.counts(*batch, self.options, self.totals) for batch in tables.align(*streams)]
        self.samples = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
        self.metrics = protocol.metrics(self.samples, self.totals, self.options)

    def value(self, name: str) -> float | None:
        return self.metrics[name].value


@pytest.fixture
def two(real: Path, tmp_path: Path) -> Path:
    """The real frames, both listed as the test split, and an empty folder for predictions."""
    raw = tmp_path / "raw"
    shutil.copytree(real / "gmrp", raw)
    (raw / "splits").mkdir()
    (raw / "splits" / "test.txt").write_text("sample1\nsample2\n")
    (tmp_path / "predictions").mkdir()
    return raw


def labels(raw: Path) -> dict[str, NDArray[np.uint8]]:
    return {p.stem: np.asarray(Image.open(p)) for p in sorted((raw / "label").glob("*.png"))}


def fraction(metric: Metric) -> Fraction:
    return Fraction(int(metric.numerator or 0), int(metric.denominator or 1))


def assert_f_and_iou_agree(metrics: Mapping[str, Metric]) -> None:
    for prefix in ("", "native/"):
        for name in CLASSES:
            iou, f = metrics[f"{prefix}IoU/{name}"], metrics[f"{prefix}Fsc/{name}"]
            if iou.value is not None:
                assert fraction(f) == 2 * fraction(iou) / (1 + fraction(iou))


def test_real_truth_as_prediction_scores_one_everywhere(two: Path) -> None:
    run = Run(two, two / "label")
    values = {n: m.value for n, m in run.metrics.items() if "AP" not in n and n != "outside"}
    assert set(values.values()) == {1.0}
    assert run.metrics["mIoU"].denominator == 3
    assert run.value("outside") == 0


def test_real_truth_as_scores_scores_one_everywhere(two: Path) -> None:
    for stem, label in labels(two).items():
        np.savez(
            two.parent / "predictions" / f"{stem}.npz", scores=(label == np.arange(3)[:, None, None]) * np.uint8(200)
        )
    run = Run(two, two.parent / "predictions", dtype="uint8")
    assert {m.value for n, m in run.metrics.items() if n != "outside"} == {1.0}


@pytest.mark.parametrize("size", [(720, 1280), (320, 480)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "float32"])
def test_real_frames_equal_scikit_learn(two: Path, dtype: str, size: tuple[int, int]) -> None:
    """Counts exactly, average precision to 1e-12, on smoothed and noisy scores of the real labels."""
    rng, stored, expected = np.random.default_rng(1), [], []
    for stem, label in labels(two).items():
        at_size = resize.nearest(label, size)
        hard = (at_size == np.arange(3)[:, None, None]).astype(np.float32)
        soft = np.stack([cv2.GaussianBlur(m, (41, 41), 9) for m in hard]) + rng.normal(0, 0.1, hard.shape)
        top = {"uint8": 255, "uint16": 65535}.get(dtype, 1)
        scores = (np.clip(soft, 0, 1) * top).astype(dtype)
        np.savez(two.parent / "predictions" / f"{stem}.npz", scores=scores)
        stored.append(resize.nearest(scores, TASK.size).reshape(3, -1))
        expected.append(resize.nearest(label, TASK.size).ravel())
    run = Run(two, two.parent / "predictions", dtype=dtype)
    pixels, scores = np.concatenate(expected), np.concatenate(stored, axis=1)
    counted = run.samples["confusion"].sum(axis=0).reshape(3, 4)
    np.testing.assert_array_equal(counted[:, :3], confusion_matrix(pixels, scores.argmax(axis=0), labels=[0, 1, 2]))
    for c, name in enumerate(CLASSES):
        peer = average_precision_score(pixels == c, scores[c].astype(np.float64))
        assert run.value(f"AP/{name}") == pytest.approx(peer, abs=1e-12)
    assert (run.value("native/mAP") is None) == (size == TASK.size)
    assert_f_and_iou_agree(run.metrics)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo data and its models. Tests copy what they change."""
    root = tmp_path_factory.mktemp("gmrp")
    demo.write(root / "raw", 0)
    for model in demo.MODELS:
        demo.predict(root / "raw", root / model, model, 0)
    return root


def test_headline_and_native_size_against_a_loop(made: Path) -> None:
    run = Run(made / "raw", made / "noisy")
    expected = {size: np.zeros((3, 4), np.int64) for size in (TASK.size, (demo.HEIGHT, demo.WIDTH))}
    for stem in (made / "raw/splits/test.txt").read_text().split():
        pair = [np.asarray(Image.open(made / where / f"{stem}.png")) for where in ("raw/label", "noisy")]
        for size, matrix in expected.items():
            label, answer = (resize.nearest(m, size).ravel() for m in pair)
            np.add.at(matrix, (label, np.minimum(answer, 3)), 1)
    for column, matrix in zip(("confusion", "native_confusion"), expected.values(), strict=True):
        np.testing.assert_array_equal(run.samples[column].sum(axis=0).reshape(3, 4), matrix)
    outside = expected[TASK.size][:, 3].sum()
    assert (run.metrics["outside"].numerator, run.metrics["outside"].direction) == (outside, "lower")
    assert run.value("mIoU") != run.value("native/mIoU")
    assert_f_and_iou_agree(run.metrics)


def test_class_maps_have_no_average_precision(made: Path) -> None:
    run = Run(made / "raw", made / "nothing")
    assert run.metrics["mAP"].value is None
    assert "no scores" in (run.metrics["mAP"].reason or "")
    assert run.metrics["native/mIoU"].reason == "not every prediction is at native size"
    assert run.metrics["precision/road_anomaly"].reason == "the class is never predicted"
    assert list(protocol.curves(run.samples, run.totals, run.options)) == []


def test_means_are_over_the_classes_of_the_truth(made: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    shutil.copytree(made / "raw", raw)
    for path in (raw / "label").glob("*.png"):
        Image.fromarray(np.minimum(np.asarray(Image.open(path)), 1)).save(path)
    run = Run(raw, made / "almost", dtype="uint8")
    assert (run.metrics["mIoU"].denominator, run.metrics["mIoU_without_0"].denominator) == (2, 1)
    assert run.metrics["IoU/road_anomaly"].value == 0  # predicted, yet nowhere in the truth
    assert run.metrics["AP/road_anomaly"].value is None
    assert run.value("mAP_without_0") == run.value("AP/drivable_area")


def test_upsampled_scores_are_scored_at_native_size(made: Path) -> None:
    plain, upsampled = (Run(made / "raw", made / "almost", dtype="uint8", upsample=u) for u in ("none", "bilinear"))
    assert plain.value("native/mIoU") is None
    assert upsampled.value("native/mIoU") == pytest.approx(plain.value("mIoU"), abs=0.05)
    assert {n: m for n, m in plain.metrics.items() if "native/" not in n} == {
        n: m for n, m in upsampled.metrics.items() if "native/" not in n
    }


@pytest.mark.parametrize("model", ["almost", "noisy"])
def test_a_missing_answer_is_wrong_in_every_pixel(made: Path, tmp_path: Path, model: str) -> None:
    shutil.copytree(made / model, tmp_path / model)
    said = demo.MODELS[model]["options"]
    whole = Run(made / "raw", made / model, **said)
    first = sorted((tmp_path / model).iterdir())[3]
    first.unlink()
    part = Run(made / "raw", tmp_path / model, **said)
    lost = whole.samples["confusion"][3].reshape(3, 4).sum(axis=1)
    np.testing.assert_array_equal(part.samples["confusion"][3].reshape(3, 4)[:, 3], lost)
    assert part.samples["outside"][3] == 0
    for c, name in enumerate(CLASSES):
        for metric in ("IoU", "recall", "AP"):
            before, after = whole.value(f"{metric}/{name}"), part.value(f"{metric}/{name}")
            assert before is after is None or (lost[c] == 0) or (after or 0) < (before or 0)
        assert whole.metrics[f"recall/{name}"].denominator == part.metrics[f"recall/{name}"].denominator
        assert whole.metrics[f"AP/{name}"].denominator == part.metrics[f"AP/{name}"].denominator
    assert (part.value("native/mIoU") is None) == (model == "almost")


def test_baselines_are_constant_maps(made: Path, tmp_path: Path) -> None:
    stems = (made / "raw/splits/test.txt").read_text().split()
    for c in range(3):
        folder = tmp_path / str(c)
        folder.mkdir()
        for stem in stems:
            Image.fromarray(np.full(TASK.size, c, np.uint8)).save(folder / f"{stem}.png")
        run = Run(made / "raw", folder)
        trivial = protocol.baselines(run.samples, run.totals, run.options)
        assert set(trivial) == {"all_0", "all_1", "all_2"}
        assert trivial[f"all_{c}"] == {n: run.metrics[n] for n in trivial[f"all_{c}"]}


def test_curves_end_at_full_recall_and_keep_the_average(made: Path) -> None:
    run = Run(made / "raw", made / "almost", dtype="uint8")
    points = [p for p in protocol.curves(run.samples, run.totals, run.options) if p["curve"] == "AP/drivable_area"]
    recall = np.array([p["recall"] for p in points])
    precision = np.array([p["precision"] for p in points])
    assert recall[-1] == 1
    assert float(np.diff(recall, prepend=0) @ precision) == pytest.approx(run.value("AP/drivable_area"), abs=1e-3)


def test_seeded_split_has_the_papers_sizes_and_says_what_it_is(made: Path, tmp_path: Path) -> None:
    frames = [f"{i:04d}" for i in range(3896)]
    dealt = _splits.seeded(frames, truth.SHARES, 0)
    assert {name: len(part) for name, part in dealt.items()} == truth.SHARES
    assert sorted(frame for part in dealt.values() for frame in part) == frames
    assert dealt["test"][:3] == ["0028", "0034", "0036"]
    assert _splits.seeded(frames, truth.SHARES, 1) != dealt
    shutil.copytree(made / "raw", tmp_path / "raw", ignore=shutil.ignore_patterns("splits"))
    notes = Counter[str]()
    manifest = truth.manifest(tmp_path / "raw", "val", {}, notes)
    assert dict(notes) == {"frames of a split seeded with 0, not the paper's split": manifest.num_rows}


@pytest.mark.parametrize(
    ("lists", "what"),
    [
        ({"test": "frame0000\nframe9999\n"}, '1 of 2 lines are no frame, first "frame9999"'),
        ({"test": "frame0000.png\n"}, "did you mean"),
        ({"test": "frame0000\nframe0000\n"}, '1 frames stand more than once, first "frame0000"'),
        ({"test": "frame0000\n", "val": "frame0001\nframe0000\n"}, 'in val.txt, too, first "frame0000"'),
        ({"train": "frame0000\n"}, 'no list for the split "test", only for train'),
    ],
)
def test_broken_lists_are_errors(made: Path, tmp_path: Path, lists: dict[str, str], what: str) -> None:
    for name, text in lists.items():
        (tmp_path / f"{name}.txt").write_text(text)
    with pytest.raises(InputError) as caught:
        truth.manifest(made / "raw", "test", {"split_lists": str(tmp_path)}, Counter())
    assert what in str(caught.value)


@pytest.mark.parametrize(("folder", "what"), [("rgb", "1 labels have no image"), ("label", "1 images have no label")])
def test_unpaired_frames_are_errors(made: Path, tmp_path: Path, folder: str, what: str) -> None:
    shutil.copytree(made / "raw", tmp_path / "raw")
    (tmp_path / "raw" / folder / "frame0005.png").unlink()
    with pytest.raises(InputError, match=f'{what}.*first "frame0005"'):
        truth.manifest(tmp_path / "raw", "test", {}, Counter())


def _with(value: int, pixels: int = 3) -> Image.Image:
    label = np.zeros((4, 6), np.uint8)
    label.flat[:pixels] = value
    return Image.fromarray(label)


@pytest.mark.parametrize(
    ("label", "what"),
    [
        (_with(255), "3 pixels are no class, lowest value 255; all such values: 255"),
        (
            Image.fromarray(np.arange(24, dtype=np.uint8).reshape(4, 6)),
            "21 pixels are no class, lowest value 3; 21 such",
        ),
        (Image.fromarray(np.ones((4, 6), np.uint16)), "is 16-bit"),
        (_with(1).convert("RGB"), "is a colour image"),
    ],
)
def test_labels_that_are_none_are_errors(tmp_path: Path, label: Image.Image, what: str) -> None:
    for folder in ("rgb", "label", "splits"):
        (tmp_path / folder).mkdir()
    _with(0).save(tmp_path / "rgb" / "a.png")
    label.save(tmp_path / "label" / "a.png")
    (tmp_path / "splits" / "test.txt").write_text("a\n")
    manifest = truth.manifest(tmp_path, "test", {}, Counter())
    with pytest.raises(InputError) as caught:
        list(truth.truth(tmp_path, manifest, {}, Counter()))
    assert what in str(caught.value)
    assert str(tmp_path / "label" / "a.png") in str(caught.value)
    _with(2).save(tmp_path / "label" / "a.png")
    with pytest.raises(InputError, match="has changed since the split was made"):
        list(truth.truth(tmp_path, manifest, {}, Counter()))


def test_jpeg_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "label").mkdir()
    _with(1).save(tmp_path / "label" / "a.jpg")
    with pytest.raises(InputError, match="1 labels are JPEG"):
        truth.manifest(tmp_path, "test", {}, Counter())
