"""class_npy and scores_png16, and what the notes say of class values."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from PIL import Image

from groundeval import formats, tables
from groundeval.errors import InputError
from groundeval.metrics import resize
from groundeval.options import resolve
from groundeval.sources.folder import Source

NATIVE, SCORED, CLASSES = (9, 16), (4, 6), 3
LABEL = np.random.default_rng(0).integers(0, CLASSES, NATIVE)


def read(name: str, folder: Path, notes: Counter[str] | None = None, **said: Any) -> tuple[str, Any]:
    """Status, and the map or the reason, of the one sample."""
    row = {"sample_id": "a_1", "image_id": "a", "height": NATIVE[0], "width": NATIVE[1], "tags": {}}
    chosen = resolve(formats.record(name).options, said, "test") | {"eval_size": "4x6", "classes": "3"}
    manifest = pa.Table.from_pylist([row], schema=tables.MANIFEST)
    batches = list(formats.module(name).read(Source(folder), manifest, chosen, Counter() if notes is None else notes))
    found = tables.unpack_map(batches[0], 0)
    status, reason = (batches[0].column(c)[0].as_py() for c in ("status", "reason"))
    return status, reason if found is None else found


def classes(folder: Path, array: Any, notes: Counter[str] | None = None, **said: Any) -> tuple[str, Any]:
    np.save(folder / "a_1.npy", array, allow_pickle=True)
    return read("class_npy", folder, notes, **said)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "uint64", ">i4"])
def test_class_numbers_of_any_integer_type(tmp_path: Path, dtype: str) -> None:
    status, found = classes(tmp_path, LABEL.astype(dtype))
    assert (status, found.dtype) == ("answered", np.uint8)
    np.testing.assert_array_equal(found, LABEL)


def test_two_classes_as_bool_and_large_numbers(tmp_path: Path) -> None:
    np.testing.assert_array_equal(classes(tmp_path, LABEL == 1)[1], LABEL == 1)
    found = classes(tmp_path, LABEL + 1000)[1]
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, LABEL + 1000)


def test_numbers_that_16_bits_do_not_hold_never_wrap(tmp_path: Path) -> None:
    array = LABEL.astype(np.int64)
    array[0, :3] = [-1, 65536, 2**40 + 1]
    notes = Counter[str]()
    found = classes(tmp_path, array, notes)[1]
    assert found[0, :3].tolist() == [65535] * 3
    np.testing.assert_array_equal(found[1:], LABEL[1:])
    assert notes["pixels below 0 or above 65535, counted as wrong"] == 3


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (LABEL.astype(np.float32), "of float32, expected whole numbers [H, W]"),
        (np.zeros((3, *NATIVE), np.uint8), "is an array [3, 9, 16]"),
        (LABEL.T, "height and width look swapped"),
        (LABEL[:8, :8], "no image here has that size: is it the network's?"),
        (np.array([None]), "pickled"),
        (np.zeros((0, 6), np.uint8), "expected whole numbers"),
    ],
)
def test_what_is_no_class_map_is_invalid(tmp_path: Path, array: NDArray[Any], what: str) -> None:
    status, reason = classes(tmp_path, array)
    assert status == "invalid"
    assert reason.startswith("a_1.npy ")
    assert what in reason


def test_resizing_is_declared_and_noted(tmp_path: Path) -> None:
    notes = Counter[str]()
    large = np.repeat(np.repeat(LABEL, 2, 0), 2, 1).astype(np.uint8)
    found = classes(tmp_path, large, notes, resize="nearest")[1]
    np.testing.assert_array_equal(found, resize.nearest(large, SCORED))
    assert "predictions resized from 18x32 to 4x6" in next(iter(notes))


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([0, 1, 2], None),
        ([0, 255], "255; pixels to ignore? Only the truth decides that"),
        ([0, 13, 18, 255], "13, 18, 255; are these Cityscapes train ids?"),
        ([7, 8, 26, 33], "7, 8, 26, 33; are these Cityscapes label ids?"),
        ([0, 128, 254], "128, 254"),
        (list(range(3, 20)), "3, 4, 5, 6, 7, 8, 9, 10 ...; are these Cityscapes label ids?"),
    ],
)
@pytest.mark.parametrize("name", ["class_npy", "class_png"])
def test_values_that_are_no_class_are_named(tmp_path: Path, name: str, values: list[int], what: str | None) -> None:
    array = np.resize(np.array(values, np.uint8), NATIVE)
    if name == "class_npy":
        np.save(tmp_path / "a_1.npy", array)
    else:
        Image.fromarray(array).save(tmp_path / "a_1.png")
    notes = Counter[str]()
    assert read(name, tmp_path, notes)[0] == "answered"
    found = [n for n in notes if n.startswith("values")]
    expected = [] if what is None else [f"values that are none of the 3 classes, counted as wrong: {what}"]
    assert found == expected


SCORES = np.random.default_rng(1).integers(0, 65536, (CLASSES, *SCORED)).astype(np.uint16)


def planes(folder: Path, pattern: str = "a_1_{}.png", arrays: Any = SCORES) -> Path:
    for number, plane in enumerate(arrays):
        path = folder / pattern.format(number)
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(plane).save(path)
    return folder


@pytest.mark.parametrize("pattern", ["a_1_{}.png", "a_1/{}.png"])
def test_one_file_a_class(tmp_path: Path, pattern: str) -> None:
    status, found = read("scores_png16", planes(tmp_path, pattern))
    assert (status, found.dtype) == ("answered", np.uint16)
    np.testing.assert_array_equal(found, SCORES)


def test_a_class_without_a_file_is_no_partial_answer(tmp_path: Path) -> None:
    (planes(tmp_path) / "a_1_1.png").unlink()
    assert read("scores_png16", tmp_path) == ("invalid", "a_1 has files of 2 of 3 classes, the first absent is 1")


def test_no_file_is_missing(tmp_path: Path) -> None:
    assert read("scores_png16", tmp_path)[0] == "missing"


@pytest.mark.parametrize(
    ("arrays", "what"),
    [
        ([*SCORES, SCORES[0]], "a_1_3.png"),
        ((SCORES >> 8).astype(np.uint8), "has a file of 8 bits, a_1_0.png; expected grey of 16 bits"),
        (np.zeros((3, *SCORED, 3), np.uint8), "colour or transparency"),
        ([*SCORES[:2], SCORES[2].T], "maps of several sizes, (4, 6) and (6, 4)"),
        (SCORES.transpose(0, 2, 1), "height and width look swapped"),
    ],
)
def test_what_is_no_score_map_is_invalid(tmp_path: Path, arrays: Any, what: str) -> None:
    status, reason = read("scores_png16", planes(tmp_path, arrays=arrays))
    assert status == "invalid"
    assert reason.startswith("a_1 ")
    assert what in reason


def test_one_class_in_two_files(tmp_path: Path) -> None:
    planes(planes(tmp_path), "a_1/{}.png")
    assert "or of one class twice: a_1/0.png, a_1_0.png" in read("scores_png16", tmp_path)[1]


def test_files_of_no_sample_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='are not samples of this split, first "b"'):
        read("scores_png16", planes(planes(tmp_path), "b_{}.png"))
    (tmp_path / "a_1.png").write_bytes(b"")
    with pytest.raises(InputError, match="are not samples of this split, first"):
        read("scores_png16", tmp_path)
