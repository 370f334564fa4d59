"""KITTI road: the official numbers of two real frames, the geometry, the folders, missing answers, the package."""

from __future__ import annotations

import json
import math
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundeval import tables
from groundeval.benchmarks.kitti_road import RECORD, bev, calib, demo, frames, package, protocol, truth
from groundeval.errors import InputError
from groundeval.formats import confidence_png
from groundeval.metrics.ratios import Metric
from groundeval.sources.folder import Source

Columns = dict[str, NDArray[Any]]
OFFICIAL = {"MaxF": "MaxF", "AvgPrec": "AP", "PRE_wp": "PRE", "REC_wp": "REC", "FPR_wp": "FPR", "FNR_wp": "FNR"}


def score(raw: Path, predictions: Path, split: str = "training", notes: Counter[str] | None = None) -> Columns:
    """The samples table of a folder of maps."""
    said = Counter[str]() if notes is None else notes
    manifest = truth.manifest(raw, split, {}, said)
    streams = (
        truth.truth(raw, manifest, {}, said),
        confidence_png.read(Source(predictions), manifest, {}, said),
        manifest.to_batches(),
    )
    return joined([protocol.counts(t, p, m, {}, {}) for t, p, m in tables.align(*streams)], manifest)


def joined(parts: list[Columns], manifest: pa.Table) -> Columns:
    tags = [dict(t)["category"] for t in manifest.column("tags").to_pylist()]
    return {n: np.concatenate([p[n] for p in parts]) for n in parts[0]} | {"tag/category": np.array(tags, object)}


def numbers(samples: Mapping[str, NDArray[Any]]) -> dict[str, Metric]:
    return protocol.metrics(samples, {}, {})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo dataset with its three models' maps, and the maps of one for `testing`. Tests copy what they change."""
    root = tmp_path_factory.mktemp("kitti_road")
    demo.write(root / "raw", 0)
    for model in demo.MODELS:
        demo.predict(root / "raw", root / model, model, 0)
    demo.predict(root / "raw", root / "testing", "almost", 0, split="testing")
    return root


@pytest.fixture
def raw(made: Path, tmp_path: Path) -> Path:
    """A copy of training/ to break."""
    shutil.copytree(made / "raw" / "training", tmp_path / "raw" / "training")
    return tmp_path / "raw"


# The official numbers


def prediction_of(label: Path) -> NDArray[np.uint8]:
    road = np.asarray(cv2.imread(str(label), cv2.IMREAD_UNCHANGED))[..., 0] > 0
    return np.asarray(cv2.GaussianBlur(np.roll(road.astype(np.uint8) * 255, 7, axis=1), (31, 31), 8), np.uint8)


@pytest.fixture(scope="module")
def official(real: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Mapping[str, Any], dict[str, Columns]]:
    """What the official devkit says of two frames, and our counts of each for the same maps."""
    folder, maps = real / "kitti_road", tmp_path_factory.mktemp("maps")
    expected = json.loads((folder / "devkit_numbers.json").read_text())
    for name in expected:
        cv2.imwrite(str(maps / f"{name}.png"), prediction_of(folder / "training" / "gt_image_2" / f"{name}.png"))
    samples = score(folder, maps)
    return expected, {n: {c: v[i : i + 1] for c, v in samples.items()} for i, n in enumerate(sorted(expected))}


@pytest.mark.parametrize("view", protocol.VIEWS)
def test_official_numbers_of_real_frames(official: tuple[Mapping[str, Any], dict[str, Columns]], view: str) -> None:
    expected, counted = official
    assert len(expected) == 2
    for name, said in expected.items():
        got, category = numbers(counted[name]), frames.category_of(name)
        for theirs, ours in OFFICIAL.items():
            value = got[f"{view}/{category}/{ours}"].value
            assert value is not None
            assert value / 100 == pytest.approx(said[view][theirs], abs=1e-6)
        assert got[f"{view}/{category}/threshold"].value == pytest.approx(said[view]["BestThresh"], abs=1e-12)
        sizes = [int(counted[name][f"{view}_{part}"].sum()) for part in ("road", "other")]
        assert sizes == said["P,N" if view == "persp" else "bevP,N"]


