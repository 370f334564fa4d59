"""mask_npy: every kind of value is declared, several masks are joined, pickles are never loaded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from formats import mask_samples
from formats.mask_samples import MASKS, answered
from groundeval.errors import InputError
from groundeval.formats import mask_npy
from groundeval.metrics import masks
from groundeval.options import resolve

A = MASKS["a"]


def read(folder: Path, array: Any, notes: Counter[str] | None = None, **said: Any) -> dict[str, Any]:
    np.save(folder / "a.npy", array, allow_pickle=True)
    chosen = resolve(mask_npy.FORMAT.options, said, "test")
    return mask_samples.read("mask_npy", folder, chosen, notes)["a"]


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (A, "binary"),
        (A.astype(np.uint8), "binary"),
        (A.astype(np.uint8) * 255, "binary"),
        (A.astype(np.int64), "binary"),
        (A.astype(np.float32), "binary"),
        (np.asfortranarray(A), "binary"),
        (A.astype(">u2"), "binary"),
        (np.where(A, 0.51, 0.5), "probability"),
        (A.astype(np.float32), "probability"),
        (np.where(A, 1e-3, 0).astype(np.float16), "logit"),
        (np.where(A, 9, -9).astype(np.float32), "logit"),
        (np.stack([A & (np.arange(6) < 3), A & (np.arange(6) >= 2)]), "binary"),
        (A[None], "binary"),
    ],
)
def test_every_kind_of_values(tmp_path: Path, array: NDArray[Any], values: str) -> None:
    assert read(tmp_path, array, values=values) == answered("a")


def test_no_instances_say_that_nothing_is_there(tmp_path: Path) -> None:
    assert read(tmp_path, np.zeros((0, *A.shape), np.bool_))["status"] == "none"


@pytest.mark.parametrize(
    ("array", "said", "what"),
    [
        (np.where(A, 0.7, 0.2), {}, "which may be probabilities or logits"),
        (np.where(A, 7.0, -2.0), {"values": "probability"}, "from -2.0 to 7.0, no probabilities"),
        (np.where(A, np.nan, 0.0), {"values": "probability"}, "NaN or infinite"),
        (np.where(A, np.inf, 0.0), {"values": "logit"}, "NaN or infinite"),
        (A, {"values": "logit"}, "has values of bool, declared is logit"),
        (A.astype(np.uint8) + 3, {}, "neither is 0"),
        (-A.astype(np.int8), {}, "below 0"),
        (A.T, {}, "swapped?"),
        (np.zeros((64, 64), np.bool_), {}, "is it the network's?"),
        (np.stack([A, A], axis=2), {}, "with the masks last"),
        (A[None, None], {}, "expected [H, W] or [N, H, W] of numbers; squeeze"),
        (A.astype(complex), {}, "of complex128"),
        (np.array(["x"]), {}, "expected [H, W]"),
        (np.array([{"a": 1}], dtype=object), {}, "pickled Python objects, which are never loaded"),
    ],
)
def test_what_is_invalid(tmp_path: Path, array: Any, said: dict[str, str], what: str) -> None:
    row = read(tmp_path, array, **said)
    assert row["status"] == "invalid"
    assert row["reason"].startswith(str(tmp_path / "a.npy"))
    assert what in row["reason"]


def test_logits_that_look_like_probabilities_are_noted(tmp_path: Path) -> None:
    notes = Counter[str]()
    assert read(tmp_path, np.full(A.shape, 0.25), notes, values="logit")["mask"] == masks.full(*A.shape)
    assert notes == {"masks declared logit with all values from 0 to 1: are they probabilities?": 1}


def test_one_folder_a_sample(tmp_path: Path) -> None:
    for name, mask in MASKS.items():
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "predicted_mask.npy", mask)
    options = resolve(mask_npy.FORMAT.options, {}, "test")
    assert mask_samples.read("mask_npy", tmp_path, options) == {name: answered(name) for name in MASKS}
    np.save(tmp_path / "a.npy", A)
    with pytest.raises(InputError, match=r"several files, first \"a\": a\.npy, a/predicted_mask\.npy"):
        mask_samples.read("mask_npy", tmp_path, options)


def test_every_remedy_that_is_named_exists(tmp_path: Path) -> None:
    for array in (np.where(A, 0.9, 0.2), np.where(A, 3, -1), np.where(A, 3, 1), np.arange(24).reshape(4, 6)):
        row = read(tmp_path, array)
        assert row["status"] == "invalid"
        assert row["reason"].endswith("Save bool masks, or declare values=probability or values=logit.")


def test_a_map_and_another_naming_are_not_declared_together(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"map=m.json and names=image are both declared"):
        read(tmp_path, A, map="m.json", names="image")
