"""What several commands take, and how it is read."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from groundeval.errors import InputError, quoted

Sets = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option; may be repeated.")]
Benchmark = Annotated[str, typer.Argument(help="See `groundeval benchmarks`.")]
Split = Annotated[str, typer.Option(help="One of the benchmark's splits.")]
Out = Annotated[Path, typer.Option(help="What to write.")]
Format = Annotated[str, typer.Option("--format", help="See `groundeval formats`; or FILE.py:FUNCTION, your own code.")]
Incomplete = Annotated[bool, typer.Option("--allow-incomplete", help="Count missing and invalid answers as wrong.")]
Cores = Annotated[int, typer.Option(min=0, help="How many to use for one run; 0: all. The results are the same.")]


def using(count: int) -> AbstractContextManager[None]:
    """Within it a run uses that many cores; 0: all."""
    from groundeval import cores

    return cores.using(count or cores.available())


def said(pairs: list[str] | None) -> dict[str, Any]:
    """`--set name=value` pairs as a dictionary."""
    said: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError("--set", f"{pair!r} is not NAME=VALUE", "Write for example --set boxes=xyxy.")
        if name in said:
            raise InputError("--set", f"{name} is said twice", "Say it once.")
        said[name] = value
    return said


def named_after(path: Path) -> str:
    """A name for the model whose predictions these are."""
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z0-9._-]+", "_", path.resolve().stem).strip("_")[:100] or "model"


def model(name: str) -> str:
    """The name as it is; InputError where it could not be a folder's."""
    from groundeval.plan import NAME, NAMES

    if not NAME.fullmatch(name):
        raise InputError("--model", f"{quoted(name)} is not a name for a model", NAMES)
    return name
