"""How far a reading of a few samples agrees with the truth: to tell conventions apart, not a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import benchmarks, tables
from groundeval.benchmarks._picture import CLEAR
from groundeval.errors import InputError
from groundeval.inspection import hints, pictures
from groundeval.inspection.trials import Trial
from groundeval.metrics import resize
from groundeval.samples import arrays
from groundeval.sources import images
from groundeval.sources.folder import Source
from groundeval.stages import score


@dataclass
class Truth:
    """A benchmark's truth of a split, of which each set of samples is read once."""

    benchmark: str
    raw: Path
    own: Mapping[str, Any]
    read: dict[tuple[str, ...], pa.Table] = field(default_factory=dict)

    def of(self, manifest: pa.Table) -> pa.Table:
        """The truth of these samples."""
        key = tuple(manifest["sample_id"].to_pylist())
        if key not in self.read:
            batches = benchmarks.part(self.benchmark, "truth").truth(self.raw, manifest, self.own, Counter())
            schema = tables.truth_schema(benchmarks.record(self.benchmark).shape)
            self.read = {key: pa.Table.from_batches(batches, schema)}  # of the last alone: a map has megabytes
        return self.read[key]

    def agreement(self, trial: Trial, manifest: pa.Table) -> float | None:
        """The benchmark's headline over the samples that have an answer; None where it has no value there."""
        assert trial.table is not None
        rows = [i for i, s in enumerate(trial.table["status"].to_pylist()) if s in ("answered", "none")]
        samples, answers = manifest.take(rows), trial.table.take(rows)
        expected = self.of(samples).to_batches()
        try:
            counted, histograms, _ = score.score(self.benchmark, samples, expected, answers.to_batches(), trial.options)
        except InputError:
            return None
        protocol = benchmarks.part(self.benchmark, "protocol")
        measured = protocol.metrics(arrays(counted), histograms, trial.options)
        value: float | None = measured[benchmarks.record(self.benchmark).headline].value
        return value

    def colours(self, part: Source, manifest: pa.Table, suffix: str = ".png") -> str | None:
        """Which colour of RGB maps is which class, by what the truth has where it stands, as the option colours takes it."""
        overlaps: Counter[tuple[int, int]] = Counter()
        names = [name + suffix for name in manifest["sample_id"].to_pylist()]
        samples = manifest.take([row for row, name in enumerate(names) if name in set(part.names())])
        batches = self.of(samples).to_batches() if samples.num_rows else []
        picture = benchmarks.part(self.benchmark, "picture")
        for name, expected in ((n, tables.unpack_map(b, i)) for b in batches for i, n in enumerate(b["sample_id"])):
            classes = picture.layers(expected, None, {}, self.own, {}).truth
            overlaps.update(_overlaps(images.decode(part.read(f"{name}{suffix}"), str(name)), classes))
        return hints.colour_table(_paired(overlaps)) if overlaps else None


def _overlaps(image: NDArray[Any], classes: NDArray[np.uint8]) -> dict[tuple[int, int], int]:
    """Pixels by colour and class."""
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        return {}
    found = resize.nearest(pictures.packed(image), classes.shape)[classes != CLEAR].astype(np.int64)
    pairs, counts = np.unique(found << 8 | classes[classes != CLEAR], return_counts=True)
    return {(pair >> 8, pair & 255): count for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)}


def _paired(overlaps: Counter[tuple[int, int]]) -> dict[int, int]:
    """Colour -> class, each once, those of the largest intersection over union first."""
    of_colour, of_class = Counter[int](), Counter[int]()
    for (colour, number), count in overlaps.items():
        of_colour[colour] += count
        of_class[number] += count
    order = sorted(overlaps, key=lambda p: (-overlaps[p] / (of_colour[p[0]] + of_class[p[1]] - overlaps[p]), p))
    out: dict[int, int] = {}
    for colour, number in order:
        if colour not in out and number not in out.values():
            out[colour] = number
    return out