def test_official_colours_of_the_real_truth_in_birds_eye_view(real: Path) -> None:
    folder = real / "kitti_road"
    for name, said in json.loads((folder / "devkit_numbers.json").read_text()).items():
        image = np.asarray(cv2.imread(str(folder / f"training/gt_image_2/{name}.png"), cv2.IMREAD_UNCHANGED))[..., ::-1]
        path = folder / f"training/calib/{frames.frame_of(name)}.txt"
        seen = bev.cells(bev.matrix(calib.read(path), path), *image.shape[:2])
        view = np.stack([bev.look(np.ascontiguousarray(image[..., i]), seen) for i in range(3)], axis=2)
        assert list(view.shape) == said["shape"]
        colours, sizes = np.unique(view.reshape(-1, 3), axis=0, return_counts=True)
        assert {str(c): n for c, n in zip(colours.tolist(), sizes.tolist(), strict=True)} == said["colours"]


# Geometry


def test_a_camera_above_the_middle_of_each_cell_gives_the_image_back() -> None:
    """u = column + 1.25 and v = row + 1.25: every cell sees its own pixel of an 800x400 image."""
    straight = np.array([[20, 0, 200.75], [0, -20, 920.75], [0, 0, 1.0]])
    image = np.random.default_rng(0).integers(0, 256, bev.SHAPE, dtype=np.uint8)
    seen = bev.cells(straight, 801, 401)
    assert (bev.look(image, bev.cells(straight, *bev.SHAPE))[:-1, :-1] == image[:-1, :-1]).all()
    assert len(seen.cell) == 800 * 400
    assert (seen.pixel == np.add.outer(np.arange(800) * 401, np.arange(400)).ravel()).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_cells_follow_the_formula_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    spread = np.array([[5, 5, 5], [1, 2, 20], [0.01, 0.01, 0.1]])
    of = np.array([[180, 155, 0], [0, 40, 300], [0, 1, 0.3]]) + spread * rng.normal(size=(3, 3))
    height, width = (int(n) for n in rng.integers(60, 320, 2))
    image = rng.integers(1, 256, (height, width), dtype=np.uint8)
    view = bev.look(image, bev.cells(of, height, width))
    for r, c in zip(rng.integers(0, 800, 60).tolist(), rng.integers(0, 400, 60).tolist(), strict=True):
        x, z = -10 + 0.05 * (c + 0.5), 46 - 0.05 * (r + 0.5)
        u, v, depth = (a * x + b * z + d for a, b, d in of.tolist())
        inside = 1 <= u / depth <= width and 1 <= v / depth <= height
        assert view[r, c] == (image[math.floor(v / depth) - 1, math.floor(u / depth) - 1] if inside else 0)


def test_a_matrix_survives_as_text() -> None:
    of = np.random.default_rng(1).normal(0, 1e3, (3, 3))
    assert (bev.from_text(bev.to_text(of)) == of).all()


# Samples and scores


def test_samples_are_the_truth_images(made: Path) -> None:
    manifest = truth.manifest(made / "raw", "training", {}, Counter())
    assert manifest.schema == tables.MANIFEST
    ids = manifest.column("sample_id").to_pylist()
    assert ids == sorted(ids)
    assert Counter(map(frames.category_of, ids)) == dict.fromkeys(("um_lane", "um_road", "umm_road", "uu_road"), 10)
    assert set(manifest.column("image_id").to_pylist()) == {
        f"{s}_{i:06d}" for s in ("um", "umm", "uu") for i in range(10)
    }


@pytest.mark.parametrize(("tasks", "count"), [("road", 30), ("lane", 10), ("both", 40), (None, 40)])
def test_the_tasks_option_chooses_samples(made: Path, tasks: str | None, count: int) -> None:
    assert truth.manifest(made / "raw", "training", {"tasks": tasks}, Counter()).num_rows == count


def test_class_maps_come_from_the_colours() -> None:
    colours = [[0, 0, 0], [255, 0, 0], [255, 0, 255], [0, 0, 255]]  # RGB
    data = bytes(cv2.imencode(".png", np.array([colours], np.uint8)[..., ::-1])[1])
    notes: Counter[str] = Counter()
    assert truth.class_map(data, "x.png", notes).tolist() == [[255, 0, 1, 255]]
    assert notes == {"truth images with other colours than black, red and magenta": 1}
    notes.clear()
    black = bytes(cv2.imencode(".png", np.zeros((2, 2, 3), np.uint8))[1])
    assert (truth.class_map(black, "x.png", notes) == truth.IGNORED).all()
    assert notes == {"truth images without road": 1, "truth images with nothing to evaluate": 1}


