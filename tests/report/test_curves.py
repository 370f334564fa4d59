"""Curves beside a run become lines of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from groundeval.errors import InputError
from groundeval.stages.report import report
from report import made_up

HEAD = "curve,threshold,recall,precision\n"


def page(tmp_path: Path, *curves: str) -> str:
    files = made_up.write(tmp_path, *(made_up.run(f"m{i}") for i in range(len(curves))))
    for file, text in zip(files, curves, strict=True):
        file.with_name("curves.csv").write_text(text, encoding="utf-8")
    return report(files, tmp_path / "out").read_text(encoding="utf-8")


def test_each_model_is_a_line_of_the_same_plot(tmp_path: Path) -> None:
    html = page(tmp_path, HEAD + "AP/a,1,0.5,1.0\nAP/a,0,1.0,0.25\n", HEAD + "AP/a,0,1.0,0.0\nAP/b,0,0.0,1.0\n")
    assert re.findall(r'<polyline points="([^"]*)"', html) == ["150.0,0.0 300.0,225.0", "300.0,300.0", "0.0,0.0"]
    assert len(re.findall("<svg", html)) == 2


def test_no_curve_no_plot(tmp_path: Path) -> None:
    assert "<svg" not in page(tmp_path, HEAD)


def test_a_long_curve_is_thinned_and_keeps_its_ends(tmp_path: Path) -> None:
    rows = "".join(f"AP/a,{i},{i / 65535!r},{1 - i / 65535!r}\n" for i in range(65536))
    points = re.findall(r'<polyline points="([^"]*)"', page(tmp_path, HEAD + rows))[0].split()
    assert 100 < len(points) <= 201
    assert (points[0], points[-1]) == ("0.0,0.0", "300.0,300.0")


def test_a_name_is_text(tmp_path: Path) -> None:
    assert "<script" not in page(tmp_path, HEAD + "<script>x</script>,0,1.0,1.0\n")


def test_a_broken_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run's metrics"):
        page(tmp_path, HEAD + "AP/a,0,high,1.0\n")
