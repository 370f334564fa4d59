"""What is fuzzed: every reader of `sources`, and every format with the files of every producer.

A target takes hypothesis' `data` and raises where something is wrong: any exception but InputError, another value than an
independent reader has, or a score from a file with checksums that were broken.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from hypothesis import strategies as st
from PIL import Image

from formats import golden
from formats.golden import SIZES, Golden
from groundeval import formats, plan
from groundeval.errors import InputError
from groundeval.inspection.part import Part
from groundeval.metrics import masks
from groundeval.sources import images, jsonfile, npy, npz, yamlfile
from groundeval.sources.folder import Source
from groundeval.stages import convert
from sources import archives, pngs
from tests.security import mutations

Data = Any  # hypothesis' data object
Target = Callable[[Data], None]
MOST = 1 << 24
_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until the process ends


def everything() -> dict[str, Target]:
    """Name -> target."""
    readers = {t.__name__.removeprefix("_"): t for t in (_png, _jpeg, _json, _jsonl, _npy, _npz, _counts, _yaml)}
    packed = {f"archive {kind}": _archive(kind) for kind in archives.KINDS}
    return {**readers, **packed, **{f"{g.format}: {g.producer}": _format(g) for g in golden.everything()}}


def _png(data: Data) -> None:
    colour, depth = data.draw(st.sampled_from(pngs.KINDS))
    whole = pngs.write(pngs.random(colour, depth, 9, 13, 1), depth, colour, data.draw(st.booleans()))
    _array(lambda raw: images.decode(raw, "x"), data.draw(mutations.of_png(whole) | mutations.of_bytes(whole)))


def _jpeg(data: Data) -> None:
    out = io.BytesIO()
    Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)).save(out, "jpeg")
    _array(lambda raw: images.decode_jpeg(raw, "x"), data.draw(mutations.of_bytes(out.getvalue())))


def _npy(data: Data) -> None:
    whole = _saved(data.draw(st.sampled_from(["uint8", "bool", "float16", ">i4", "O"])))
    _array(lambda raw: npy.array(raw, "x", MOST), data.draw(mutations.of_bytes(whole)))


def _npz(data: Data) -> None:
    out = io.BytesIO()
    np.savez_compressed(out, scores=np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    _array(lambda raw: npz.array(raw, "scores", "x", MOST), data.draw(mutations.of_bytes(out.getvalue())))


def _saved(dtype: str) -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(12).reshape(3, 4).astype(dtype), allow_pickle=True)
    return out.getvalue()


def _array(read: Callable[[bytes], np.ndarray], raw: bytes) -> None:
    try:
        found = read(raw)
    except InputError:
        return
    assert found.nbytes <= 1 << 28
    assert found.dtype.kind in "biufcSUV"
    found.copy()


def _json(data: Data) -> None:
    """Whatever is read is what the standard library reads; and that has no key twice."""
    raw = data.draw(mutations.of_bytes(json.dumps(data.draw(mutations.VALUES)).encode()))
    try:
        found = jsonfile.load(raw, "x")
    except InputError:
        return
    assert found == json.loads(raw, object_pairs_hook=_no_key_twice, parse_constant=_no_constant, parse_int=_integer)


def _jsonl(data: Data) -> None:
    rows = data.draw(st.lists(mutations.VALUES, min_size=1, max_size=3))
    raw = data.draw(mutations.of_bytes(b"\n".join(json.dumps(row).encode() for row in rows)))
    try:
        found = jsonfile.load_lines(raw, "x")
    except InputError:
        return
    lines = [line for line in raw.split(b"\n") if line.strip()]
    kinds = {"object_pairs_hook": _no_key_twice, "parse_constant": _no_constant, "parse_int": _integer}
    assert [value for _, value in found] == [json.loads(line, **kinds) for line in lines]


def _integer(text: str) -> int | float:
    """Beyond 64 bits the nearest float64, as the reader says."""
    return int(text) if -(2**63) <= int(text) < 2**64 else float(text)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key twice"
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} was read")


def _counts(data: Data) -> None:
    """Run-lengths: valid ones cover the image, and nothing is as large as the image."""
    height, width = data.draw(st.sampled_from([(4, 6), (1, 1), (20000, 20000)]))
    raw = data.draw(st.binary(max_size=40) | mutations.of_bytes(masks.empty(4, 6) + masks.full(4, 6)))
    try:
        masks.validate(raw, height, width)
    except ValueError:
        return
    assert int(masks.unpack(raw).sum()) == height * width
    assert 0 <= int(masks.areas([raw], [height], [width])[0]) <= height * width


def _yaml(data: Data) -> None:
    raw = data.draw(mutations.of_bytes(Path("params.yaml").read_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "params.yaml")
        path.write_bytes(raw)
        for read in (yamlfile.load, plan.load):
            try:
                found = read(path)
            except InputError:
                continue
            assert found == read(path)
        assert yaml.SafeLoader


FILES = {"a.png": b"1" * 700, "sub/b.png": bytes(range(256)) * 4, "c.png": b""}


def _archive(kind: str) -> Target:
    def target(data: Data) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = archives.write(Path(folder, f"x{kind}"), FILES)
            whole = path.read_bytes() if kind != ".tar" else path.read_bytes()[:4096]
            path.write_bytes(data.draw(mutations.of_bytes(whole)))
            try:
                source = Source(path)
                found = {name: source.read(name) for name in source.names()}
            except InputError:
                return
            assert all(not name.startswith("/") and ".." not in name.split("/") for name in found)
            assert kind == ".tar" or all(found[name] == FILES[name] for name in found.keys() & FILES.keys())

    return target


def _clean(sample: Golden) -> tuple[Source, dict[str, bytes], tuple[Any, Counter[str]]]:
    folder = tempfile.TemporaryDirectory(prefix="groundeval-")
    _KEPT.append(folder)
    sample.write(Path(folder.name))
    source = Source(Path(folder.name))
    files = {name: source.read(name) for name in source.names()}
    return source, files, _outcome(sample, Part(source, files))


def _outcome(sample: Golden, source: Source) -> tuple[Any, Counter[str]]:
    """The rows, and what is said of them. InputError where the run would stop."""
    notes = Counter[str]()
    batches = convert.convert(source, sample.format, golden.manifest(), sample.options(), notes)
    return [row for batch in batches for row in batch.to_pylist()], notes


def _format(sample: Golden) -> Target:
    clean_ = cache(lambda: _clean(sample))

    def target(data: Data) -> None:
        source, files, (clean, said) = clean_()
        name = data.draw(st.sampled_from(sorted(files)))
        damaged = data.draw(mutations.for_name(name, files[name]))
        try:
            rows, notes = _outcome(sample, Part(source, {**files, name: damaged}))
        except InputError:
            return
        sound = damaged == files[name] or rows == clean or notes != said
        assert sound or not sample.sealed or name.endswith(".png"), "another answer without a word"
        _check_rows(sample, rows)

    return target


def _check_rows(sample: Golden, rows: list[dict[str, Any]]) -> None:
    assert [row["sample_id"] for row in rows] == list(SIZES)
    shape = formats.record(sample.format).shape
    for row, (height, width) in zip(rows, SIZES.values(), strict=True):
        if row["status"] != "answered":
            continue
        if shape == "mask":
            masks.validate(row["mask"], height, width)
        elif shape == "boxes":
            boxes = np.array(row["boxes"]).reshape(-1, 4)
            assert np.isfinite(boxes).all()
            assert (boxes[:, :2] <= boxes[:, 2:]).all()
        else:
            assert len(row["map"]) == int(np.prod(row["dims"])) * np.dtype(row["dtype"]).itemsize
