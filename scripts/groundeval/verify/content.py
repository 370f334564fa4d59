"""Level 1: every file is the one whose digest the provenance holds: outputs, inputs, the scorer's code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from groundeval import closure
from groundeval.digests import file_sha256
from groundeval.errors import first_of
from groundeval.provenance import environment, inputs, statement
from groundeval.verify import commit
from groundeval.verify.check import Check
from groundeval.verify.runs import Run


def check(run: Run, modules: Callable[[str, str], Sequence[str]]) -> Check:
    """Digests of the run's outputs, its inputs, and the code and software that made it.

    modules: which modules make a benchmark's numbers from a format, so that none can be left out of what is compared.
    """
    found = Check("level 1, digests")
    with found.guarded("provenance"):
        for name, digest in statement.digests(run.statement).items():
            with found.guarded(name):
                _same(found, name, digest, run.folder / name)
        for name in run.inputs:
            with found.guarded(name):
                _input(found, run, name)
        _dataset(found, run)
        said = run.predicate
        named = sorted(modules(str(said["run"]["benchmark"]), str(said["parameters"]["format"])))
        _scorer(found, run, named)
        commit.check(found, run)
        _software(found, run, named)
    return found


def _same(found: Check, name: str, digest: str, path: Path) -> None:
    what = f"{name} is not the file that was recorded: its sha256 is {{seen}}, recorded is {digest[:12]}..."
    found.expect((seen := file_sha256(path)) == digest, what.format(seen=f"{seen[:12]}..."))


def _input(found: Check, run: Run, name: str) -> None:
    known, path = run.inputs[name], run.path(name)
    if not path.exists():
        digest = known.get("merkle_root") or known["sha256"]
        found.unchecked.append(f"{name}: {known['name']} is not here; its digest is known ({digest[:12]}...)")
    elif "merkle_root" in known:
        if said := inputs.changes(known, path):
            found.failed.append(f"{name}: {known['name']}: {said}")
    else:
        found.expect(
            not path.is_symlink(), f"{name}: {known['name']} is a link: its bytes stand elsewhere and may change"
        )
        _same(found, f"{name}: {known['name']}", known["sha256"], path)


def _dataset(found: Check, run: Run) -> None:
    """Version and licence are those of the download's record."""
    if run.present("raw"):
        record, said = json.loads(run.path("raw").read_bytes()), run.predicate["dataset"]
        for key in ("version", "licence"):
            what = f"provenance.json: the dataset's {key} is {said[key]!r}, its record says {record.get(key)!r}"
            found.expect(said[key] == record.get(key), what)


def _scorer(found: Check, run: Run, modules: Sequence[str]) -> None:
    known = run.predicate["scorer"]
    what = f"provenance.json: the scorer's modules are {known['modules']}, should be {modules}"
    if not found.expect(known["modules"] == modules, what):
        return
    before, now = known["sha256"], environment.scorer(modules)["sha256"]
    changed = sorted(n for n in before.keys() | now.keys() if before.get(n) != now.get(n))
    if changed:
        made_at = run.predicate["tree"]["commit"]
        where = f"check out {made_at[:12]}" if made_at else "restore that code"
        what = f"made by other code than stands here: {len(changed)} of {len(before)} files differ, {first_of(changed)}"
        found.failed.append(f"{what}; {where}, or make the result again")


def _software(found: Check, run: Run, modules: Sequence[str]) -> None:
    """Other versions of the libraries are told, not failed: whether they matter, the next levels show."""
    known = run.predicate["software"]
    now = environment.software(modules)
    pairs = [("Python", known["python"], now["python"])]
    pairs += [(n, known["libraries"].get(n), now["libraries"].get(n)) for n in known["libraries"]]
    different = [f"{name} {a} (here {b})" for name, a, b in pairs if a != b]
    if different:
        found.notes.append(f"made with {', '.join(different)}")
    if known["lock"] != now["lock"]:
        found.notes.append(f"made under another {closure.LOCK.name}")
    if run.predicate["tree"]["state"] != "clean":
        found.notes.append(f"made from a tree whose state was {run.predicate['tree']['state']}")
