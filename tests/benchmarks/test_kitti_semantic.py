"""KITTI semantic: the merge table, every preset from one run, ignored pixels, label ids against train ids."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from PIL import Image
from sklearn.metrics import average_precision_score

from groundeval import tables
from groundeval.benchmarks.kitti_semantic import PRESETS, RECORD, TASK, demo, merging, protocol, truth
from groundeval.errors import InputError
from groundeval.formats import class_png, scores_npz
from groundeval.metrics import resize
from groundeval.options import resolve
from groundeval.sources.folder import Source

# A change of the table changes numbers: give the benchmark a new version with the new digest.
DIGESTS = {"1": "da93d23275e2dc5b"}


class Run:
    """All counts and numbers of a folder of predictions."""

    def __init__(self, raw: Path, predictions: Path, **said: Any) -> None:
        form = scores_npz if "dtype" in said else class_png
        self.options = resolve({**RECORD.options, **form.FORMAT.options}, said, "test")
        self.totals: dict[str, NDArray[Any]] = {}
        self.notes = Counter[str]()
        self.manifest = truth.manifest(raw, "test", self.options, self.notes)
        streams = (
            truth.truth(raw, self.manifest, self.options, self.notes),
            form.read(Source(predictions), self.manifest, self.options, self.notes),
            self.manifest.to_batches(),
        )
        parts = [protocol.counts(*batch, self.options, self.totals) for batch in tables.align(*streams)]
        self.samples = {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}
        self.metrics = protocol.metrics(self.samples, self.totals, self.options)

    def value(self, name: str) -> float | None:
        return self.metrics[name].value


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo data and its models. Tests copy what they change."""
    root = tmp_path_factory.mktemp("kitti_semantic")
    demo.write(root / "raw", 0)
    for model in demo.MODELS:
        demo.predict(root / "raw", root / model, model, 0)
    return root


def pixels(raw: Path, stems: list[str]) -> NDArray[np.uint8]:
    """All label ids of the split at the scored size."""
    found = (np.asarray(Image.open(raw / "training" / "semantic" / f"{stem}.png")) for stem in stems)
    return np.concatenate([resize.nearest(label, TASK.size).ravel() for label in found])


def test_the_merge_table_is_whole_and_versioned() -> None:
    content = yaml.safe_load((Path(merging.__file__).parent / "merge.yaml").read_text(encoding="utf-8"))
    assert [row["id"] for row in content["ids"]] == list(range(TASK.truth_values))
    keys = {"id", "name", "reason", *PRESETS}
    assert all(set(row) == keys and row["reason"] for row in content["ids"])
    assert {row[p] for row in content["ids"] for p in PRESETS} == set(range(len(TASK.classes)))
    assert DIGESTS[RECORD.version] == merging.digest()[:16]
    category = merging.preset("category")
    members = {c: {i for i, found in enumerate(category) if found == c} for c in (1, 2, 3)}
    assert members == {1: {7}, 2: set(range(26, 34)), 3: {24, 25}}
    differing = {i for i, (a, b) in enumerate(zip(category, merging.preset("strict"), strict=True)) if a != b}
    assert differing == {25, 32, 33}


def test_digest_is_in_the_notes(made: Path) -> None:
    run = Run(made / "raw", made / "nothing")
    digest = hashlib.sha256((Path(merging.__file__).parent / "merge.yaml").read_bytes()).hexdigest()
    assert run.notes[f"frames merged by preset category of the merge table with sha256 {digest[:16]}"] == 50
    assert run.notes["frames of a split seeded with 0, not the paper's split"] == 50


def test_every_variant_is_what_a_run_of_its_own_would_give(made: Path) -> None:
    """Closed form: where all is predicted as class 0, its IoU is its share of the pixels."""
    run = Run(made / "raw", made / "nothing")
    stems = run.manifest.column("sample_id").to_pylist()
    ids = pixels(made / "raw", stems)
    assert len(merging.variants()) > len(PRESETS)
    for name, table in merging.variants().items():
        share = float(np.mean(np.array(table)[ids[ids != 255]] == 0))
        assert run.value(f"sensitivity/{name}/IoU/unlabeled") == pytest.approx(share, abs=1e-12)
    for preset in PRESETS:
        own = Run(made / "raw", made / "noisy", **demo.MODELS["noisy"]["options"], merge=preset)
        shared = {n.removeprefix(f"sensitivity/{preset}/"): m for n, m in own.metrics.items() if f"/{preset}/" in n}
        compared = [n for n in shared if n.startswith(("mIoU", "mFsc", "IoU", "Fsc"))]
        assert len(compared) == 12
        assert {n: own.metrics[n] for n in compared} == {n: shared[n] for n in compared}


