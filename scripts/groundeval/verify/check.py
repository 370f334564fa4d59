"""A verdict on one thing: PASS or FAIL with reasons, and what could not be checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from groundeval.errors import InputError


@dataclass
class Check:
    """What was found. Without a failure it passes, whatever else could not be checked: that is said beside it."""

    title: str
    failed: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: bool = True  # False: nothing at all could be

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or "not checked" where nothing could be."""
        return "FAIL" if self.failed else "PASS" if self.checked else "not checked"

    def expect(self, true: object, reason: str | Callable[[], str]) -> bool:
        """Fail with the reason unless it is true."""
        if not true:
            self.failed.append(reason if isinstance(reason, str) else reason())
        return bool(true)

    def leave(self, *reasons: str) -> None:
        """Nothing can be checked, for these reasons."""
        self.unchecked.extend(reasons)
        self.checked = False

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Whatever cannot be read or worked out inside is a failure with its reason, never a traceback."""
        try:
            yield
        except InputError as error:
            self.failed.append(f"{what}: {error.file}: {error.what}")
        except Exception as error:  # altered files may break anything
            self.failed.append(f"{what}: {type(error).__name__}: {error}")

    def lines(self) -> Iterator[str]:
        """For the terminal."""
        yield f"  {self.title:<28} {self.verdict}"
        for mark, texts in (("", self.failed), ("not checked: ", self.unchecked), ("note: ", self.notes)):
            yield from (f"      {mark}{_one_line(text)}" for text in dict.fromkeys(texts))


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
