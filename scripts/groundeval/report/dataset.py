"""The dataset's side of a leaderboard: its manifest, its truth and its images, as far as they are at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from groundeval import tables
from groundeval.digests import TableDigest
from groundeval.errors import InputError
from groundeval.report.board import Board
from groundeval.sources.licences import shows_images


@dataclass(frozen=True)
class Dataset:
    """What is at hand. lacking: what a page cannot show for want of a file, in words; the names are of the project."""

    manifest: pa.Table | None
    truth: Path | None
    raw: Path | None  # only where its images may be shown
    lacking: tuple[str, ...] = ()

    @cached_property
    def known(self) -> dict[str, dict[str, object]]:
        """The manifest's rows by sample_id."""
        rows = [] if self.manifest is None else self.manifest.to_pylist()
        return {row["sample_id"]: row for row in rows}


def find(root: Path, board: Board, samples: Sequence[str]) -> Dataset:
    """The dataset of a board below the working tree's `root`: only what its runs were scored against counts as it.

    samples: the ids of the board's samples, sorted.
    """
    benchmark, version = board.record.name, board.dataset.get("version") or ""
    manifest_name, truth_name = (f"data/{kind}/{benchmark}/{board.split}.parquet" for kind in ("splits", "truth"))
    manifest, why = _manifest(root, manifest_name, samples)
    if manifest is None:
        return Dataset(None, None, None, (why,))
    truth, why = _truth(root, truth_name, manifest, board.dataset.get("truth"))
    raw_name = f"data/raw/{benchmark}/{version}"
    raw = root / raw_name if board.record.images and _may_show(root, benchmark, version) else None
    absent = [f"{raw_name} is not here"] if raw is not None and not raw.is_dir() else []
    return Dataset(manifest, truth, None if absent else raw, (*filter(None, [why]), *absent))


def _may_show(root: Path, benchmark: str, version: str) -> bool:
    return shows_images(root / "data" / "sources.yaml", benchmark, version)


def _manifest(root: Path, name: str, samples: Sequence[str]) -> tuple[pa.Table | None, str]:
    if not (root / name).is_file():
        return None, f"{name} is not here"
    try:
        found = tables.read(root / name)
    except InputError as error:
        return None, f"{name}: {error.what}"
    if found.column("sample_id").to_pylist() != list(samples):
        return None, f"{name} lists other samples than were scored"
    return found, ""


def _truth(root: Path, name: str, manifest: pa.Table, scored: str | None) -> tuple[Path | None, str]:
    """The digest is made as `score` makes it, over manifest and truth."""
    if not (root / name).is_file():
        return None, f"{name} is not here"
    digest = TableDigest()
    digest.add(manifest.replace_schema_metadata(None))
    try:
        for batch in tables.stream(root / name):
            digest.add(batch)
    except InputError as error:
        return None, f"{name}: {error.what}"
    if digest.hexdigest() != scored:
        return None, f"{name} is not the truth that was scored"
    return root / name, ""
