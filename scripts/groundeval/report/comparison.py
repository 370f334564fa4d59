"""A comparison of runs as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundeval.report.text import visible


def lines(content: Mapping[str, Any]) -> Iterator[str]:
    """The comparison as text: a block a metric, a line a pair."""
    images, runs = content["images"], len(content["runs"])
    yield f"{content['benchmark']}, {content['split']}: {content['samples']} samples of {images} images, {runs} runs"
    for name, metric in content["metrics"].items():
        percent, digits = metric["unit"] == "percent", 2 if metric["unit"] == "percent" else 4
        yield f"\n{name}{' (%)' if percent else ''}, best: {', '.join(map(visible, metric['best']))}"
        for pair in metric["pairs"]:
            yield f"  {_said(pair, metric['values'], digits)}"
    yield from (f"\n{name}: not compared, {why}" for name, why in content["not_compared"].items())
    said = content["method"]
    yield f"\nIntervals: {said['interval']}. p: {said['p']}; corrected: {said['p_corrected']}."


def _said(pair: Mapping[str, Any], values: Mapping[str, float], digits: int) -> str:
    (a, b), ends = pair["of"], pair["interval"]
    shown = "no interval" if ends is None else f"[{ends[0]:+.{digits}f}, {ends[1]:+.{digits}f}]"
    of = f"{visible(a)} {values[a]:.{digits}f} - {visible(b)} {values[b]:.{digits}f}"
    alone = "" if "only_one_right" not in pair else ", alone right {} and {}".format(*pair["only_one_right"])
    ps = f"p {pair['p']:.4f}, corrected {pair['p_corrected']:.4f}"
    return f"{of} = {pair['difference']:+.{digits}f} {shown}, {ps}{alone}: {'tie' if pair['tie'] else 'differ'}"
