"""Imports run one way, and the top level holds what it should."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "scripts" / "groundeval"
LEAVES = {"cores", "errors", "options", "files", "tables", "digests", "samples", "sources", "metrics"}
MAY_IMPORT = {
    "metrics": {"metrics"},
    "cores": set(),
    "errors": set(),
    "digests": set(),
    "options": {"errors"},
    "files": set(),
    "tables": {"errors", "files"},
    "samples": {"tables", "metrics"},
    "sources": {"errors", "files", "tables", "digests", "sources"},
    "formats": LEAVES | {"formats"},
    "benchmarks": LEAVES | {"benchmarks"},
    "provenance": {"errors", "digests", "sources", "closure", "provenance", "__version__"},
    "verify": LEAVES | {"benchmarks", "formats", "plan", "closure", "report", "provenance", "verify"},
    "inspection": LEAVES | {"benchmarks", "formats", "inspection"},
    "report": LEAVES | {"benchmarks", "report", "provenance"},
    "closure": set(),
    "plan": LEAVES | {"benchmarks", "formats"},
    "stages": LEAVES
    | {"benchmarks", "formats", "plan", "closure", "report", "provenance", "verify", "inspection", "stages"},
    "commands": LEAVES | {"stages", "plan", "report", "benchmarks", "formats", "commands"},
    "cli": LEAVES | {"commands"},
    "__main__": {"cli"},
    "__init__": set(),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports are invisible to groundeval.closure"
            base = node.module or ""
            found += [f"{base}.{alias.name}" for alias in node.names] if base == "groundeval" else [base]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    area = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    ours = {name.split(".")[1] for name in imported(path) if name.startswith("groundeval.")} - {"__version__"}
    assert ours <= MAY_IMPORT[area], f"{area} may not import {sorted(ours - MAY_IMPORT[area])}"


@pytest.mark.parametrize("area", ["benchmarks", "formats"])
def test_siblings_do_not_import_each_other(area: str) -> None:
    for path in (PACKAGE / area).rglob("*.py"):
        own = path.relative_to(PACKAGE / area).parts[0].removesuffix(".py")
        for name in imported(path):
            match = re.match(rf"groundeval\.{area}\.([^.]+)", name)
            assert not match or match[1] == own or match[1].startswith("_"), f"{path} imports {name}"


def test_top_level_is_the_documented_one() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    folders = {name.split("/")[0] for name in listed if "/" in name}
    assert {f for f in folders if not f.startswith(".")} <= {"scripts", "envs", "data", "results", "tests"}


def test_no_lock_names_a_host() -> None:
    for lock in (ROOT / "requirements.lock", ROOT / "envs" / "bootstrap.lock"):
        text = lock.read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert "://" not in text


def test_conda_pins_are_the_locks() -> None:
    locked = dict(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", (ROOT / "requirements.lock").read_text(), re.M))
    pinned = re.findall(r"^ +- ([a-z0-9-]+)==(\S+)", (ROOT / "envs" / "groundeval.yaml").read_text(), re.M)
    assert len(pinned) > 8
    assert {name: locked[name] for name, _ in pinned} == dict(pinned)
