"""Start-up: a stage's command against its imports alone, and `--help` against `import typer`."""

from __future__ import annotations

import subprocess
import sys

from tests.speed import Result, compare

# What a stage cannot do without: the command line, tables, and NumPy.
IMPORTS = "import typer, typer.main, numpy, pyarrow, pyarrow.parquet"


def run() -> list[Result]:
    """CPU time of whole processes. A command that ends at once on an unknown name has started up and imported its stage."""
    return [
        _against("groundeval --help", ["-m", "groundeval", "--help"], "import typer", "import typer", 3.0),
        _against("groundeval benchmarks", ["-m", "groundeval", "benchmarks"], "its imports", IMPORTS, 1.5),
        _against("groundeval convert", ["-m", "groundeval", "convert", "x", *_FILES], "its imports", IMPORTS, 1.5),
    ]


_FILES = ["--manifest", "/nowhere", "--predictions", "/nowhere", "--format", "mask_png", "--out", "/nowhere"]


def _against(name: str, arguments: list[str], peer: str, program: str, goal: float) -> Result:
    def call(command: list[str]) -> None:
        subprocess.run([sys.executable, *command], check=False, capture_output=True)

    return compare(name, peer, lambda: call(arguments), lambda: call(["-c", program]), goal, rounds=9, children=True)
