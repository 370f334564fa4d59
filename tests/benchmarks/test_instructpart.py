"""InstructPart from its official files to its numbers."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from PIL import Image

from groundeval import tables
from groundeval.benchmarks.instructpart import PROMPTS, demo, entries, protocol, truth
from groundeval.errors import InputError
from groundeval.metrics import masks
from groundeval.metrics.ratios import Metric
from groundeval.stages import evaluate
from sources import pngs

MAIN = ("gIoU", "cIoU", "P@50", "P@50:95")
ENTRIES = [("mug_1", "mug", "handle"), ("mug_1", "wine glass", "stem"), ("7_o", "light switch", "switch toggle")]
IDS = ["mug_1-mug-handle", "mug_1-wine_glass-stem", "7_o-light_switch-switch_toggle"]


def entry(stem: str, name: str, part: str) -> dict[str, Any]:
    """One entry of the annotation file."""
    told = {"object": name, "part": part, "affordance": "flip up/down", "action": "use"}
    return {"image_path": f"{stem}.jpg", "part_list": [{**told, "instruction": [f"{part} {n}" for n in range(6)]}]}


def layout(raw: Path, entries: Sequence[Any], drawn: Mapping[str, NDArray[Any]]) -> Path:
    """A folder in the official layout with a test split."""
    (raw / "test/masks").mkdir(parents=True)
    (raw / "test/data_test.json").write_text(json.dumps(entries))
    for name, samples in drawn.items():
        (raw / f"test/masks/{name}.png").write_bytes(pngs.write(np.asarray(samples, np.uint8)))
    return raw


def drawn() -> dict[str, NDArray[np.bool_]]:
    """The true masks of ENTRIES."""
    return {name: np.random.default_rng(n).random((6, 5 + n)) < 0.5 for n, name in enumerate(IDS)}


def evaluated(raw: Path, predictions: Path, chosen: str = "mask_png", **more: Any) -> dict[str, Any]:
    """The content of metrics.json."""
    return evaluate.run("instructpart", raw, "test", predictions, chosen, more.pop("said", {}), None, "model", **more)


def values(content: Mapping[str, Any]) -> list[float]:
    """The four main metrics."""
    return [content["metrics"][name]["value"] for name in MAIN]


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return layout(tmp_path / "raw", [entry(*e) for e in ENTRIES], drawn())


# The official split.


def test_truth_as_prediction_is_exactly_100_on_the_official_split(real: Path) -> None:
    folder = real / "instructpart"
    content = evaluated(folder, folder / "test/masks")
    assert values(content) == [100, 100, 100, 100]
    assert content["counts"] == {"expected": 600, "answered": 600, "none": 0, "missing": 0, "invalid": 0}
    assert content["notes"] == {"samples that share their photo with another": 122}
    full = content["baselines"]["full"]
    assert [round(full[name]["value"], 6) for name in MAIN] == [6.555862, 6.750118, 0, 0]
    assert [content["baselines"]["empty"][name]["value"] for name in MAIN] == [0, 0, 0, 0]


def test_all_foreground_on_the_official_split(real: Path, tmp_path: Path) -> None:
    folder = real / "instructpart"
    manifest = truth.manifest(folder, "test", {}, Counter())
    columns = (manifest.column(c).to_pylist() for c in ("sample_id", "height", "width"))
    for name, height, width in zip(*columns, strict=True):
        Image.new("1", (width, height), 1).save(tmp_path / f"{name}.png")
    content = evaluated(folder, tmp_path)
    assert [round(v, 6) for v in values(content)] == [6.555862, 6.750118, 0, 0]
    assert content["metrics"]["gIoU"]["value"] == content["baselines"]["full"]["gIoU"]["value"]


def test_masks_keyed_by_photo_overwrite_each_other(real: Path, tmp_path: Path) -> None:
    """The known score of a perfect model whose masks are keyed by photo, the later of a photo's masks winning."""
    folder = real / "instructpart"
    found = entries.read(folder / "test/data_test.json")
    kept = {e.image_id: e.sample_id for e in found}
    for e in found:
        shutil.copy(folder / f"test/masks/{kept[e.image_id]}.png", tmp_path / f"{e.sample_id}.png")
    assert [round(v, 2) for v in values(evaluated(folder, tmp_path))[:2]] == [89.70, 76.91]


# Reading the official layout.


