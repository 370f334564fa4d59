"""groundeval in a child process with limits, and everything that it left behind.

The processes are forked from one in which groundeval is loaded, so that one costs some 0.1 s.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534
ROOM = 3 << 29  # bytes of address space that a run may add: 1.5 GiB
_SECONDS = 60
_LOADED = ["groundeval.cli", "groundeval.stages.evaluate", "groundeval.stages.report", "groundeval.stages.inspect"]
_LOADED += ["groundeval.formats.mask_png", "groundeval.formats.coco_rle", "groundeval.formats.boxes_json"]
_LOADED += ["groundeval.benchmarks.instructpart.protocol", "groundeval.benchmarks.grefcoco.protocol", "zstandard"]
_LOADED += ["groundeval.benchmarks.gmrp.protocol", "kornia_rs", "tests.security.child"]
_LOADED += ["groundeval.report.leaderboard", "groundeval.plan", "typer._adapters", "rich.table", "PIL.Image", "cv2"]

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(_LOADED)


@dataclass(frozen=True)
class Done:
    """What came of a run. code: negative where a signal ended it; peak: bytes of memory; files: what is in `cwd` now."""

    code: int
    out: str
    err: str
    peak: int
    files: set[str]


def run(
    cwd: Path,
    arguments: Sequence[str],
    limits: Mapping[int, int] | None = None,
    user: int | None = None,
    room: int = ROOM,
) -> Done:
    """Run one command in `cwd`. `limits`: of module resource; `user`: as whom it runs; `room`: its share of memory."""
    process, paths = start(cwd, arguments, limits, user, room)
    process.join(_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
    return finished(cwd, process.exitcode, paths)


def start(
    cwd: Path,
    arguments: Sequence[str],
    limits: Mapping[int, int] | None = None,
    user: int | None = None,
    room: int = ROOM,
) -> tuple[multiprocessing.process.BaseProcess, list[Path]]:
    """As `run`, without waiting for the end. The paths are those of its outputs, beside `cwd`."""
    names = ("out", "err", "peak")
    paths = [cwd.with_name(f"{cwd.name}.{os.urandom(4).hex()}.{name}") for name in names]
    for path in paths:
        path.touch()
    given = (str(cwd), list(arguments), [str(p) for p in paths], dict(limits or {}), user, room)
    process = _CONTEXT.Process(target=_main, args=given, daemon=True)
    process.start()
    return process, paths


def finished(cwd: Path, code: int | None, paths: Sequence[Path]) -> Done:
    """What came of a started run."""
    assert code is not None, "the run did not end"
    out, err, peak = (path.read_text(encoding="utf-8", errors="backslashreplace") for path in paths)
    return Done(code, out, err, int(peak or 0), listing(cwd))


def listing(folder: Path) -> set[str]:
    """Everything below a folder, hidden things too."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def _main(
    cwd: str, arguments: list[str], paths: list[str], limits: dict[int, int], user: int | None, room: int
) -> None:
    peak = os.open(paths[2], os.O_WRONLY)
    for number, path in enumerate(paths[:2], 1):
        os.dup2(os.open(path, os.O_WRONLY), number)
    os.chdir(cwd)
    os.environ["TMPDIR"] = cwd
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for what, most in {resource.RLIMIT_AS: used + room, **limits}.items():
        resource.setrlimit(what, (most, most))
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    code = _command(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(peak, str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024).encode())
    os._exit(code)


def _command(arguments: list[str]) -> int:
    """The command line itself, as `python -m groundeval`."""
    from groundeval import cli

    sys.argv = ["groundeval", *arguments]
    try:
        cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0
