"""The code that a rule depends on: complete, and no more than that."""

from __future__ import annotations

import subprocess
import sys

import pytest

from groundeval import benchmarks, closure

STAGES = {
    "stages.split": "truth",
    "stages.prepare": "truth",
    "stages.score": "protocol",
    "stages.aggregate": "protocol",
}


def test_a_metric_belongs_to_those_who_use_it() -> None:
    matching = "scripts/groundeval/metrics/matching.py"
    assert matching in closure.files("stages.score", "benchmarks.grefcoco.protocol")
    assert matching not in closure.files("stages.score", "benchmarks.instructpart.protocol")


@pytest.mark.parametrize("benchmark", benchmarks.names())
def test_published_rows_and_cards_are_not_scoring_code(benchmark: str) -> None:
    files = closure.files("stages.score", f"benchmarks.{benchmark}.protocol")
    assert not [f for f in files if f.endswith(("README.md", "published.yaml"))]


@pytest.mark.parametrize("benchmark", benchmarks.names())
@pytest.mark.parametrize("stage", STAGES)
def test_nothing_is_loaded_that_is_not_listed(benchmark: str, stage: str) -> None:
    """What Python really loads is a subset of what is listed."""
    listed = closure.files(stage, f"benchmarks.{benchmark}.{STAGES[stage]}")
    program = (
        f"import sys, importlib; importlib.import_module('groundeval.{stage}')\n"
        f"importlib.import_module('groundeval.benchmarks.{benchmark}.{STAGES[stage]}')\n"
        "print('\\n'.join(m.__file__ for n, m in sys.modules.items() if n.startswith('groundeval')))"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert loaded
    for path in loaded:
        assert any(path.endswith(name) for name in listed), path
