"""The datasets, made once; a test damages a copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.security.scene import DATASETS, Scene


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scene]:
    """One of each kind. Tests do not change them."""
    return {kind: Scene(kind, tmp_path_factory.mktemp("scene") / kind) for kind in DATASETS}


@pytest.fixture
def scene(scenes: dict[str, Scene], tmp_path: Path) -> Callable[[str], Scene]:
    """A copy of one dataset and its predictions, to damage."""
    return lambda kind: scenes[kind].copy(tmp_path / "work")
