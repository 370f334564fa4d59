"""Are the results the ones that were signed, all of them and no more?"""

from __future__ import annotations

import json
from pathlib import Path

from groundeval.digests import file_sha256
from groundeval.errors import first_of
from groundeval.provenance import dsse, results, statement
from groundeval.verify.check import Check


def check(folder: Path, key: Path) -> Check:
    """The signature by this key, and every file against it."""
    found, path, public = Check("signature"), folder / results.SIGNATURE, dsse.public_key(key)
    if not found.expect(path.is_file(), f"{path.name} is absent: the results are not signed"):
        return found
    with found.guarded(path.name):
        signed = dsse.opened(json.loads(path.read_bytes()), public)
        results.check(signed)
        _files(found, folder, statement.digests(signed))
    return found


def _files(found: Check, folder: Path, signed: dict[str, str]) -> None:
    here = set(results.subjects(folder))
    parts = {
        "are not those that were signed": [
            n for n in sorted(here & signed.keys()) if file_sha256(folder / n) != signed[n]
        ],
        "were signed and are absent": sorted(signed.keys() - here),
        "were not signed": sorted(here - signed.keys()),
    }
    for what, names in parts.items():
        found.expect(not names, f"{len(names)} files {what}, {first_of(names)}")
