"""Whether a dataset's images may be shown to whoever gets the report."""

from __future__ import annotations

from pathlib import Path

from groundeval.sources import yamlfile


def shows_images(sources: Path, benchmark: str, version: str) -> bool:
    """What `show_images` of the version says in data/sources.yaml; no where it says nothing. `demo` is generated: yes."""
    if version == "demo":
        return True
    known = yamlfile.load(sources).get(benchmark, {}) if sources.is_file() else {}
    return bool(known.get(version, {}).get("show_images", False))