def test_a_sample_is_a_mask_not_a_photo(raw: Path) -> None:
    table = truth.manifest(raw, "test", {}, Counter())
    assert table.schema == tables.MANIFEST
    assert table.column("sample_id").to_pylist() == sorted(IDS)
    row = table.to_pylist()[2]
    assert (row["sample_id"], row["image_id"], row["text"]) == (IDS[1], "mug_1", "stem 4")
    assert dict(row["tags"]) == {"object": "wine glass", "part": "stem", "affordance": "flip up/down"}
    assert (row["height"], row["width"]) == (6, 6)
    assert values(evaluated(raw, raw / "test/masks")) == [100, 100, 100, 100]


@pytest.mark.parametrize(("truth_value", "value"), [(1, 255), (255, 1), (255, 255)])
def test_0_and_1_and_0_and_255_give_the_same_bits(raw: Path, tmp_path: Path, truth_value: int, value: int) -> None:
    worse = {name: np.roll(mask, 1, axis=1) for name, mask in drawn().items()}
    expected = evaluated(raw, layout(tmp_path / "p", [], worse) / "test/masks")
    other = layout(tmp_path / "raw2", [entry(*e) for e in ENTRIES], {n: m * truth_value for n, m in drawn().items()})
    found = evaluated(other, layout(tmp_path / "p2", [], {n: m * value for n, m in worse.items()}) / "test/masks")
    assert found["metrics"] == expected["metrics"]


def test_the_order_of_entries_changes_nothing(raw: Path, tmp_path: Path) -> None:
    predictions = layout(tmp_path / "p", [], {n: np.roll(m, 1, axis=1) for n, m in drawn().items()}) / "test/masks"
    shuffled = layout(tmp_path / "raw2", [entry(*e) for e in reversed(ENTRIES)], dict(reversed(drawn().items())))
    assert evaluated(shuffled, predictions) == evaluated(raw, predictions)


def test_the_train_split_has_its_own_folder(raw: Path) -> None:
    (raw / "train/train1800").mkdir(parents=True)
    (raw / "test/masks").rename(raw / "train/train1800/masks")
    (raw / "test/data_test.json").rename(raw / "train/train1800/data_train.json")
    manifest = truth.manifest(raw, "train", {}, Counter())
    found = pa.Table.from_batches(truth.truth(raw, manifest, {}, Counter()))
    assert found.column("mask").to_pylist() == [masks.encode(drawn()[name]) for name in sorted(IDS)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda e: e[0].update(part_list=e[0]["part_list"] * 2),
            "entry 1: its part_list does not hold exactly one part",
        ),
        (lambda e: e[1].update(part_list=[]), "entry 2: its part_list does not hold exactly one part"),
        (lambda e: e[0].pop("image_path"), "its image_path is"),
        (lambda e: e[0]["part_list"][0].update(affordance=3), "its affordance is"),
        (lambda e: e[0]["part_list"][0].update(part="a\nb"), "its part is"),
        (lambda e: e[0]["part_list"][0]["instruction"].pop(), "not a list of 6 texts"),
        (lambda e: e.append(e[0]), '1 of 3 samples stand more than once, first "mug_1-mug-handle"'),
        (lambda e: e.append(entry("8", "cup", "lid")), '1 of 4 entries have no mask, first "8-cup-lid.png"'),
        (lambda e: e.pop(), '1 of 3 files belong to no entry, first "7_o-light_switch-switch_toggle.png"'),
        (lambda e: e.insert(0, 5), "entry 1: is not an object"),
    ],
)
def test_faults_of_the_official_files(tmp_path: Path, change: Any, what: str) -> None:
    entries = [entry(*e) for e in ENTRIES]
    change(entries)
    raw = layout(tmp_path / "raw", entries, drawn())
    with pytest.raises(InputError, match=what):
        truth.manifest(raw, "test", {}, Counter())


def test_truth_that_changed_or_went_since_the_manifest(raw: Path) -> None:
    manifest = truth.manifest(raw, "test", {}, Counter())
    path = raw / f"test/masks/{IDS[0]}.png"
    path.write_bytes(pngs.write(np.ones((6, 5), np.uint8)))
    with pytest.raises(InputError, match="has changed since") as error:
        list(truth.truth(raw, manifest, {}, Counter()))
    assert error.value.file == str(path)
    path.unlink()
    with pytest.raises(InputError, match="no split here"):
        list(truth.truth(raw, manifest, {}, Counter()))


