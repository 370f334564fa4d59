"""Every producer of the README's table is recognised: inspect proposes what the table says, or lists it as an equal."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from formats import golden
from formats.golden import Golden
from groundeval.stages import evaluate, inspect
from inspection import truths

_OWN_TO_CHOOSE = ("score_threshold", "none_text")  # which the files cannot tell; the proposed ones must work


def proposed(out: str) -> tuple[str, dict[str, str]]:
    """Format and options of the printed command."""
    words = shlex.split(re.findall(r"^  (groundeval evaluate .*)$", out, re.M)[-1])
    sets = dict(w.split("=", 1) for before, w in pairwise(words) if before == "--set")
    return words[words.index("--format") + 1], sets


def equals(out: str) -> list[tuple[str, dict[str, str]]]:
    """What fits as well."""
    part = out.partition("the files cannot tell which is meant:\n")[2].partition("\n\n")[0]
    lines = [shlex.split(line) for line in part.splitlines()]
    return [(words[0], dict(w.split("=", 1) for w in words[1:] if "=" in w)) for words in lines]


def number(laid: truths.Laid, name: str, said: dict[str, str]) -> dict[str, Any]:
    """All metrics."""
    content = evaluate.run(laid.benchmark, laid.raw, laid.split, laid.files, name, said, None, "m")
    return dict(content["metrics"])


@pytest.mark.parametrize("sample", golden.everything(), ids=lambda g: g.producer)
def test_every_producer_is_recognised(sample: Golden, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    laid = truths.lay(sample, tmp_path)
    inspect.run(inspect.Asked(laid.files, laid.benchmark, laid.raw, laid.split, {}, tmp_path / "out"))
    out = capsys.readouterr().out
    name, said = proposed(out)
    told = {key: value for key, value in sample.said.items() if key not in _OWN_TO_CHOOSE}
    readings = [(name, said), *equals(out)]
    assert any(n == sample.format and told.items() <= s.items() for n, s in readings), out
    assert number(laid, name, said) == number(laid, sample.format, dict(sample.said)), out


@pytest.mark.parametrize("sample", golden.everything(), ids=lambda g: g.producer)
def test_without_a_benchmark_too(sample: Golden, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample.write(tmp_path)
    inspect.run(inspect.Asked(tmp_path))
    fitting, _, others = capsys.readouterr().out.partition("does not fit")
    if sample.format.startswith("scores_"):
        assert re.search(rf"\n  {sample.format} .*needs classes of the benchmark; give --benchmark", others)
    elif sample.said.get("size") == "manifest":  # nothing in the file says how large a mask is
        assert "segmentation is no {size, counts}" in others
    else:
        assert f"\n  {sample.format} " in fitting
