"""Declared options."""

from __future__ import annotations

import pytest

from groundeval.errors import InputError
from groundeval.options import REQUIRED, Option, resolve

DECLARED = {
    "boxes": Option("choice", "how corners are given", REQUIRED, ("xyxy", "xywh")),
    "threshold": Option("number", "a score"),
    "count": Option("integer", "how many", 3),
    "flag": Option("flag", "yes or no", False),
}


def test_text_becomes_its_type_and_defaults_stand() -> None:
    said = {"boxes": "xywh", "threshold": "0.7", "flag": "true"}
    assert resolve(DECLARED, said, "f") == {"boxes": "xywh", "threshold": 0.7, "count": 3, "flag": True}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, "boxes is not declared. Say --set boxes=... (one of xyxy, xywh)"),
        ({"boxes": "xyyx"}, "boxes=xyyx is not one of xyxy, xywh"),
        ({"boxes": "xyxy", "treshold": "1"}, 'unknown option "treshold", did you mean "threshold"?'),
        ({"boxes": "xyxy", "threshold": "nan"}, "threshold=nan is not a number"),
        ({"boxes": "xyxy", "threshold": "inf"}, "threshold=inf is not a number"),
        ({"boxes": "xyxy", "threshold": True}, "threshold=True is not a number"),
        ({"boxes": "xyxy", "count": "1.5"}, "count=1.5 is not an integer"),
        ({"boxes": "xyxy", "flag": "perhaps"}, "flag=perhaps is not a flag"),
    ],
)
def test_what_is_refused(said: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(DECLARED, said, "format f")
    assert message in caught.value.line()