# Settings.


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"setting": "task_human"}, "handle 0"),
        ({"setting": "object_part", "prompt": 4}, "handle 4"),
        ({"setting": "object_part_affordance"}, "handle 3"),
        ({"setting": None, "prompt": None}, "handle 4"),
    ],
)
def test_the_text_is_that_of_the_declared_prompt(raw: Path, options: dict[str, Any], text: str) -> None:
    texts = truth.manifest(raw, "test", options, Counter()).column("text").to_pylist()
    assert text in texts


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"setting": "task_human", "prompt": 1}, "prompt=1 is no prompt of task_human. There it is 0"),
        ({"setting": "object_part", "prompt": 3}, "There it is 2 or 4"),
        ({"prompt": 3}, "without its setting. Declare setting=object_part_affordance"),
        ({"prompt": 6}, "A prompt is 0 to 5"),
        ({"setting": "object"}, "is not one of task_human, task_gpt4, object_part, object_part_affordance"),
    ],
)
def test_setting_and_prompt_must_agree(raw: Path, said: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError, match=what):
        evaluated(raw, raw / "test/masks", said=said)


def test_every_prompt_belongs_to_one_setting() -> None:
    assert sorted(p for prompts in PROMPTS.values() for p in prompts) == list(range(6))


# The numbers.


def scored(pairs: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_] | None]]) -> dict[str, Metric]:
    """The metrics of (truth, prediction) pairs; None is a missing prediction."""
    status = ["missing" if p is None else "answered" if p.any() else "none" for _, p in pairs]
    rows = [
        {"sample_id": str(n), "image_id": "0", "height": t.shape[0], "width": t.shape[1], "tags": {}}
        for n, (t, _) in enumerate(pairs)
    ]
    known = [{"sample_id": str(n), "mask": masks.encode(t)} for n, (t, _) in enumerate(pairs)]
    said = [
        {"sample_id": str(n), "status": s, "mask": masks.encode(p) if p is not None and p.any() else None}
        for n, ((_, p), s) in enumerate(zip(pairs, status, strict=True))
    ]
    counts = protocol.counts(
        pa.RecordBatch.from_pylist(known, schema=tables.truth_schema("mask")),
        pa.RecordBatch.from_pylist(said, schema=tables.predictions_schema("mask")),
        pa.RecordBatch.from_pylist(rows, schema=tables.MANIFEST),
        {},
        {},
    )
    assert all(values.dtype == np.int64 for values in counts.values())
    tags = {f"tag/{group}": np.array(["x"] * len(pairs), object) for group in protocol.GROUPS}
    return protocol.metrics({**counts, **tags, "status": np.array(status, object)}, {}, {})


def slowly(pairs: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_] | None]]) -> dict[str, Fraction | None]:
    """The definition, pixel by pixel, in exact fractions of 100."""
    overlaps, ious = [], []
    for mask, answer in pairs:
        expected = {i for i, v in enumerate(mask.ravel()) if v}
        given = {i for i, v in enumerate(answer.ravel()) if v} if answer is not None else set()
        overlaps.append((len(expected & given), len(expected | given)))
        both_empty = Fraction(0 if answer is None else 1)
        ious.append(Fraction(*overlaps[-1]) if expected | given else both_empty)
    total = [sum(column) for column in zip(*overlaps, strict=True)]
    ties = [u > 0 and Fraction(i, u) in {Fraction(k, 100) for k in range(50, 100, 5)} for i, u in overlaps]
    shares = {k: Fraction(sum(iou > Fraction(k, 100) for iou in ious), len(ious)) for k in range(50, 100, 5)}
    return {
        "gIoU": 100 * sum(ious, Fraction()) / len(ious),
        "cIoU": Fraction(100 * total[0], total[1]) if total[1] else None,
        "P@50": 100 * shares[50],
        "P@50:95": 100 * sum(shares.values(), Fraction()) / len(shares),
        "ties": Fraction(100 * sum(ties), len(ious)),
    }


