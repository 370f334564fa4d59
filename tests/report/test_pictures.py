"""Samples as pictures: the pixels are those of truth and answer, whatever the shape."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from groundeval import benchmarks, tables
from groundeval.benchmarks import _photo
from groundeval.metrics import masks
from groundeval.report import draw, pictures
from groundeval.report.collect import Run, parse
from report import made_up


def run(benchmark: str, **options: Any) -> Run:
    return parse(made_up.run("m", benchmark=benchmark, options=options))


def row(shape: tables.Shape, **content: Any) -> pa.RecordBatch:
    said = {"sample_id": "a", "status": "answered", **content}
    schema = tables.predictions_schema(shape) if "status" in content else tables.truth_schema(shape)
    return next(tables.rows_to_batches([said], schema))


def sample(benchmark: str, size: tuple[int, int], truth: pa.RecordBatch, **tags: str) -> pictures.Sample:
    known = {"sample_id": "a", "height": size[0], "width": size[1], "tags": list(tags.items())}
    return pictures.Sample(benchmarks.record(benchmark), known, truth)


def rgba(address: str) -> Any:
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))


def test_a_mask_s_picture_tells_hit_missed_and_extra_apart() -> None:
    truth, answer = np.zeros((6, 8), bool), np.zeros((6, 8), bool)
    truth[1:4, 1:4], answer[2:5, 2:5] = True, True
    one = sample("instructpart", (6, 8), row("mask", mask=masks.encode(truth)))
    (found,) = pictures.of_answer(one, row("mask", status="answered", mask=masks.encode(answer)), run("instructpart"))
    colours = {(0, 0): draw.CLEAR, (1, 1): draw.HIT, (1, 0): draw.MISSED, (0, 1): draw.EXTRA}
    expected = [
        [colours[int(t), int(a)] for t, a in zip(*rows, strict=True)] for rows in zip(truth, answer, strict=True)
    ]
    assert np.array_equal(rgba(found.overlays[0]), np.array(expected))
    assert found.about == "9 pixels"
    drawn = rgba(pictures.of_truth(one, run("instructpart")).overlays[0])
    assert np.array_equal(drawn[..., 3] > 0, truth)


@pytest.mark.parametrize("status", ["none", "missing", "invalid"])
def test_without_an_answer_the_whole_truth_is_missed(status: str) -> None:
    one = sample("instructpart", (2, 2), row("mask", mask=masks.encode(np.ones((2, 2), bool))))
    (found,) = pictures.of_answer(one, row("mask", status=status), run("instructpart"))
    assert {tuple(pixel) for pixel in rgba(found.overlays[0]).reshape(-1, 4).tolist()} == {draw.MISSED}
    assert found.about == status


def test_a_large_mask_is_reduced_by_the_pixel_at_each_centre() -> None:
    truth = np.zeros((1000, 500), bool)
    truth[500:] = True
    one = sample("instructpart", (1000, 500), row("mask", mask=masks.encode(truth)))
    drawn = rgba(pictures.of_truth(one, run("instructpart")).overlays[0])
    assert drawn.shape == (240, 120, 4)
    assert np.array_equal(drawn[..., 3] > 0, np.arange(240)[:, None].repeat(120, 1) >= 120)


def test_boxes_are_drawn_at_the_picture_s_scale_and_far_ones_at_its_border() -> None:
    truth = row("boxes", boxes=[[48.0, 24.0, 96.0, 72.0]])
    answer = row(
        "boxes",
        status="answered",
        boxes=[[0.0, 0, 480, 480], [1e300, 0, 2e300, 5], [5, 5, 6, 6]],
        scores=[0.9, 0.8, 0.1],
    )
    one = sample("grefcoco", (480, 480), truth)
    (found,) = pictures.of_answer(one, answer, run("grefcoco", score_threshold=0.5))
    assert [(box.side, box.x, box.y, box.width, box.height) for box in found.boxes] == [
        ("truth", "24.0", "12.0", "24.0", "24.0"),
        ("answer", "0.0", "0.0", "240.0", "240.0"),
        ("answer", "250.0", "0.0", "0.0", "2.5"),
    ]
    assert found.about == "2 boxes"
    assert pictures.of_truth(one, run("grefcoco")).about == "1 box"


def test_a_class_map_has_its_classes_and_where_it_is_wrong() -> None:
    truth = np.array([[0, 1, 2], [2, 2, 1]], np.uint8)
    answer = np.array([[0, 1, 2], [1, 9, 1]], np.uint8)
    one = sample("gmrp", (2, 3), row("map", **tables.pack_map(truth)))
    shown, wrong = pictures.of_answer(one, row("map", status="answered", **tables.pack_map(answer)), run("gmrp"))
    assert [tuple(c) for c in rgba(shown.overlays[0]).reshape(-1, 4).tolist()] == [
        *(draw.CLASSES[c] for c in (0, 1, 2, 1)), draw.WRONG, draw.CLASSES[1]]  # fmt: skip
    assert np.array_equal(rgba(wrong.overlays[0])[..., 3] > 0, truth != answer)
    assert wrong.about == "33.3 % of what is drawn is wrong"
    assert pictures.of_truth(one, run("gmrp")).about == "unlabeled, drivable_area, road_anomaly"


def test_score_maps_count_by_their_highest_score_and_merged_labels_by_the_run_s_preset() -> None:
    truth = np.array([[7, 26, 255]], np.uint8)  # road, car, ignored
    scores = np.zeros((4, 1, 3), np.float16)
    scores[1, 0, 0] = scores[1, 0, 1] = scores[3, 0, 2] = 1
    one = sample("kitti_semantic", (1, 3), row("map", **tables.pack_map(truth)))
    options = {"merge": "category"}
    shown, wrong = pictures.of_answer(
        one, row("map", status="answered", **tables.pack_map(scores)), run("kitti_semantic", **options)
    )
    assert [tuple(c) for c in rgba(shown.overlays[0])[0].tolist()] == [draw.CLASSES[c] for c in (1, 1, 3)]
    assert (rgba(wrong.overlays[0])[0, :, 3] > 0).tolist() == [False, True, False]


def test_road_is_what_is_at_or_above_the_run_s_best_threshold() -> None:
    truth, answer = np.array([[0, 1, 1, 255]], np.uint8), np.array([[50, 50, 49, 255]], np.uint8)
    said = made_up.run("m", benchmark="kitti_road", metrics={"persp/URBAN/threshold": made_up.metric(50, 255)})
    one = sample("kitti_road", (1, 4), row("map", **tables.pack_map(truth)), category="um_road")
    (found,) = pictures.of_answer(one, row("map", status="answered", **tables.pack_map(answer)), parse(said))
    expected = [draw.EXTRA, draw.HIT, draw.MISSED, draw.CLEAR]
    assert [tuple(colour) for colour in rgba(found.overlays[0])[0].tolist()] == expected


def test_a_photo_is_reduced_and_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (90, 160, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    first = draw.photo(tmp_path / "a.png", 45, 80)
    assert rgba(first).shape == (45, 80, 4)
    assert draw.photo(tmp_path / "a.png", 45, 80) == first


def test_what_is_no_image_or_too_large_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_text("<svg onload=alert(1)>", encoding="utf-8")
    with pytest.raises(OSError, match="cannot identify"):
        draw.photo(tmp_path / "a.png", 4, 4)
    Image.new("L", (100, 100)).save(tmp_path / "b.png")
    monkeypatch.setattr(_photo, "LARGEST", 9999)
    with pytest.raises(ValueError, match="too many"):
        draw.photo(tmp_path / "b.png", 4, 4)
