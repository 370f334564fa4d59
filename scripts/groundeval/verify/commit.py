"""Level 1: the code that the provenance calls a commit's is that commit's."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from functools import cache

from groundeval import closure
from groundeval.errors import first_of, quoted
from groundeval.verify.check import Check
from groundeval.verify.runs import Run

COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def check(found: Check, run: Run) -> None:
    """Compare the recorded source files with the commit, in this tree's repository: results' own may be a stranger's."""
    tree, recorded = run.predicate["tree"], run.predicate["scorer"]["sha256"]
    if tree["state"] != "clean":
        return
    if not COMMIT.fullmatch(commit := str(tree["commit"])):
        found.failed.append(f"provenance.json: {quoted(commit)} is no commit")
        return
    there = _digests(commit, tuple(sorted(name for name in recorded if "\n" not in name)))
    if not any(there.values()):
        found.unchecked.append(f"whether the code was commit {commit[:12]}: this repository does not have it")
        return
    different = sorted(name for name in recorded if there.get(name) != recorded[name])
    what = f"{len(different)} of {len(recorded)} files are not those of commit {commit[:12]}"
    found.expect(not different, lambda: f"made by other code than its provenance says: {what}, {first_of(different)}")


@cache
def _digests(commit: str, names: tuple[str, ...]) -> dict[str, str | None]:
    """Name -> sha256 at the commit, None where it has no such file or git does not know."""
    asked = "".join(f"{commit}:./{name}\n" for name in names).encode(errors="surrogateescape")
    try:
        done = subprocess.run(
            ["git", "cat-file", "--batch"],
            cwd=closure.PACKAGE.parents[1],
            input=asked,
            capture_output=True,
            check=False,
        )
    except OSError:
        return {}
    return dict(zip(names, _parts(done.stdout), strict=False))


def _parts(said: bytes) -> Iterator[str | None]:
    """Each object is `<id> <type> <size>`, its bytes, a line end; or `<name> missing`."""
    while said:
        line, _, rest = said.partition(b"\n")
        size = line.rpartition(b" ")[2]
        if size.isdigit():
            yield hashlib.sha256(rest[: int(size)]).hexdigest()
            said = rest[int(size) + 1 :]
        else:
            yield None
            said = rest
