"""Start-up: `--help` against `import typer`; each rule's whole job on a small dataset against its libraries' imports."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from groundeval import benchmarks
from tests.speed import Result, compare

COMMAND = "import typer, typer.main, typer._adapters"  # the last: what typer loads to read arguments
TABLES = f"{COMMAND}, numpy, pyarrow, pyarrow.parquet, pycocotools.mask"
COMPUTE = f"{TABLES}, pyarrow.compute, yaml"
DECODE = f"{TABLES}, kornia_rs"
NAME, SPLIT, MODEL = "instructpart", "test", "almost"  # 41 samples, PNG masks


def run() -> list[Result]:
    """CPU time of whole processes."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        given = benchmarks.part(NAME, "demo")
        for made in ("raw", "given"):
            (folder / made).mkdir()
        given.write(folder / "raw", 1)
        given.predict(folder / "raw", folder / "given", MODEL, 1)
        return [
            _against(folder, "--help", [], "import typer", 3.0),
            *(_against(folder, words[0], words, libraries, 1.5) for words, libraries in _jobs(given.MODELS[MODEL])),
        ]


def _jobs(model: dict[str, object]) -> list[tuple[list[str], str]]:
    """A rule's command, with what it imports; in the pipeline's order, since each reads what the one before wrote."""
    manifest, truth, answers = "--manifest m.parquet", "--truth t.parquet", "--predictions p.parquet"
    counts = "--samples s.parquet --histograms h.parquet"
    said = [
        (f"split {NAME} --split {SPLIT} --raw raw --out m.parquet", TABLES),
        (f"prepare --raw raw {manifest} --out t.parquet", DECODE),
        (f"convert {NAME} {manifest} --predictions given --format {model['format']} --out p.parquet", DECODE),
        (f"score {manifest} {truth} {answers} --model x --out s.parquet --histograms h.parquet", COMPUTE),
        (f"aggregate {counts} --out metrics.json --summary summary.json --curves curves.csv", TABLES),
    ]
    return [(command.split(), libraries) for command, libraries in said]


def _against(folder: Path, name: str, words: list[str], libraries: str, goal: float) -> Result:
    def call(*command: str) -> None:
        subprocess.run([sys.executable, *command], check=True, capture_output=True, cwd=folder)

    ours = ["-m", "groundeval", *(words or [name])]
    peer = libraries.split(",")[0] if not words else "its libraries' imports"
    return compare(
        f"groundeval {name}", peer, lambda: call(*ours), lambda: call("-c", libraries), goal, rounds=7, children=True
    )
