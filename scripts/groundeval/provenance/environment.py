"""With what a run was scored: our source files and class tables, Python, the libraries, the lock file."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from groundeval import __version__, closure
from groundeval.digests import file_sha256

# Where a library is imported under another name than it is installed under.
INSTALLED_AS = {"cv2": "opencv-python-headless", "PIL": "pillow", "yaml": "pyyaml"}


def scorer(modules: Sequence[str]) -> dict[str, Any]:
    """sha256 of the source files and tables that the named modules use; names are relative to the tree's root."""
    names = [name for name in closure.files(*modules) if name != closure.LOCK.name]
    root = closure.PACKAGE.parents[1]
    return {"modules": sorted(modules), "sha256": {name: file_sha256(root / name) for name in names}}


def software(modules: Sequence[str]) -> dict[str, Any]:
    """Versions of Python, of ours, and of every library that the named modules import; the lock that pins them."""
    names = sorted(INSTALLED_AS.get(name, name.replace("_", "-")) for name in closure.libraries(*modules))
    return {
        "groundeval": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": {name: _version(name) for name in names},
        "lock": file_sha256(closure.LOCK) if closure.LOCK.is_file() else None,
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # a library that a format imports only where it is there
        return None