def test_demo_models_rank_as_they_should_and_nothing_is_the_baseline(made: Path) -> None:
    samples = {model: score(made / "raw", made / model) for model in demo.MODELS}
    got = {model: numbers(columns) for model, columns in samples.items()}
    trivial = protocol.baselines(samples["almost"], {}, {})
    for name in (n for n in RECORD.columns if n.endswith("MaxF")):
        almost, noisy, nothing = (got[m][name].value or 0 for m in ("almost", "noisy", "nothing"))
        assert almost > noisy > nothing
        assert nothing == trivial["all_positive"][name].value == trivial["all_background"][name].value
    assert set(RECORD.columns) == set(trivial["all_positive"]) <= set(got["almost"])
    assert "all-positive" in (got["nothing"]["bev/URBAN/threshold"].reason or "")
    assert got["almost"]["bev/URBAN/threshold"].reason is None


def test_the_truth_as_prediction_is_perfect_and_urban_leaves_the_lane_out(made: Path, tmp_path: Path) -> None:
    for label in (made / "raw/training/gt_image_2").iterdir():
        blue = np.asarray(cv2.imread(str(label), cv2.IMREAD_UNCHANGED))[..., 0]
        cv2.imwrite(str(tmp_path / label.name), blue if "_lane_" not in label.name else 255 - blue)
    got = numbers(score(made / "raw", tmp_path))
    for view in protocol.VIEWS:
        assert [got[f"{view}/URBAN/{n}"].value for n in ("MaxF", "AP", "PRE", "REC", "FPR", "FNR")] == [100] * 4 + [
            0
        ] * 2
        assert (got[f"{view}/um_lane/MaxF"].value or 0) < 60


def test_any_order_and_any_cut_of_the_samples_gives_the_same_numbers(made: Path) -> None:
    samples = score(made / "raw", made / "noisy")
    order = np.random.default_rng(0).permutation(len(samples["labelled"]))
    assert numbers({n: v[order] for n, v in samples.items()}) == numbers(samples)
    categories = {c: {n: v[samples["tag/category"] == c] for n, v in samples.items()} for c in ("um_road", "uu_road")}
    for category, alone in categories.items():
        assert numbers(alone)[f"bev/{category}/AP"] == numbers(samples)[f"bev/{category}/AP"]
        assert numbers(alone)["bev/URBAN/AP"] == numbers(alone)[f"bev/{category}/AP"]
        assert numbers(alone)["bev/umm_road/MaxF"].value is None


def test_missing_and_invalid_answers_stay_in_the_denominator(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "almost", tmp_path / "maps")
    (tmp_path / "maps/um_road_000003.png").unlink()
    (tmp_path / "maps/um_road_000004.png").write_bytes(b"no image")
    whole, holed = score(made / "raw", made / "almost"), score(made / "raw", tmp_path / "maps")
    lost = np.flatnonzero(holed["persp_lost"].any(axis=1))
    assert len(lost) == 2
    for view in protocol.VIEWS:
        assert not whole[f"{view}_lost"].any()
        assert holed[f"{view}_lost"][lost, 0].tolist() == whole[f"{view}_road"][lost].sum(axis=1).tolist()
        assert holed[f"{view}_lost"][lost, 1].tolist() == whole[f"{view}_other"][lost].sum(axis=1).tolist()
        before, after = (numbers(s)[f"{view}/um_road/MaxF"].value or 0 for s in (whole, holed))
        assert after < before - 5
        assert numbers(holed)[f"{view}/um_road/REC"].denominator == numbers(whole)[f"{view}/um_road/REC"].denominator


def test_maps_with_a_channel_axis_score_alike_and_others_are_refused(made: Path) -> None:
    manifest = truth.manifest(made / "raw", "training", {}, Counter()).slice(0, 1)
    labels = next(truth.truth(made / "raw", manifest, {}, Counter()))
    rows = next(
        confidence_png.read(
            Source(made / "almost"), truth.manifest(made / "raw", "training", {}, Counter()), {}, Counter()
        )
    )
    found = tables.unpack_map(rows, 0)
    assert found is not None

    def counted(array: NDArray[Any]) -> Columns:
        row = {"sample_id": "um_lane_000000", "status": "answered", **tables.pack_map(array)}
        batch = pa.RecordBatch.from_pylist([row], schema=tables.predictions_schema("map"))
        return protocol.counts(labels, batch, manifest.to_batches()[0], {}, {})

    for name, values in counted(found).items():
        assert (values == counted(found[None])[name]).all()
    for wrong in (found.astype(np.float32), found[:-1], np.stack([found, found])):
        with pytest.raises(InputError, match="expected uint8"):
            counted(wrong)


