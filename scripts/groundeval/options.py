"""Declared options: what a format or a benchmark must be told, and the check of what the user said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from groundeval.errors import InputError, did_you_mean, quoted

REQUIRED: Any = object()


@dataclass(frozen=True)
class Option:
    """One option. kind: what its value is; default: REQUIRED where only the user can know; choices for kind "choice"."""

    kind: Literal["choice", "number", "integer", "text", "flag"]
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()

    def parse(self, name: str, value: Any, where: str) -> Any:
        """The value in its type, from text (`--set name=value`) or from YAML."""
        if value is None and self.default is not REQUIRED:
            return None
        parsed = _PARSERS[self.kind](self, value)
        if parsed is None:
            raise InputError(where, f"{name}={value} is not {self.wants()}", f"Say --set {name}=...: {self.help}")
        return parsed

    def wants(self) -> str:
        """What a value has to be, for messages."""
        return (
            "one of " + ", ".join(self.choices)
            if self.kind == "choice"
            else f"{'an' if self.kind == 'integer' else 'a'} {self.kind}"
        )


def _choice(option: Option, value: Any) -> str | None:
    return value if value in option.choices else None


def _number(_: Option, value: Any) -> float | None:
    try:
        number = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return number if number is not None and abs(number) < float("inf") else None


def _integer(option: Option, value: Any) -> int | None:
    number = _number(option, value)
    return int(number) if number is not None and number == int(number) else None


def _text(_: Option, value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _flag(_: Option, value: Any) -> bool | None:
    return {"true": True, "false": False}.get(str(value).lower())


_PARSERS: Mapping[str, Any] = {
    "choice": _choice,
    "number": _number,
    "integer": _integer,
    "text": _text,
    "flag": _flag,
}


def resolve(declared: Mapping[str, Option], said: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Every declared option with its value, in the declared order; unknown and undeclared ones are errors."""
    for name in said:
        if name not in declared:
            raise InputError(where, f"unknown option {quoted(name)}{did_you_mean(name, declared)}", "Correct the name.")
    for name, option in declared.items():
        if option.default is REQUIRED and name not in said:
            raise InputError(
                where, f"{name} is not declared", f"Say --set {name}=... ({option.wants()}): {option.help}"
            )
    return {n: o.parse(n, said[n], where) if n in said else o.default for n, o in declared.items()}
