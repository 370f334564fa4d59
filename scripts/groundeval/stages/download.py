"""download: fetch a dataset's official files, check size and sha256, unpack safely. Version `demo` generates a small one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groundeval import benchmarks, files
from groundeval.errors import InputError, did_you_mean, quoted
from groundeval.provenance import inputs
from groundeval.sources import yamlfile

DEMO_SEED = 20260101


def run(
    benchmark: str,
    version: str,
    out: Path,
    sources: Path,
    mirror: Path | None = None,
    folder: Path | None = None,
) -> None:
    """Make `out` the dataset's folder in the official layout, and `out`.json the list of what it was made from."""
    benchmarks.record(benchmark)
    with _whole_folder(out) as raw:
        if folder is not None:
            said: dict[str, Any] = _copied(folder, raw)
        elif version == "demo":
            benchmarks.part(benchmark, "demo").write(raw, DEMO_SEED)
            said = {"licence": "generated, none needed", "generated": {"seed": DEMO_SEED}}
        else:
            entry = _entry(sources, benchmark, version)
            said = {"licence": entry.get("licence")}
            said["files"] = [_fetched(f, raw, out, mirror, sources) for f in entry.get("files", [])]
        content = {key: value for key, value in inputs.files(raw).items() if key != "name"}
    head = {"benchmark": benchmark, "version": version}
    files.write_json(out.with_name(out.name + ".json"), {**head, **said, "content": content})


@contextmanager
def _whole_folder(out: Path) -> Iterator[Path]:
    """A folder that appears under its name only when it is complete."""
    temporary = out.with_name(f".{out.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        if out.exists():
            shutil.rmtree(out)
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _copied(folder: Path, raw: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError(folder, "no such folder", "Give the folder in the official layout.")
    shutil.copytree(folder, raw, dirs_exist_ok=True)
    return {"folder": {"files": sum(p.is_file() for p in raw.rglob("*"))}}


def _entry(sources: Path, benchmark: str, version: str) -> Mapping[str, Any]:
    known = yamlfile.load(sources).get(benchmark, {})
    if version not in known:
        what = f"{benchmark} has no version {quoted(version)}{did_you_mean(version, [*known, 'demo'])}"
        raise InputError(sources, what, "Correct the version in params.yaml, or add its files here.")
    entry: Mapping[str, Any] = known[version]
    return entry


def _fetched(file: Mapping[str, Any], raw: Path, out: Path, mirror: Path | None, sources: Path) -> dict[str, Any]:
    """One official file, found or fetched, checked, unpacked into `raw`."""
    from groundeval.sources import archive, fetch

    kept = out.parent / "downloads" / file["name"]
    found = fetch.obtain(file, kept, mirror, sources)
    pinned = file.get("sha256") is not None
    if not pinned:
        seen = f"saw {found.sha256} ({found.size} bytes)"
        print(f"{found.path}: no sha256 is pinned; {seen}, recorded beside the data.", file=sys.stderr)
    target = raw / file.get("into", ".")
    if file.get("unpack"):
        archive.unpack(found.path, target)
    else:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found.path, target / file["name"])
    return {"name": file["name"], "size": found.size, "sha256": found.sha256, "pinned": pinned}
