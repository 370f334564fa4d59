"""How numbers look, and how text that others wrote stays text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groundeval.metrics.ratios import Metric

# A spreadsheet takes a cell that starts so for a formula; the wide forms are those of East Asian keyboards.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
ABSENT = "-"  # ASCII: a terminal may know nothing else


def visible(text: object) -> str:
    """Text in which each control, direction and line-break character is seen as its escape, and acts no more."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def number(metric: Metric | None) -> str:
    """A value with as many digits as are read: 62.10 percent, 0.6210; n/a where it does not exist."""
    if metric is None:
        return ABSENT
    if metric.value is None:
        return "n/a"
    return f"{metric.value:.2f}" if metric.unit == "percent" else f"{metric.value:.4f}"


def interval(metric: Metric | None) -> str:
    """The two ends of a 95 % interval with the digits of the value; "" where there is none."""
    if metric is None or metric.interval is None:
        return ""
    low, high = (number(replace(metric, value=end)) for end in metric.interval)
    return f"[{low}, {high}]"


def amount(count: float | int | None) -> str:
    """A count or a sum: 12,345 or 12,345.6789."""
    if count is None:
        return ABSENT
    return f"{count:,}" if isinstance(count, int) else f"{count:,.4f}"


def division(metric: Metric | None) -> str:
    """What was divided by what, or why nothing was."""
    if metric is None:
        return ABSENT
    if metric.value is None:
        return f"n/a: {visible(metric.reason or 'no reason given')}"
    if metric.numerator is None and metric.denominator is None:
        return ABSENT
    return f"{amount(metric.numerator)} / {amount(metric.denominator)}"


def exact(metric: Metric | None) -> str:
    """The whole value with its numerator and denominator, for a tooltip; "" where there is nothing to say."""
    if metric is None:
        return ""
    if metric.value is None:
        return visible(metric.reason or "no reason given")
    parts = "" if metric.numerator is None else f" = {metric.numerator!r} / {metric.denominator!r}"
    ends = "" if metric.interval is None else f"; 95 %: {metric.interval[0]!r} to {metric.interval[1]!r}"
    method = "" if metric.interval_method is None else f"; interval: {visible(metric.interval_method)}"
    return f"{metric.value!r} {metric.unit}{parts}{ends}{method}"


def told(options: Mapping[str, Any]) -> str:
    """Options as they are said on the command line; those without a value are left out."""
    said = {name: str(value).lower() if isinstance(value, bool) else value for name, value in options.items()}
    return " ".join(f"{name}={visible(value)}" for name, value in said.items() if value is not None)


def spreadsheet(cell: object) -> object:
    """A csv cell. Numbers stay numbers, negative ones too; text that would be a formula gets an apostrophe."""
    if cell is None or isinstance(cell, int | float):
        return cell
    text = str(cell)
    starts = text.startswith(FORMULA) or text.lstrip().startswith(FORMULA)
    return ("'" if starts else "") + visible(text)


def markdown(text: object) -> str:
    """Text for a Markdown table cell: no markup, no HTML, no cell border in it."""
    escaped = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*|\[\]~$!]|(?<!\w)_|_(?!\w))", r"\\\1", escaped)
