"""The command line: what commands there are, in the order of the help, and how a mistake is told."""

from __future__ import annotations

import gc
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from groundeval.commands import audit, stages, user
from groundeval.errors import InputError

app = typer.Typer(
    name="groundeval",
    help="From prediction files to benchmark numbers that can be trusted and audited.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@dataclass
class _State:
    """What the options before the command say."""

    log: Path | None = None


state = _State()


@app.callback()
def root(log: Annotated[Path | None, typer.Option(help="Also write an error message to this file.")] = None) -> None:
    """From prediction files to benchmark numbers that can be trusted and audited."""
    state.log = log
    if log is not None:  # a job of several, which run side by side
        from groundeval.sources import progress

        progress.settings["bars"] = False


_USER = "evaluate", "compare", "benchmarks", "formats", "inspect", "demo", "package", "dvc"
_STAGES = "settings", "download", "split", "prepare", "convert", "score", "aggregate", "provenance", "report"
_AUDIT = "verify", "trace", "sign", "crate"

for _panel, _module, _names in (
    (None, user, _USER),
    ("Stages (the pipeline calls these)", stages, _STAGES),
    ("Audit", audit, _AUDIT),
):
    for _name in _names:
        app.command(rich_help_panel=_panel)(getattr(_module, _name))


def main() -> None:
    """Run a command. A user's mistake is one line on stderr and exit code 2."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a command is one job on one core; a second thread only waits
    gc.set_threshold(1_000_000)  # a million objects of a file are no garbage; looking is a tenth of the time
    try:
        if any(word == "" or re.fullmatch("--[a-z-]+=", word) for word in sys.argv[1:]):
            raise InputError("groundeval", "an argument is empty", "Is it a variable of the shell that is not set?")
        app()
    except InputError as error:
        _fail(error.line())
    except OSError as error:
        said = InputError(
            error.filename or "groundeval", error.strerror or str(error), "Check permissions and free space."
        )
        _fail(said.line())
    except MemoryError:
        _fail("groundeval: out of memory. Give the process more, or split the predictions into several files.")


def _fail(line: str) -> None:
    print(line, file=sys.stderr)
    if state.log is not None:
        state.log.parent.mkdir(parents=True, exist_ok=True)
        state.log.write_text(line + "\n", encoding="utf-8")
    raise SystemExit(2)
