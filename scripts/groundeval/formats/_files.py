"""The files of a folder by the name that each is an answer for. A file that is no answer is never passed over silently."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from groundeval.errors import InputError, first_of, quoted
from groundeval.sources.folder import Source


@dataclass(frozen=True)
class Layout:
    """Which files of a folder are answers. Both patterns are regular expressions for a whole path below the folder."""

    answer: str  # its group `name` is what the answer is named by
    expects: str  # how a message names it
    beside: str = r"(?!)"  # what the producer writes beside the answers; counted, not read
    several: bool = False  # whether a name may have several files


def find(
    source: Source, layout: Layout, notes: Counter[str], skip: Iterable[str | None] = ()
) -> Mapping[str, list[str]]:
    """Name -> its files, sorted. `skip`: files of another purpose. Any other file is an InputError."""
    source.expect_folder(f"{layout.expects} files")
    names = [n for n in source.names() if n not in set(skip)]
    answer, beside = re.compile(layout.answer), re.compile(layout.beside)
    left_out = [n for n in names if beside.fullmatch(n)]
    found = {n: answer.fullmatch(n) for n in names if not beside.fullmatch(n)}
    if strangers := [n for n, match in found.items() if match is None]:
        what = f"{len(strangers)} of {len(names)} files are no {layout.expects}, {first_of(strangers)}"
        raise InputError(source.path, what, "Keep only the answers in the folder.")
    if left_out:
        notes[f"files beside the answers, not read, as {quoted(left_out[0])}"] += len(left_out)
    files: dict[str, list[str]] = {}
    for name, match in found.items():
        files.setdefault(match["name"] if match else name, []).append(name)
    _check_single(files, source, layout)
    return files


def _check_single(files: Mapping[str, list[str]], source: Source, layout: Layout) -> None:
    doubled = [name for name, paths in files.items() if len(paths) > 1]
    if doubled and not layout.several:
        what = f"{len(doubled)} of {len(files)} names have several files, first {quoted(doubled[0])}"
        raise InputError(source.path, f"{what}: {', '.join(files[doubled[0]])}", "Keep one answer a sample.")
