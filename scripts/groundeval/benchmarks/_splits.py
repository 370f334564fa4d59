"""Splits of datasets whose official lists were never published: the user's lists, else a seeded split that says so."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from groundeval.errors import InputError, did_you_mean, first_of, quoted
from groundeval.options import Option

OPTIONS: Mapping[str, Option] = {
    "split_lists": Option(
        "text", "folder with train.txt, val.txt, test.txt, one frame a line; default: splits/ of the data"
    ),
    "split_seed": Option("integer", "seed of the split where there are no lists", 0),
}


def choose(
    raw: Path,
    split: str,
    frames: Sequence[str],
    shares: Mapping[str, int],
    options: Mapping[str, Any],
    notes: Counter[str],
) -> list[str]:
    """The sorted frames of a split. shares: split -> its size in the paper, in the order in which frames are dealt."""
    said = options.get("split_lists")
    folder = Path(said) if said else raw / "splits"
    if said or folder.is_dir():
        return sorted(_listed(folder, split, frames, shares))
    seed = options.get("split_seed") or 0
    chosen = seeded(frames, shares, seed)[split]
    notes[f"frames of a split seeded with {seed}, not the paper's split"] += len(chosen)
    return chosen


def seeded(frames: Sequence[str], shares: Mapping[str, int], seed: int) -> dict[str, list[str]]:
    """Frames dealt in the order of sha256("seed/frame"), the same everywhere and forever; sizes by cumulative rounding."""
    order = sorted(frames, key=lambda frame: hashlib.sha256(f"{seed}/{frame}".encode()).digest())
    whole = sum(shares.values())
    ends = [(2 * len(order) * upto + whole) // (2 * whole) for upto in accumulate(shares.values())]
    return {n: sorted(order[start:end]) for n, start, end in zip(shares, [0, *ends], ends, strict=False)}


def _listed(folder: Path, split: str, frames: Sequence[str], shares: Mapping[str, int]) -> list[str]:
    """One split of the user's lists; all lists of the folder are checked, each and against the others."""
    lists = {name: _read(folder / f"{name}.txt", frames) for name in shares if (folder / f"{name}.txt").is_file()}
    if split not in lists:
        what = f"no list for the split {quoted(split)}" + (f", only for {', '.join(lists)}" if lists else "")
        raise InputError(folder / f"{split}.txt", what, "Write one frame a line.")
    for other in set(lists) - {split}:
        if both := sorted(set(lists[split]) & set(lists[other])):
            what = f"{len(both)} frames are in {other}.txt, too, {first_of(both)}"
            raise InputError(folder / f"{split}.txt", what, "Keep each frame in one split.")
    return lists[split]


def _read(path: Path, frames: Sequence[str]) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, f"cannot be read as text ({error})", "Write one frame a line, in UTF-8.") from None
    found = [line.strip() for line in lines if line.strip()]
    known = set(frames)
    if unknown := [frame for frame in found if frame not in known]:
        near = did_you_mean(unknown[0], known) if len(known) < 20000 else ""
        what = f"{len(unknown)} of {len(found)} lines are no frame, {first_of(unknown)}{near[:200]}"
        raise InputError(path, what, "Write the file names without folder and ending.")
    if doubled := [frame for frame, n in Counter(found).items() if n > 1]:
        raise InputError(path, f"{len(doubled)} frames stand more than once, {first_of(doubled)}", "Keep one.")
    return found
