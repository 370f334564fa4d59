"""Which source files a piece of the project depends on, read from its import statements.

Snakemake does not see that a command imports an edited module and would keep the old number. So every rule has the digest
of these files as a parameter: as inputs, thirty a job, they would be most of what Snakemake thinks about when there are
thousands of jobs. They are found by reading, not by running: the list is complete by construction and nobody keeps it.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
LOCK = PACKAGE.parents[1] / "requirements.lock"
DATA = (".yaml", ".csv", ".json")  # tables that a benchmark's code reads
NOT_SCORING = {"published.yaml"}
MEMORY = Path(".snakemake", "groundeval")


def files(*modules: str) -> list[str]:
    """Paths, relative to the working tree's root, of the named modules and of all of ours that they import, sorted.

    Where that root has a lock file it is one of them: another version of a library is other code.
    """
    paths = {path for name in _reached(modules) for path in (_path(name), *_data(name))}
    paths |= {LOCK} if LOCK.is_file() else set()
    return sorted(str(path.relative_to(PACKAGE.parents[1])) for path in paths)


@cache
def digest(*modules: str) -> str:
    """Of the names and the content of `files`: what a rule has as a parameter."""
    root = PACKAGE.parents[1]
    lines = (f"{name} {_sha256(root / name)}\n" for name in files(*modules))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def memory() -> list[str]:
    """A file that is lost together with what Snakemake wrote down, made anew here: an input of the rule `split`.

    Without its notes Snakemake compares times alone, and takes for current what other code, options or predictions made.
    This file is then younger than every manifest, and all is made again. Everything follows from the manifests, so it
    costs nothing a run. Nothing, where nothing can be written.
    """
    try:
        MEMORY.parent.mkdir(exist_ok=True)
        with suppress(FileExistsError), MEMORY.open("x", encoding="utf-8") as file:
            file.write("Younger than a result: Snakemake has forgotten how it was made.\n")
    except OSError:
        return []
    return [str(MEMORY)]


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def libraries(*modules: str) -> list[str]:
    """Names under which the named modules, and all of ours that they import, import what others wrote, sorted."""
    tops = {name.split(".")[0] for module in _reached(modules) for name in _mentioned(module)}
    return sorted(tops - sys.stdlib_module_names - {"groundeval"})


def _reached(modules: tuple[str, ...]) -> set[str]:
    seen: set[str] = set()
    waiting = [f"groundeval.{m}" for m in modules]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += _imported(name)
    return seen


@cache
def _imported(module: str) -> tuple[str, ...]:
    """Our modules that a module imports anywhere in its text, and the packages around it."""
    parents = module.split(".")
    around = [".".join(parents[:n]) for n in range(1, len(parents))]
    return tuple(n for n in (*around, *_mentioned(module)) if n.startswith("groundeval") and _exists(n))


@cache
def _mentioned(module: str) -> tuple[str, ...]:
    """All names that a module's import statements hold."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    return tuple(name for node in _statements(tree.body) for name in _names(node))


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements, however deep. Expressions hold no imports, and are most of a tree."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, part, ()))


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _file(module: str) -> Path:
    return PACKAGE.parent.joinpath(*module.split("."))


def _exists(module: str) -> bool:
    base = _file(module)
    return base.with_name(base.name + ".py").is_file() or (base / "__init__.py").is_file()


def _path(module: str) -> Path:
    base = _file(module)
    single = base.with_name(base.name + ".py")
    return single if single.is_file() else base / "__init__.py"


def _data(module: str) -> list[Path]:
    """Data files beside a benchmark's code, but for what only the report shows; the templates of the report."""
    path = _path(module)
    if path.parent.name == "report":
        return sorted(p for p in (path.parent / "templates").iterdir() if p.is_file())
    if path.parents[1].name != "benchmarks":
        return []
    return [p for p in path.parent.iterdir() if p.suffix in DATA and p.name not in NOT_SCORING]
