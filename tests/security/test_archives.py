"""Archives given to `groundeval evaluate`. What the reader refuses, tests/sources/test_archive.py tries out in full."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from sources import archives
from sources.archives import KINDS
from tests.security import child
from tests.security.scene import Scene

Make = Callable[[str], Scene]


def pack(scene: Scene, kind: str, more: dict[str, bytes] | None = None) -> str:
    """The predictions as one archive, and its name."""
    files = {f"preds/{p.name}": p.read_bytes() for p in scene.predictions.iterdir()}
    archives.write(scene.root / f"preds{kind}", {**files, **(more or {})})
    return f"preds{kind}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_folders_numbers(scene: Make, kind: str) -> None:
    found = scene("mask")
    name = pack(found, kind)
    before = child.listing(found.root)
    assert found.evaluate("--model", "m").code == 0
    done = found.evaluate("--model", "m", predictions=name, out="packed")
    assert done.code == 0, done.err
    folder, packed = ((found.root / out / "metrics.json").read_bytes() for out in ("out", "packed"))
    assert folder == packed
    provenance = json.loads((found.root / "packed/provenance.json").read_bytes())
    assert list(provenance["predicate"]["inputs"]["predictions"]["sha256"]) == [name]
    assert done.files - before == {out + n for out in ("out", "packed") for n in ("", *(f"/{r}" for r in RESULTS))}


RESULTS = ("histograms.parquet", "metrics.json", "provenance.json", "samples.parquet")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("../../evil.png", "leads out of the folder"),
        ("/tmp/evil.png", "leads out of the folder"),
        ("preds/Sofa_000003-Scissors-blades.png", "differ in case or Unicode form only"),
        ("preds/./sofa_000003-scissors-blades.png", "stands twice"),
    ],
)
@pytest.mark.parametrize("kind", [".zip", ".tar.gz"])
def test_hostile_names(scene: Make, kind: str, name: str, what: str) -> None:
    found = scene("mask")
    packed = pack(found, kind, {"preds/sofa_000003-scissors-blades.png": b"", name: b""})
    found.refused(what, predictions=packed)


@pytest.mark.parametrize("type_", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices(scene: Make, type_: bytes) -> None:
    found = scene("mask")
    members = [archives.info("a.png", b"1"), archives.info("b.png", kind=type_, link="/etc/passwd")]
    (found.root / "preds.tar").write_bytes(archives.tar(members))
    found.refused('member "b.png" is a', predictions="preds.tar")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged(scene: Make, kind: str) -> None:
    found = scene("mask")
    path = found.root / pack(found, kind)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    found.refused(path.name, predictions=path.name)


def test_a_bomb(scene: Make) -> None:
    """Two gigabytes of zeros in some hundred kilobytes; the room on disk is limited too."""
    found = scene("mask")
    packer = zstandard.ZstdCompressor(level=1).compressobj()
    header = archives.tar([archives.info("a.png", b"1")])[:512]
    zeros = bytes(1 << 24)
    parts = [packer.compress(header), *(packer.compress(zeros) for _ in range(128)), packer.flush()]
    (found.root / "preds.tar.zst").write_bytes(b"".join(parts))
    assert (found.root / "preds.tar.zst").stat().st_size < 1 << 18
    found.refused("an archive bomb?", predictions="preds.tar.zst")


def test_no_room_to_decompress(scene: Make) -> None:
    import resource

    found = scene("mask")
    name = pack(found, ".tar.gz", {"preds/filler.bin": bytes(1 << 20)})
    found.refused("cannot be decompressed into", predictions=name, limits={resource.RLIMIT_FSIZE: 1 << 18})


def test_what_is_no_prediction_archive(scene: Make) -> None:
    found = scene("mask")
    (found.root / "preds.zip").write_bytes(b"Rar!\x1a\x07\x01\x00" + bytes(600))
    found.refused("is neither a zip nor a tar archive", predictions="preds.zip")
    assert not Path("/tmp/evil.png").exists()