def test_testing_has_no_numbers_and_says_why(made: Path) -> None:
    samples = score(made / "raw", made / "testing", "testing")
    assert len(samples["labelled"]) == 290
    for metrics in (numbers(samples), *protocol.baselines(samples, {}, {}).values()):
        assert {m.value for m in metrics.values()} == {None}
        assert all("package" in (m.reason or "") for m in metrics.values())


# What is wrong with a folder


def test_a_list_of_frames_makes_a_split(raw: Path) -> None:
    (raw / "splits").mkdir()
    (raw / "splits/val.txt").write_text("um_000003\nuu_000001\n\n")
    manifest = truth.manifest(raw, "val", {}, Counter())
    assert manifest.column("sample_id").to_pylist() == ["um_lane_000003", "um_road_000003", "uu_road_000001"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("um_000003\nuu_000077\n", 'val.txt: 1 lines are no frame of training/, first "uu_000077"'),
        ("um_000003\num_000003\n", 'val.txt: 1 frames stand more than once, first "um_000003"'),
        ("um_road_000003\n", "1 lines are no frame"),
        ("", "no sample of split val"),
        (None, "val.txt: no such split"),
    ],
)
def test_a_wrong_list_is_refused(raw: Path, lines: str | None, said: str) -> None:
    (raw / "splits").mkdir()
    if lines is not None:
        (raw / "splits/val.txt").write_text(lines)
    with pytest.raises(InputError) as caught:
        truth.manifest(raw, "val", {}, Counter())
    assert said in caught.value.line()


def _replace(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(part: Path) -> None:
        path = part / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


def _crop(name: str) -> Callable[[Path], None]:
    def change(part: Path) -> None:
        cv2.imwrite(str(part / name), np.asarray(cv2.imread(str(part / name)))[:-3])

    return change


def _copy(old: str, new: str) -> Callable[[Path], None]:
    def change(part: Path) -> None:
        shutil.copy(part / old, part / new)

    return change


UM = "calib/um_000000.txt"
FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no file": (lambda p: (p / UM).unlink(), "um_000000.txt: no such calibration file"),
    "no matrix": (_replace(UM, "R0_rect:", "R_rect:"), "um_000000.txt: matrix R0_rect is missing"),
    "no number": (_replace(UM, "R0_rect: 1", "R0_rect: one1"), 'matrix R0_rect holds "one1.'),
    "not finite": (_replace(UM, "Tr_cam_to_road: 1.", "Tr_cam_to_road: inf 1."), 'Tr_cam_to_road holds "inf"'),
    "too many": (_replace(UM, "P2: ", "P2: 0 "), "matrix P2 has 13 numbers, expected 3x4 = 12"),
    "twice": (_replace(UM, "P0: ", "P2: "), "matrix P2 stands 2 times"),
    "no image": (lambda p: (p / "image_2/um_000002.png").unlink(), 'no image in image_2/, first "um_000002"'),
    "no truth": (
        lambda p: (p / "gt_image_2/uu_road_000002.png").unlink(),
        'no truth in gt_image_2/, first "uu_000002"',
    ),
    "odd name": (_copy("gt_image_2/um_lane_000000.png", "gt_image_2/uu_lane_000000.png"), 'first "uu_lane_000000"'),
    "other size": (_crop("image_2/um_000001.png"), "um_lane_000001.png: the truth is "),
    "no folder": (lambda p: p.rename(p.parent / "train"), "there is no folder training/ in it"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_folder_is_refused_by_name(raw: Path, fault: str) -> None:
    breaks, said = FAULTS[fault]
    breaks(raw / "training")
    with pytest.raises(InputError) as caught:
        truth.manifest(raw, "training", {}, Counter())
    assert said in caught.value.line()


def test_geometry_that_cannot_be_is_refused(raw: Path) -> None:
    matrices = calib.read(raw / "training" / UM)
    with pytest.raises(InputError, match="behind the camera"):
        bev.matrix(matrices | {"R0_rect": np.diag([1.0, -1, -1, 1])}, "um.txt")
    with pytest.raises(InputError, match="no inverse"):
        bev.matrix(matrices | {"Tr_cam_to_road": np.zeros((4, 4))}, "um.txt")


@pytest.mark.parametrize(
    "image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.uint16), np.zeros((4, 4, 4), np.uint8)]
)
def test_a_truth_of_another_kind_is_refused(image: NDArray[Any]) -> None:
    with pytest.raises(InputError, match=r"x\.png: is .*expected an RGB image of 8 bit"):
        truth.class_map(bytes(cv2.imencode(".png", image)[1]), "x.png", Counter())


def test_a_truth_that_changed_its_size_since_is_refused(raw: Path) -> None:
    manifest = truth.manifest(raw, "training", {}, Counter())
    _crop("gt_image_2/um_lane_000000.png")(raw / "training")
    with pytest.raises(InputError, match=r"um_lane_000000.png: is .*Make the split again"):
        list(truth.truth(raw, manifest, {}, Counter()))


def test_images_are_not_needed_but_then_not_checked(raw: Path) -> None:
    shutil.rmtree(raw / "training/image_2")
    (raw / "training/gt_image_2/um_lane_000004.png").unlink()
    notes: Counter[str] = Counter()
    assert truth.manifest(raw, "training", {}, notes).num_rows == 39
    assert set(notes.values()) == {1}
    assert any("image_2/ is absent" in n for n in notes)
    assert any("ego lane" in n for n in notes)


# The server's package


@pytest.fixture
def maps(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "testing", tmp_path / "maps"))


def test_package_holds_the_birds_eye_views(made: Path, tmp_path: Path) -> None:
    calibrations = made / "raw/testing/calib"
    said = package.build(made / "testing", calibrations, tmp_path / "a.zip")
    assert "96 um_road, 94 umm_road, 100 uu_road" in said[0]
    assert said[-1] == package.PAPER
    name = "umm_road_000007"
    image = np.asarray(cv2.imread(str(made / f"testing/{name}.png"), cv2.IMREAD_UNCHANGED))
    seen = bev.cells(bev.matrix(calib.read(calibrations / "umm_000007.txt"), name), *image.shape)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert len(archive.namelist()) == 290
        data = archive.read(f"{name}.png")
    packed = np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED))
    assert packed.dtype == np.uint8
    assert packed.shape == (800, 400)
    assert (packed == bev.look(image, seen)).all()


