"""The one kind of error that a user's input can cause, and how it reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike


class InputError(Exception):
    """Something that the user can put right. Shown as one line, without a traceback; the exit code is 2.

    file: what the message is about, as the user named it; what: what is wrong, how many, the first example;
    fix: what to do.
    """

    def __init__(self, file: str | PathLike[str], what: str, fix: str) -> None:
        self.file, self.what, self.fix = str(file), what.rstrip("."), fix
        super().__init__(self.line())

    def line(self) -> str:
        """The whole message on one line, whatever control characters the parts held."""
        stop = "" if self.what.endswith("?") else "."
        text = f"{self.file}: {self.what}{stop} {self.fix}"
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        """Survive the way back from a worker process."""
        return type(self), (self.file, self.what, self.fix)


def quoted(name: object, longest: int = 80) -> str:
    """A name for a message: in double quotes, escaped, cut where it is absurdly long."""
    text = str(name)
    shown = text if len(text) <= longest else f"{text[:longest]}... ({len(text)} characters)"
    return '"' + shown.replace('"', '\\"') + '"'


def first_of(names: Iterable[object]) -> str:
    """`first "27:81"` of the names in their own order, or an empty string."""
    name = next(iter(names), None)
    return "" if name is None else f"first {quoted(name)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`, did you mean "models"?` where a known name is near, otherwise the list of what there is."""
    choices = sorted(known)
    near = [c for c in choices if c.casefold() == name.casefold()]
    near = near or difflib.get_close_matches(name, choices, n=3, cutoff=0.6)
    if near:
        return ", did you mean " + " or ".join(quoted(n) for n in near) + "?"
    return "; there is " + (", ".join(choices) if choices else "none")