@given(
    st.integers(1, 5).flatmap(
        lambda w: st.lists(
            st.tuples(hnp.arrays(np.bool_, (4, w)), st.none() | hnp.arrays(np.bool_, (4, w))), min_size=1, max_size=6
        )
    )
)
@settings(max_examples=100, deadline=None)
def test_against_a_slow_scorer_in_fractions(pairs: list[tuple[NDArray[np.bool_], NDArray[np.bool_] | None]]) -> None:
    found, expected = scored(pairs), slowly(pairs)
    for name, exact in expected.items():
        value = found[name].value
        if exact is None or value is None:
            assert exact is None
            assert value is None
            assert found[name].reason
        elif name == "gIoU":
            assert value == pytest.approx(float(exact), rel=1e-14)
        else:
            assert value == float(exact)
            assert 100 * Fraction(int(found[name].numerator or 0), int(found[name].denominator or 0)) == exact
    assert found["by_part/x/gIoU"] == found["gIoU"]


def of(intersection: int, union: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """A pair of masks with that overlap."""
    pixels = np.arange(union)[None]
    return pixels < union, pixels < intersection


@pytest.mark.parametrize("percent", range(50, 100, 5))
def test_an_iou_of_exactly_a_threshold_is_not_above_it(percent: int) -> None:
    found = scored([of(percent // 5, 20)])
    assert found["P@50:95"].numerator == (percent - 50) // 5
    assert found["ties"].numerator == 1
    assert scored([of(10 * percent + 1, 1000)])["P@50:95"].numerator == (percent - 50) // 5 + 1


def test_both_empty_is_right_and_a_missing_answer_is_not() -> None:
    nothing = np.zeros((2, 2), bool)
    found = scored([(nothing, nothing), (nothing, None), of(2, 4)])
    assert [found[name].value for name in ("gIoU", "P@50", "P@50:95")] == [50, 100 / 3, 100 / 3]
    assert (found["cIoU"].numerator, found["cIoU"].denominator) == (2, 4)
    assert (found["both_empty"].numerator, found["both_empty"].denominator) == (2, 3)


def test_a_missing_prediction_enters_the_union_with_its_area(raw: Path, tmp_path: Path) -> None:
    layout(tmp_path / "p", [], {IDS[0]: drawn()[IDS[0]]})
    content = evaluated(raw, tmp_path / "p/test/masks", allow_incomplete=True)
    areas = {name: int(mask.sum()) for name, mask in drawn().items()}
    assert content["counts"]["missing"] == 2
    assert content["metrics"]["gIoU"]["value"] == pytest.approx(100 / 3)
    assert content["metrics"]["cIoU"]["numerator"] == areas[IDS[0]]
    assert content["metrics"]["cIoU"]["denominator"] == sum(areas.values())


def test_groups_hold_the_four_metrics_of_their_samples(raw: Path) -> None:
    metrics = evaluated(raw, raw / "test/masks")["metrics"]
    groups = {"by_object/mug", "by_object/wine glass", "by_part/stem", "by_affordance/flip up|down"}
    assert groups < {name.rpartition("/")[0] for name in metrics}
    assert metrics["by_affordance/flip up|down/gIoU"]["value"] == metrics["gIoU"]["value"]
    assert metrics["by_object/mug/P@50:95"]["denominator"] == 10


# The demo.


@pytest.fixture(scope="module")
def demo_raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    raw = tmp_path_factory.mktemp("demo")
    demo.write(raw, 5)
    return raw


@pytest.mark.parametrize("model", sorted(demo.MODELS))
def test_the_demo_models(demo_raw: Path, tmp_path: Path, model: str) -> None:
    demo.predict(demo_raw, tmp_path, model, 5)
    content = evaluated(demo_raw, tmp_path, demo.MODELS[model]["format"])
    assert 40 <= content["counts"]["expected"] <= 150
    assert content["status"] == "complete"
    giou = content["metrics"]["gIoU"]["value"]
    low, high = {"almost": (85, 99), "noisy": (30, 80), "nothing": (0, 0)}[model]
    assert low <= giou <= high
    assert (content["metrics"]["ties"]["numerator"] > 0) or model != "almost"


def test_the_demo_is_the_same_for_the_same_seed(demo_raw: Path, tmp_path: Path) -> None:
    demo.write(tmp_path, 5)
    files = [p.relative_to(demo_raw) for p in sorted(demo_raw.rglob("*")) if p.is_file()]
    assert len(files) > 40
    assert all((tmp_path / f).read_bytes() == (demo_raw / f).read_bytes() for f in files)
