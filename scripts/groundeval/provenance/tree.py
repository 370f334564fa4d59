"""Which commit the code was, and whether the working tree was just that."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from groundeval.closure import PACKAGE

# DVC writes its lock while stages run: a changed one says nothing about code or parameters.
NOT_COUNTED = ":(exclude,top)dvc.lock"


def state() -> dict[str, Any]:
    """{commit, state}: "clean", "dirty" (a tracked file differs from the commit) or "unknown" (no repository, no git)."""
    said = _git("status", "--porcelain=v2", "--branch", "--untracked-files=no", "--", ":/", NOT_COUNTED)
    lines = (said or "").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid ")), "(initial)")
    if commit == "(initial)" or not _git("ls-files", "--", "closure.py"):  # installed inside somebody else's repository
        return {"commit": None, "state": "unknown"}
    changed = any(not line.startswith("#") for line in lines)
    return {"commit": commit, "state": "dirty" if changed else "clean"}


def _git(*arguments: str) -> str | None:
    """What git says in the package's folder; it writes nothing there, not even its index. None where it cannot."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=PACKAGE, env=environment, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None
