"""sign: a detached signature over all files of a folder of results."""

from __future__ import annotations

from pathlib import Path

from groundeval import files
from groundeval.errors import InputError
from groundeval.provenance import dsse, results
from groundeval.verify.runs import find


def run(folder: Path, key: Path) -> None:
    """Write signature.dsse.json into the folder: each run's provenance is signed, and so all that went into it."""
    for one in find(folder):
        one.predicate  # noqa: B018 - a run without provenance is not worth a signature
    secret = dsse.private_key(key)
    content = results.make(folder)
    files.write_json(folder / results.SIGNATURE, dsse.seal(content, secret))
    print(
        f"{folder / results.SIGNATURE}: {len(content['subject'])} files, key {dsse.key_id(secret.public_key())[:12]}..."
    )


def make_key(path: Path) -> None:
    """Write a new key pair."""
    if not path.parent.is_dir():
        raise InputError(path, "its folder does not exist", "Make it first.")
    public = dsse.make_key(path)
    print(f"{path}: keep it to yourself\n{public}: give it to whoever verifies")
