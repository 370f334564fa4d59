"""Archives: the same names and bytes as the folder; everything hostile or damaged is refused in one line."""

from __future__ import annotations

import gzip
import io
import random
import stat
import struct
import subprocess
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import zstandard

from groundeval.errors import InputError
from groundeval.sources import archive, members
from groundeval.sources.folder import Source
from sources import archives
from sources.archives import KINDS, TARS

FILES = {
    "a.png": b"1" * 700,
    "sub/b.png": b"",
    "sub/café 日本.png": random.Random(0).randbytes(3000),
    "z" * 120 + ".png": b"long",
}
kinds = pytest.mark.parametrize("kind", KINDS)


def content(path: Path) -> dict[str, bytes]:
    source = Source(path)
    assert not source.single
    return {name: source.read(name) for name in source.names()}


def refused(path: Path, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        content(path)
    assert str(path) in caught.value.line()


@kinds
@pytest.mark.parametrize("tar_format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
def test_as_the_folder(tmp_path: Path, kind: str, tar_format: int) -> None:
    for name, data in FILES.items():
        (tmp_path / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "f" / name).write_bytes(data)
    files = dict(list(FILES.items())[:3]) if tar_format == tarfile.USTAR_FORMAT else FILES
    found = content(archives.write(tmp_path / f"x{kind}", files, tar_format))
    assert found == files
    assert list(found) == sorted(files)
    assert {n: d for n, d in content(tmp_path / "f").items() if n in files} == files


@pytest.mark.parametrize(
    "command", ["tar -cf x.tar f", "tar -czf x.tar.gz f", "tar -cf x.tar ./f", "tar -C f -cf x.tar ."]
)
def test_as_tar_packs_a_folder(tmp_path: Path, command: str) -> None:
    """One top folder is no part of the names, with or without `./`."""
    for name, data in FILES.items():
        (tmp_path / "f" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "f" / name).write_bytes(data)
    subprocess.run(command.split(), cwd=tmp_path, check=True)
    assert content(next(tmp_path.glob("x.*"))) == FILES


@kinds
def test_top_folder(tmp_path: Path, kind: str) -> None:
    one = archives.write(tmp_path / f"one{kind}", {f"preds/{n}": d for n, d in FILES.items()})
    assert content(one) == FILES
    assert Source(one).where("a.png") == f"{one}/preds/a.png"
    two = {"p/a.png": b"1", "q/b.png": b"2"}
    assert content(archives.write(tmp_path / f"two{kind}", two)) == two
    beside = {"p/a.png": b"1", "b.png": b"2"}
    assert content(archives.write(tmp_path / f"beside{kind}", beside)) == beside


def test_an_archive_packed_from_inside_is_read_as_it_stands(tmp_path: Path) -> None:
    packed = archives.tar([archives.info(".", kind=tarfile.DIRTYPE), archives.info("./only/a.png", b"1")])
    (tmp_path / "x.tar").write_bytes(packed)
    assert content(tmp_path / "x.tar") == {"only/a.png": b"1"}


@kinds
def test_what_operating_systems_leave_is_no_answer(tmp_path: Path, kind: str) -> None:
    litter = {"__MACOSX/p/._a.png": b"x", "p/.DS_Store": b"x", "p/a.png": b"1"}
    assert content(archives.write(tmp_path / f"x{kind}", litter)) == {"a.png": b"1"}


@kinds
def test_one_file_in_an_archive(tmp_path: Path, kind: str) -> None:
    source = Source(archives.write(tmp_path / f"x{kind}", {"out/answers.json": b"[]"}))
    assert source.only(".json") == "answers.json"
    assert source.read("answers.json") == b"[]"


@kinds
def test_an_empty_archive(tmp_path: Path, kind: str) -> None:
    assert content(archives.write(tmp_path / f"x{kind}", {})) == {}


HOSTILE_NAMES = [
    (["../a.png"], "leads out of the folder"),
    (["p/../../a.png"], "leads out of the folder"),
    (["/etc/a.png"], "leads out of the folder"),
    (["C:/a.png"], "leads out of the folder"),
    (["..\\a.png"], "has a backslash or NUL"),
    (["a.png", "a.png"], "stands twice"),
    (["a.png", "./a.png"], "stands twice"),
    (["p//a.png", "p/a.png"], "stands twice"),
    (["a.png", "A.PNG"], "differ in case or Unicode form only"),
    (["stra\u00dfe.png", "STRASSE.png"], "differ in case or Unicode form only"),
    (["caf\u00e9.png", "cafe\u0301.png"], "differ in case or Unicode form only"),
    (["a", "a/b.png"], "both a file and a folder"),
    (["a", "a/b/c.png"], "both a file and a folder"),
    (["./"], None),
]


@kinds
@pytest.mark.parametrize(("names", "what"), HOSTILE_NAMES)
def test_hostile_names(tmp_path: Path, kind: str, names: list[str], what: str | None) -> None:
    path = archives.write(tmp_path / f"x{kind}", [(name, b"") for name in names])
    if what is None:
        assert content(path) == {}
    else:
        refused(path, what)
        with pytest.raises(InputError, match=what):
            archive.unpack(path, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_nul_in_a_name(tmp_path: Path) -> None:
    """The list of a zip: zipfile would cut the name at the NUL. A pax header can hold one too."""
    data = archives.write(tmp_path / "x.zip", {"aXb.png": b"1"}).read_bytes()
    (tmp_path / "x.zip").write_bytes(data.replace(b"aXb.png", b"a\0b.png"))
    refused(tmp_path / "x.zip", "has a NUL in its name")
    data = archives.tar([archives.info("é" * 60 + "X.png", b"1")], tarfile.PAX_FORMAT)
    (tmp_path / "x.tar").write_bytes(data.replace(b"X.png\n", b"\0.png\n"))
    refused(tmp_path / "x.tar", "backslash or NUL")


@pytest.mark.parametrize("kind", TARS)
@pytest.mark.parametrize(
    ("type_", "what"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.FIFOTYPE, "a device"),
        (tarfile.GNUTYPE_SPARSE, "a sparse file"),
        (b"Z", "unknown"),
    ],
)
def test_members_of_a_tar_that_are_no_files(tmp_path: Path, kind: str, type_: bytes, what: str) -> None:
    plain = archives.tar([archives.info("b.png", b"1"), archives.info("a.png", kind=type_, link="/etc/passwd")])
    (tmp_path / f"x{kind}").write_bytes(archives.compressed(kind, plain))
    refused(tmp_path / f"x{kind}", f'member "a.png" is {what}')


@pytest.mark.parametrize(
    ("mode", "what"), [(stat.S_IFLNK, "a link"), (stat.S_IFCHR, "a device"), (stat.S_IFIFO, "a device")]
)
def test_members_of_a_zip_that_are_no_files(tmp_path: Path, mode: int, what: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as made:
        made.writestr(archives.zip_info("a.png", mode | 0o777), "/etc/passwd")
    refused(tmp_path / "x.zip", f'member "a.png" is {what}')


def test_encrypted(tmp_path: Path) -> None:
    data = bytearray(archives.write(tmp_path / "x.zip", {"a.png": b"1"}).read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    (tmp_path / "x.zip").write_bytes(data)
    refused(tmp_path / "x.zip", "is encrypted")


def test_another_method(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_LZMA) as made:
        made.writestr("a.png", b"1")
    refused(tmp_path / "x.zip", "packed with the method 14")


@kinds
def test_cut_off_anywhere(tmp_path: Path, kind: str) -> None:
    """Whatever is missing at the end, but for a tar's padding, it is noticed."""
    path = archives.write(tmp_path / f"x{kind}", FILES)
    whole = path.read_bytes()
    end = len(whole) if kind != ".tar" else len(whole.rstrip(b"\0")) + 512
    for size in random.Random(0).sample(range(end - 1), 60):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            content(path)


@kinds
def test_a_flipped_byte_is_noticed_or_changes_nothing(tmp_path: Path, kind: str) -> None:
    """A plain tar has no checksum of its content: there only names and kinds are safe."""
    path, rng = archives.write(tmp_path / f"x{kind}", FILES), random.Random(0)
    whole = path.read_bytes()
    for at in rng.sample(range(len(whole)), 150):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            found = content(path)
        except InputError:
            continue
        assert {n: len(d) for n, d in found.items()} == {n: len(d) for n, d in FILES.items()} or kind == ".zip"
        assert kind == ".tar" or not {n for n in found.keys() & FILES.keys() if found[n] != FILES[n]}


@pytest.mark.parametrize("kind", TARS)
def test_a_damaged_header_is_not_the_end(tmp_path: Path, kind: str) -> None:
    """tarfile itself stops there without a word, and the rest of the members would be missing."""
    plain = bytearray(archives.tar([archives.info("a.png", b"1"), archives.info("b.png", b"2")]))
    plain[1024 + 5] ^= 1
    with tarfile.open(fileobj=io.BytesIO(plain)) as opened:
        assert opened.getnames() == ["a.png"]
    (tmp_path / f"x{kind}").write_bytes(archives.compressed(kind, bytes(plain)))
    refused(tmp_path / f"x{kind}", "the tar archive is damaged, at byte 1024")


@pytest.mark.parametrize("kind", TARS)
def test_two_tars_in_one_file(tmp_path: Path, kind: str) -> None:
    plain = archives.tar([archives.info("a.png", b"1")]) + archives.tar([archives.info("b.png", b"2")])
    (tmp_path / f"x{kind}").write_bytes(archives.compressed(kind, plain))
    refused(tmp_path / f"x{kind}", "goes on after its end")


@kinds
@pytest.mark.parametrize("more", [b"PK", b"x" * 600])
def test_trailing_bytes(tmp_path: Path, kind: str, more: bytes) -> None:
    path = archives.write(tmp_path / f"x{kind}", FILES)
    path.write_bytes(path.read_bytes() + more)
    refused(path, "goes on after its end|damaged")


def test_several_frames_and_streams(tmp_path: Path) -> None:
    """Parallel compressors write many, and zstd's may be skippable."""
    plain = archives.tar([archives.info("a.png", b"1" * 5000)])
    pack, skip = zstandard.ZstdCompressor().compress, b"\x50\x2a\x4d\x18" + struct.pack("<I", 3) + b"abc"
    (tmp_path / "x.tar.zst").write_bytes(pack(plain[:700]) + skip + pack(plain[700:]) + pack(b""))
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(plain[:700]) + gzip.compress(plain[700:]))
    for kind in (".tar.zst", ".tar.gz"):
        assert content(tmp_path / f"x{kind}") == {"a.png": b"1" * 5000}


@pytest.mark.parametrize(
    "data", [b"", b"Rar!\x1a\x07", b"<html>quota exceeded</html>" * 100, b"\x89PNG\r\n\x1a\n" + b"x" * 600]
)
@kinds
def test_no_archive_at_all(tmp_path: Path, kind: str, data: bytes) -> None:
    (tmp_path / f"x{kind}").write_bytes(data)
    refused(tmp_path / f"x{kind}", "is neither a zip nor a tar archive")


def test_what_it_is_its_bytes_say(tmp_path: Path) -> None:
    for kind in KINDS:
        archives.write(tmp_path / f"x{kind}", FILES).rename(tmp_path / "named.zip")
        assert content(tmp_path / "named.zip") == FILES


def test_a_tar_that_ends_in_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = archives.write(tmp_path / "inner.zip", {"evil.png": b"2"}).read_bytes()
    path = archives.write(tmp_path / "x.tar", {"a.npz": inner})
    assert zipfile.is_zipfile(path)
    assert content(path) == {"a.npz": inner}


@kinds
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_TOTAL", 1 << 20)
    zeros = {f"{n}.bin": bytes(1 << 20) for n in range(4)}
    path = archives.write(tmp_path / f"x{kind}", zeros)
    if kind == ".tar":  # which is no smaller than what it holds
        assert len(content(path)) == 4
        return
    tracemalloc.start()
    refused(path, "an archive bomb")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


@kinds
def test_caps_of_size_and_number(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archives.write(tmp_path / f"x{kind}", FILES)
    monkeypatch.setattr(members, "MOST_BYTES", 2999)
    refused(path, r"has 30\d\d bytes, more than 2999")
    monkeypatch.setattr(members, "MOST_MEMBERS", 3)
    refused(path, "more than 3 members")


def test_a_zip_whose_members_share_bytes(tmp_path: Path) -> None:
    """Each entry of the list points to the same data: a small file that would unpack to petabytes."""
    data = archives.write(tmp_path / "x.zip", {"a.bin": bytes(1000), "b.bin": bytes(1000)}).read_bytes()
    second = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    (tmp_path / "x.zip").write_bytes(data[: second + 42] + bytes(4) + data[second + 46 :])
    refused(tmp_path / "x.zip", "overlap")


@pytest.mark.parametrize("declared", [10, 5000])
def test_a_zip_that_lies_about_a_size(tmp_path: Path, declared: int) -> None:
    data = archives.write(tmp_path / "x.zip", {"a.bin": bytes(1000)}).read_bytes()
    (tmp_path / "x.zip").write_bytes(data.replace(struct.pack("<I", 1000), struct.pack("<I", declared)))
    refused(tmp_path / "x.zip", "damaged")


def test_a_zip_that_counts_other_members_than_it_lists(tmp_path: Path) -> None:
    data = archives.write(tmp_path / "x.zip", {"a.bin": b"1", "b.bin": b"2"}).read_bytes()
    for count in (1, 3, 65535):
        wrong = data[:-14] + struct.pack("<HH", count, count) + data[-10:]
        (tmp_path / "x.zip").write_bytes(wrong)
        refused(tmp_path / "x.zip", f"2 members are listed, {count} counted")


def test_a_zip_of_many_members(tmp_path: Path) -> None:
    """More than the 65535 that the plain end record can count; one with a comment."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as made:
        made.comment = b"many"
        for number in range(65537):
            made.writestr(f"{number}", b"")
    assert len(Source(tmp_path / "x.zip").names()) == 65537


def test_a_zip_whose_members_lie_before_its_beginning(tmp_path: Path) -> None:
    """One byte lost: every offset of the list is then one too large, and zipfile takes it off again."""
    data = archives.write(tmp_path / "x.zip", {"a.bin": bytes(1000)}).read_bytes()
    (tmp_path / "x.zip").write_bytes(data[:4] + data[5:])
    refused(tmp_path / "x.zip", "damaged")


def test_a_tar_that_lies_about_a_size(tmp_path: Path) -> None:
    """Octal, binary, and in a pax header: sizes beyond the file, beyond any file, below zero."""
    for field in (b"77777777777\0", b"\x80" + b"\xff" * 11, b"\xff" * 12, b"-0000000001\0", b"99999999999\0"):
        block = bytearray(archives.tar([archives.info("a.bin", b"1")]))
        block[124:136], block[148:156] = field, b" " * 8
        block[148:156] = f"{sum(block[:512]):06o}\0 ".encode()
        (tmp_path / "x.tar").write_bytes(block)
        refused(tmp_path / "x.tar", r"cut off|damaged|bomb")


def test_an_archive_that_changes_while_it_is_read(tmp_path: Path) -> None:
    for kind in (".zip", ".tar"):
        path = archives.write(tmp_path / f"x{kind}", FILES)
        source = Source(path)
        with path.open("ab") as opened:
            opened.write(b"\0")
        with pytest.raises(InputError, match="was changed while it was read"):
            source.read("a.png")


@kinds
def test_unpack(tmp_path: Path, kind: str) -> None:
    """For downloads: under the names of the archive, its top folder kept."""
    files = {f"top/{name}": data for name, data in FILES.items()}
    archive.unpack(archives.write(tmp_path / f"x{kind}", files), tmp_path / "out")
    found = {
        p.relative_to(tmp_path / "out").as_posix(): p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()
    }
    assert found == files


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spool").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spool"))
    source = Source(archives.write(tmp_path / "x.tar.gz", FILES))
    assert source.read("a.png") == FILES["a.png"]
    assert list((tmp_path / "spool").iterdir()) == []
