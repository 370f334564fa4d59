"""One line, whatever the parts hold."""

from __future__ import annotations

import pickle

from groundeval.errors import InputError, did_you_mean, first_of, quoted


def test_line_has_file_what_and_fix() -> None:
    assert (
        InputError("a.json", "3 of 5 are wrong.", "Correct them.").line() == "a.json: 3 of 5 are wrong. Correct them."
    )


def test_control_characters_do_not_break_the_line() -> None:
    line = InputError("a\nb", "x\x00\u202e", "y\r").line()
    assert line == "a\\nb: x\\x00\\u202e. y\\r"


def test_survives_a_worker_process() -> None:
    error = InputError("a", "b", "c")
    assert pickle.loads(pickle.dumps(error)).line() == error.line()


def test_quoted_cuts_absurd_names() -> None:
    assert quoted("a" * 5000) == '"' + "a" * 80 + '... (5000 characters)"'


def test_first_of() -> None:
    assert first_of(["b", "a"]) == 'first "b"'
    assert first_of([]) == ""


def test_did_you_mean() -> None:
    assert did_you_mean("modles", ["models", "splits"]) == ', did you mean "models"?'
    assert did_you_mean("zzz", ["models", "splits"]) == "; there is models, splits"