def test_package_has_the_same_bytes_every_time(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "COUNTS", dict.fromkeys(package.COUNTS, 2))
    few = [made / f"testing/{category}_{i:06d}.png" for category in package.COUNTS for i in range(2)]
    (tmp_path / "maps").mkdir()
    for path in reversed(few):
        shutil.copy(path, tmp_path / "maps")
    for name in ("a.zip", "b.zip"):
        package.build(tmp_path / "maps", made / "raw/testing/calib", tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == sorted(p.name for p in few)
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


PACKAGE_FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda m: (m / "uu_road_000099.png").unlink(), '1 of 290 maps are missing, first "uu_road_000099.png"'),
    "unknown": (_copy("um_road_000000.png", "um_road_000096.png"), 'none of the server\'s, first "um_road_000096.png"'),
    "one lane": (_copy("um_road_000000.png", "um_lane_000000.png"), "95 of 386 maps are missing"),
    "size": (_crop("um_road_000000.png"), "um_road_000000.png: "),
    "colour": (lambda m: cv2.imwrite(str(m / "um_road_000000.png"), np.zeros((94, 310, 3), np.uint8)), "is RGB"),
}


@pytest.mark.parametrize("fault", PACKAGE_FAULTS)
def test_package_of_wrong_maps_is_refused_and_leaves_nothing(made: Path, maps: Path, fault: str) -> None:
    breaks, said = PACKAGE_FAULTS[fault]
    breaks(maps)
    out = maps.parent / "out"
    with pytest.raises(InputError) as caught:
        package.build(maps, made / "raw/testing/calib", out / "a.zip")
    assert said in caught.value.line()
    assert not out.exists() or not list(out.iterdir())


def test_validator_looks_into_the_zip(made: Path, tmp_path: Path) -> None:
    def zipped(prefix: str, image: NDArray[Any]) -> Path:
        data = bytes(cv2.imencode(".png", image)[1])
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            for category, count in package.COUNTS.items():
                for i in range(count):
                    archive.writestr(f"{prefix}{category}_{i:06d}.png", data)
        return tmp_path / "x.zip"

    package.validate(zipped("", np.zeros((800, 400), np.uint8)))
    with pytest.raises(InputError, match=r"290 files are none of the server's"):
        package.validate(zipped("maps/", np.zeros((800, 400), np.uint8)))
    with pytest.raises(InputError, match="is 400x800, expected 800x400"):
        package.validate(zipped("", np.zeros((400, 800), np.uint8)))
    with pytest.raises(InputError, match="16 bit"):
        package.validate(zipped("", np.zeros((800, 400), np.uint16)))
    (tmp_path / "x.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match="not a readable zip"):
        package.validate(tmp_path / "x.zip")
