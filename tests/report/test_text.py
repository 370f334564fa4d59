"""Numbers as they are shown, and foreign text that stays text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundeval.metrics.ratios import Metric
from groundeval.report import text
from groundeval.report.published import in_unit

HIDDEN = "\u202e\u200f\u2066\u200b\x1b\x00\r\n\t"


@pytest.mark.parametrize(
    ("metric", "shown", "division", "exact"),
    [
        (Metric(62.098, "percent", 1.25, 2), "62.10", "1.2500 / 2", "62.098 percent = 1.25 / 2"),
        (Metric(2 / 3, "fraction", 20000, 30000), "0.6667", "20,000 / 30,000", f"{2 / 3!r} fraction = 20000 / 30000"),
        (Metric(None, "fraction", 0, 0, reason="no such samples"), "n/a", "n/a: no such samples", "no such samples"),
        (Metric(28.0, "percent", None, None), "28.00", "-", "28.0 percent"),
        (None, "-", "-", ""),
    ],
)
def test_a_metric_is_shown(metric: Metric | None, shown: str, division: str, exact: str) -> None:
    assert (text.number(metric), text.division(metric), text.exact(metric)) == (shown, division, exact)


@settings(max_examples=80)
@given(st.text(st.sampled_from(HIDDEN + "aא=<"), max_size=8))
def test_characters_that_act_become_visible(name: str) -> None:
    seen = text.visible(name)
    assert seen.isprintable()
    assert seen.count("א") == name.count("א")  # letters of right-to-left scripts stay


@settings(max_examples=100)
@given(st.text(st.sampled_from("=+-@＝ \t\r\n1a'"), max_size=6))
def test_no_text_cell_is_a_formula(name: str) -> None:
    cell = str(text.spreadsheet(name))
    assert not cell.lstrip().startswith(text.FORMULA)
    assert cell in (text.visible(name), "'" + text.visible(name))
    assert cell.startswith("'") == name.startswith("'") or name.strip()[:1] in text.FORMULA or name[:1] in "\t\r\n"


@pytest.mark.parametrize("cell", [-1, -0.5, 1e-9, 0, None])
def test_numbers_are_no_text(cell: float | None) -> None:
    assert text.spreadsheet(cell) is cell


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "  =1", "＝1"])
def test_text_like_a_formula_gets_an_apostrophe(cell: str) -> None:
    assert str(text.spreadsheet(cell)).startswith("'")


@pytest.mark.parametrize(
    ("said", "escaped"),
    [
        ("set_accuracy", "set_accuracy"),
        ("_a_ *b*", r"\_a\_ \*b\*"),
        ("a|b\nc", r"a\|b\\nc"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("![x](y)", r"\!\[x\](y)"),
    ],
)
def test_markdown_text_has_no_markup(said: str, escaped: str) -> None:
    assert text.markdown(said) == escaped


def test_options_read_as_on_the_command_line() -> None:
    assert (
        text.told({"boxes": "xywh", "threshold": None, "resize": False, "score": 0.7})
        == "boxes=xywh resize=false score=0.7"
    )


@settings(max_examples=80)
@given(st.decimals(0, 100, places=2))
def test_the_unit_of_a_published_value_moves_only_its_point(value: Decimal) -> None:
    percent = Metric(float(value), "percent", None, None)
    fraction = in_unit(percent, "fraction")
    assert fraction.value == float(value / 100)
    assert in_unit(fraction, "percent") == percent
    assert in_unit(percent, "percent") is percent
