"""A format of the user's own: what it yields is checked as any format's is, and what it raises is one line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from formats.mask_samples import MASKS, SIZES, answered, manifest, without
from groundeval import formats, options, tables
from groundeval.errors import InputError
from groundeval.sources.folder import Source

MASK = 'import numpy as np\ndef read(path, rows):\n    for r in rows:\n        m = np.zeros((r["height"], r["width"]), bool)\n'


def read(tmp_path: Path, text: str, shape: Any = "mask", **more: Any) -> dict[str, dict[str, Any]]:
    """The rows by id that an adapter of this text makes of a folder."""
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    (tmp_path / "files").mkdir(exist_ok=True)
    name = f"{tmp_path}/mine.py:read"
    chosen = {**options.resolve(formats.record(name, shape=shape).options, more.pop("said", {}), name), **more}
    batches = list(formats.module(name).read(Source(tmp_path / "files"), manifest(), chosen, Counter()))
    assert all(b.schema == tables.predictions_schema(shape) for b in batches)
    rows = pa.Table.from_batches(batches).to_pylist()
    assert [row["sample_id"] for row in rows] == list(SIZES)
    return {row.pop("sample_id"): row for row in rows}


def yields(*rows: str) -> str:
    return "import numpy as np\ndef read(path, rows):\n" + "".join(f"    yield {row}\n" for row in rows)


def test_masks_from_files_in_any_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "files").mkdir()
    for name, mask in MASKS.items():
        np.save(tmp_path / "files" / f"{name}.npy", mask)
    text = (
        "import numpy as np\ndef read(path, rows):\n    for r in reversed(rows):\n"
        '        yield {"sample_id": r["sample_id"], "mask": np.load(path / (r["sample_id"] + ".npy"))}\n'
    )
    assert read(tmp_path, text) == {name: answered(name) for name in MASKS}
    assert "running read, which is your own code, with your permissions" in capsys.readouterr().err
    assert {p.name for p in tmp_path.iterdir()} == {"mine.py", "files"}


def test_statuses(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        yields(
            '{"sample_id": "c", "status": "invalid", "reason": "no box in the answer"}',
            '{"sample_id": "a", "mask": np.zeros((4, 6), np.uint8)}',
            '{"sample_id": "b-cup-handle", "status": "none"}',
        ),
    )
    assert rows["a"] == rows["b-cup-handle"] == without("none")
    assert rows["c"]["status"] == "invalid"
    assert rows["c"]["reason"].endswith('mine.py: "c" no box in the answer')
    assert {r["status"] for r in read(tmp_path, "def read(p, rows):\n    return []\n").values()} == {"missing"}


def test_the_manifest_tells_nothing_of_the_truth(tmp_path: Path) -> None:
    text = 'def read(p, rows):\n    raise ValueError(",".join(sorted(rows[0])))\n'
    with pytest.raises(InputError, match="ValueError: height,image_id,sample_id,text,width"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (
            "np.zeros((6, 4), bool)",
            "the mask is 6 x 4, the image is 4 x 6 (height x width): are height and width swapped",
        ),
        ("np.zeros((4, 6), np.int64)", "a mask is [H, W] of bool or uint8"),
        ("np.zeros((4, 6))", "a mask is [H, W] of bool or uint8"),
        ("np.full((4, 6), 255, np.uint8)", "a mask of uint8 holds 0 and 1 only"),
        ("np.zeros((1, 4, 6), bool)", "a mask is [H, W] of bool or uint8"),
        ("[[0] * 6] * 4", "a mask that is a list"),
    ],
)
def test_masks_that_cannot_be_used(tmp_path: Path, answer: str, what: str) -> None:
    row = read(tmp_path, yields(f'{{"sample_id": "a", "mask": {answer}}}'))["a"]
    assert row["status"] == "invalid"
    assert what in row["reason"]
    assert row["mask"] is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (yields('{"sample_id": "d", "mask": 1}'), 'row 1: "d" is no sample of this split'),
        (yields('{"sample_id": 4, "mask": 1}'), "no dictionary with a text sample_id"),
        (yields("7"), 'row 1: is "int"'),
        (
            yields('{"sample_id": "a", "status": "none"}', '{"sample_id": "a", "status": "none"}'),
            'row 2: "a" stands twice',
        ),
        (yields('{"sample_id": "a", "status": "None"}'), 'status is "None"'),
        (yields('{"sample_id": "a"}'), '"a" is answered and has no mask'),
        (yields('{"sample_id": "a", "boxes": []}'), '"a" is answered and has no mask'),
        (yields('{"sample_id": "a", "status": "none", "mask": 1}'), '"a" is none and has a mask'),
        (yields('{"sample_id": "a", "msak": 1}'), 'unknown key "msak"'),
        ("def read(p, rows):\n    pass\n", "read gives a NoneType, not rows"),
        ("def read(p, rows):\n\n    return rows[99]\n", "mine.py, line 3: IndexError: list index out of range"),
        ("def read(p, rows):\n    yield 1 / 0\n", "mine.py, line 2: ZeroDivisionError"),
        ("def read(p):\n    pass\n", "TypeError: read() takes 1 positional argument"),
        ("import sys\ndef read(p, rows):\n    sys.exit(0)\n", "mine.py, line 3: SystemExit: 0"),
        ("def read(p, rows)\n    pass\n", "mine.py, line 1: SyntaxError"),
        ("import nothing_of_this_name\n", "mine.py, line 1: ModuleNotFoundError"),
        ("def reed(p, rows):\n    pass\n", 'has no function "read"'),
        ("read = 3\n", 'has no function "read"'),
    ],
)
def test_what_stops_the_run(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert what in caught.value.line()
    assert "mine.py" in caught.value.line()


def test_no_such_file(tmp_path: Path) -> None:
    name = f"{tmp_path}/absent.py:read"
    with pytest.raises(InputError, match=r"absent\.py: cannot be read \(No such file or directory\)"):
        list(formats.module(name).read(Source(tmp_path), manifest(), {"rows": "mask"}, Counter()))


def test_boxes(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        yields(
            '{"sample_id": "c", "boxes": np.array([[0, 1, 2, 3], [1, 1, 2, 2]], np.float32), "scores": (0.5, np.float64(0.25))}',
            '{"sample_id": "a", "boxes": []}',
            '{"sample_id": "b-cup-handle", "boxes": [(3, 0, 1, 1)], "scores": [1]}',
        ),
        "boxes",
        said={"score_threshold": 0},
    )
    assert rows["c"] == {
        "status": "answered",
        "reason": None,
        "boxes": [[0, 1, 2, 3], [1, 1, 2, 2]],
        "scores": [0.5, 0.25],
    }
    assert rows["a"]["status"] == "none"
    assert rows["b-cup-handle"]["status"] == "invalid"
    assert "inverted" in rows["b-cup-handle"]["reason"]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ('"boxes": [[0, 0, 1]]', "not a list of four numbers"),
        ('"boxes": [[0, 0, 1, float("nan")]]', "a coordinate is not within"),
        ('"boxes": [[0, 0, 1, 1e30]]', "a coordinate is not within"),
        ('"boxes": "0011"', "has boxes that are a str"),
        ('"boxes": [[0, 0, 1, 1]], "scores": [1, 2]', "has not one score for each box"),
        ('"boxes": [[0, 0, 1, 1]], "scores": [None]', "its score is not a number"),
    ],
)
def test_boxes_that_cannot_be_used(tmp_path: Path, answer: str, what: str) -> None:
    rows = read(tmp_path, yields(f'{{"sample_id": "a", {answer}}}'), "boxes", said={"score_threshold": 0})
    assert rows["a"]["status"] == "invalid"
    assert what in rows["a"]["reason"]


def test_scores_stand_beside_all_boxes_and_need_a_threshold(tmp_path: Path) -> None:
    scored, not_ = (
        '{"sample_id": "a", "boxes": [[0, 0, 1, 1]], "scores": [1]}',
        '{"sample_id": "c", "boxes": [[0, 0, 1, 1]]}',
    )
    with pytest.raises(InputError, match="no score_threshold is declared"):
        read(tmp_path, yields(scored), "boxes")
    with pytest.raises(InputError, match="1 of 2 boxes have no score"):
        read(tmp_path, yields(scored, not_), "boxes", said={"score_threshold": 0})


def test_maps(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        yields(
            '{"sample_id": "a", "map": np.arange(24, dtype=np.uint16).reshape(4, 6)}',
            '{"sample_id": "c", "map": np.ones((2, 7, 3), np.float16)}',
        ),
        "map",
        classes=2,
    )
    assert (rows["a"]["dims"], rows["a"]["dtype"]) == ([4, 6], "uint16")
    assert np.frombuffer(rows["a"]["map"], np.uint16).tolist() == list(range(24))
    assert rows["b-cup-handle"]["status"] == "missing"
    assert (rows["c"]["dims"], rows["c"]["dtype"]) == ([2, 7, 3], "float16")


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("np.zeros((6, 4), np.uint8)", "is 6x4, expected 4x6 (height x width); height and width look swapped"),
        ("np.zeros((4, 6), np.int64)", "has a map of int64"),
        ("np.zeros((4, 6), np.float32)", "has a map of float32"),
        ("np.zeros((4, 6, 2), np.float32)", "is 6x2, expected 4x6"),
        ("np.zeros((3, 4, 6), np.float32)", "has 3 score maps, the benchmark has 2 classes"),
        ("np.full((2, 4, 6), np.nan, np.float32)", "has 48 scores that are NaN"),
        ("b'x'", "has a map that is bytes"),
    ],
)
def test_maps_that_cannot_be_used(tmp_path: Path, answer: str, what: str) -> None:
    row = read(tmp_path, yields(f'{{"sample_id": "a", "map": {answer}}}'), "map", classes=2)["a"]
    assert row["status"] == "invalid"
    assert what in row["reason"]


def test_maps_come_in_the_order_of_the_manifest(tmp_path: Path) -> None:
    rows = [f'{{"sample_id": "{n}", "map": np.zeros({SIZES[n]}, np.uint8)}}' for n in ("c", "a")]
    with pytest.raises(InputError, match='"a" comes too late'):
        read(tmp_path, yields(*rows), "map")


def test_names() -> None:
    assert formats.adapter_file("a/mine.py:read") == "a/mine.py"
    assert formats.adapter_file("mask_png") is None
    assert formats.shown("/home/me/mine.py:read") == "mine.py:read"
    assert formats.shown("mask_png") == "mask_png"
    assert [formats.module_name(n) for n in ("mine.py:read", "mask_png")] == ["formats._adapter", "formats.mask_png"]
