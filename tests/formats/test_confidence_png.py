"""confidence_png: what is read as it stands, and what is refused."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from PIL import Image

from groundeval import tables
from groundeval.errors import InputError
from groundeval.formats import confidence_png
from groundeval.sources.folder import Source

MAP = np.arange(15, dtype=np.uint8).reshape(3, 5) * 17
IDS = ("um_lane_000000", "um_road_000000", "uu_road_000001")


def png(image: NDArray[Any]) -> bytes:
    return bytes(cv2.imencode(".png", image)[1])


def palette() -> bytes:
    image = Image.fromarray(MAP // 17, "P")
    image.putpalette([0, 0, 0, 255, 255, 255] * 8)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def manifest() -> pa.Table:
    rows = [{"sample_id": i, "image_id": i, "height": 3, "width": 5, "tags": {}} for i in IDS]
    return pa.Table.from_pylist(rows, schema=tables.MANIFEST)


def read(folder: Path, notes: Counter[str] | None = None) -> pa.RecordBatch:
    found = Counter[str]() if notes is None else notes
    batches = list(confidence_png.read(Source(folder), manifest(), {}, found))
    assert len(batches) == 1
    assert batches[0].schema == tables.predictions_schema("map")
    return batches[0]


@pytest.fixture
def maps(tmp_path: Path) -> Path:
    for name in IDS:
        (tmp_path / f"{name}.png").write_bytes(png(MAP))
    return tmp_path


def test_values_come_as_they_stand_in_the_order_of_the_manifest(maps: Path) -> None:
    (maps / f"{IDS[2]}.png").write_bytes(png(MAP[::-1]))
    batch = read(maps)
    assert batch.column("sample_id").to_pylist() == list(IDS)
    assert batch.column("status").to_pylist() == ["answered"] * 3
    for row, expected in enumerate((MAP, MAP, MAP[::-1])):
        found = tables.unpack_map(batch, row)
        assert found is not None
        assert found.dtype == np.uint8
        assert (found == expected).all()


def test_an_absent_file_is_missing_not_empty(maps: Path) -> None:
    (maps / f"{IDS[1]}.png").unlink()
    batch = read(maps)
    assert batch.column("status").to_pylist() == ["answered", "missing", "answered"]
    assert tables.unpack_map(batch, 1) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (png(MAP.T), "is 5x3, expected 3x5 (height x width); height and width are swapped"),
        (png(MAP[:2]), "is 2x5, expected 3x5"),
        (png(MAP.astype(np.uint16)), "is grey of 16 bit a channel, expected grey of 8 bit"),
        (png(np.stack([MAP] * 3, axis=2)), "is RGB of 8 bit"),
        (palette(), "is palette of"),
        (bytes(cv2.imencode(".jpg", MAP)[1]), "JPEG"),
        (png(MAP)[:-20], "cut off"),
        (b"", "empty"),
    ],
    ids=["swapped", "small", "16-bit", "RGB", "palette", "JPEG", "cut", "empty"],
)
def test_what_cannot_be_used_is_invalid_and_says_why(maps: Path, data: bytes, said: str) -> None:
    (maps / f"{IDS[0]}.png").write_bytes(data)
    batch = read(maps)
    assert batch.column("status").to_pylist() == ["invalid", "answered", "answered"]
    reason = batch.column("reason")[0].as_py()
    assert said in reason
    assert f"{IDS[0]}.png" in reason
    assert tables.unpack_map(batch, 0) is None


def test_a_file_of_no_sample_is_refused_with_the_nearest_name(maps: Path) -> None:
    (maps / "um_road_00000.png").write_bytes(png(MAP))
    with pytest.raises(InputError, match=r'"um_road_00000"; the nearest are .*"um_road_000000"'):
        read(maps)


def test_jpeg_files_and_single_files_are_refused(maps: Path) -> None:
    with pytest.raises(InputError, match="expected a folder"):
        read(maps / f"{IDS[0]}.png")
    (maps / "um_road_000000.jpg").write_bytes(b"")
    with pytest.raises(InputError, match="1 JPEG files"):
        read(maps)


def test_what_is_not_read_and_what_looks_odd_is_noted(maps: Path) -> None:
    (maps / "testing").mkdir()
    (maps / "testing" / "um_road_000000.png").write_bytes(png(MAP))
    (maps / "log.txt").write_text("")
    (maps / f"{IDS[0]}.png").write_bytes(png(MAP * 0))
    (maps / f"{IDS[1]}.png").write_bytes(png((MAP > 9).astype(np.uint8)))
    notes: Counter[str] = Counter()
    read(maps, notes)
    assert notes == {
        "files that are not .png or lie in subfolders, not read": 2,
        "maps of 0 alone": 1,
        "maps of 0 and 1 alone, out of 0..255": 1,
    }
