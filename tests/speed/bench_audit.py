"""What auditing adds: provenance and verify's level 1 together, against an evaluation without them.

The official InstructPart split where the real inputs are, otherwise as many pairs made here: 600. In one process,
as in `groundeval evaluate`: what starting Python costs is the same for all stages and measured in bench_startup.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from unittest.mock import patch

from groundeval import closure
from groundeval.benchmarks import instructpart
from groundeval.stages import evaluate, provenance, verify
from tests.speed import Result, bench_instructpart, compare

GOAL = 0.15
PAIRS = 600


def run() -> list[Result]:
    """Truth as prediction. The evaluation writes its results, as the peer of what is written beside them."""
    official = patch.object(bench_instructpart, "MADE", PAIRS)
    with official, bench_instructpart._split() as raw, tempfile.TemporaryDirectory() as folder:
        masks, out = raw / instructpart.FILES["test"][0] / "masks", Path(folder, "out")
        evaluate.run("instructpart", raw, "test", masks, "mask_png", {}, out, "truth")
        name = "provenance and verify --level 1"
        return [compare(name, "evaluation", lambda: _audit(out, raw, masks), lambda: _evaluate(raw, masks), GOAL)]


def _evaluate(raw: Path, masks: Path) -> None:
    """All but the provenance, which is written only with the results."""
    content = evaluate.run("instructpart", raw, "test", masks, "mask_png", {}, None, "truth")
    assert content["metrics"]["gIoU"]["value"] == 100


def _audit(out: Path, raw: Path, masks: Path) -> None:
    for cached in (closure._imported, closure._mentioned):
        cached.cache_clear()  # a process reads the source files once
    provenance.alone(out, raw, masks, False)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert verify.run(verify.Asked(out, level=1, root=masks.parent)), said.getvalue()