@pytest.mark.parametrize("preset", PRESETS)
def test_average_precision_is_scikit_learns_without_ignored_pixels(made: Path, tmp_path: Path, preset: str) -> None:
    stems = truth.manifest(made / "raw", "test", {}, Counter()).column("sample_id").to_pylist()[:6]
    (tmp_path / "test.txt").write_text("\n".join(stems))
    (tmp_path / "few").mkdir()
    for stem in stems:
        shutil.copy(made / "almost" / f"{stem}.npz", tmp_path / "few")
    run = Run(made / "raw", tmp_path / "few", dtype="float16", merge=preset, split_lists=str(tmp_path))
    ids = pixels(made / "raw", stems)
    stored = [np.load(made / "almost" / f"{stem}.npz")["scores"] for stem in stems]
    scores = np.concatenate([resize.nearest(s, TASK.size).reshape(4, -1) for s in stored], axis=1)[:, ids != 255]
    classes = np.array(merging.preset(preset))[ids[ids != 255]]
    for c, name in enumerate(TASK.classes):
        peer = average_precision_score(classes == c, scores[c].astype(np.float64))
        assert run.value(f"AP/{name}") == pytest.approx(peer, abs=1e-12)
    assert run.value("native/mAP") is not None


def test_ignored_pixels_count_for_nothing(made: Path, tmp_path: Path) -> None:
    """Whatever is predicted where the truth is ignored, even a value that is no class."""
    manifest = truth.manifest(made / "raw", "test", {}, Counter())
    table = np.full(256, 77, np.uint8)
    table[:34] = merging.preset("category")
    for stem in manifest.column("sample_id").to_pylist():
        label = np.asarray(Image.open(made / "raw" / "training" / "semantic" / f"{stem}.png"))
        Image.fromarray(table[label]).save(tmp_path / f"{stem}.png")
    run = Run(made / "raw", tmp_path)
    assert run.notes["pixels of 255 in the labels, ignored"] > 0
    assert run.value("outside") == 0
    assert run.value("mIoU") == run.value("native/mIoU") == run.value("sensitivity/category/mFsc") == 1
    assert (run.value("sensitivity/strict/mIoU") or 0) < 1


def test_a_label_of_ignored_pixels_alone_is_noted(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "raw", tmp_path / "raw")
    stem = truth.manifest(made / "raw", "test", {}, Counter()).column("sample_id")[1].as_py()
    path = tmp_path / "raw" / "training" / "semantic" / f"{stem}.png"
    Image.fromarray(np.full_like(np.asarray(Image.open(path)), 255)).save(path)
    run = Run(tmp_path / "raw", made / "nothing")
    assert run.notes["labels in which every pixel is ignored"] >= 1
    assert run.samples["confusion"][1].sum() == 0


@pytest.mark.parametrize(("value", "what"), [(34, "lowest value 34"), (254, "all such values: 254")])
def test_ids_that_are_none_are_errors(made: Path, tmp_path: Path, value: int, what: str) -> None:
    raw = _changed(made, tmp_path, lambda label: np.where(label == 7, value, label))
    manifest = truth.manifest(raw, "test", {}, Counter())
    with pytest.raises(InputError, match=rf"semantic/\d{{6}}_10.png: \d+ pixels are no class, .*{what}"):
        list(truth.truth(raw, manifest, {}, Counter()))


def test_train_ids_are_recognised(made: Path, tmp_path: Path) -> None:
    raw = _changed(made, tmp_path, lambda label: np.where(label == 255, 255, label % 19))
    manifest = truth.manifest(raw, "test", {}, Counter())
    with pytest.raises(InputError, match="look like train ids"):
        list(truth.truth(raw, manifest, {}, Counter()))


def _changed(made: Path, tmp_path: Path, change: Any) -> Path:
    """A copy of the data with other labels."""
    shutil.copytree(made / "raw", tmp_path / "raw")
    for path in (tmp_path / "raw" / "training" / "semantic").iterdir():
        Image.fromarray(change(np.asarray(Image.open(path))).astype(np.uint8)).save(path)
    return tmp_path / "raw"


def test_splits_are_100_50_50_of_the_annotated(made: Path) -> None:
    parts = {
        name: truth.manifest(made / "raw", name, {}, Counter()).column("sample_id").to_pylist() for name in truth.SHARES
    }
    assert {name: len(part) for name, part in parts.items()} == {"train": 100, "val": 50, "test": 50}
    assert len({stem for part in parts.values() for stem in part}) == 200
    assert all(part == sorted(part) for part in parts.values())
