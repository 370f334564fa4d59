"""A second scorer, slow and plain, that shares no code with metrics/ or a benchmark's protocol.

Integers, Fractions and loops, from the definitions. It counts a seeded choice of samples from the tables of truth and
predictions and compares with samples.parquet; then it works out the main metrics of all samples as exact fractions and
compares with metrics.json. What it does not cover is said with each verdict: an equal number is then no evidence.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from groundeval import tables
from groundeval.errors import quoted
from groundeval.verify.check import Check
from groundeval.verify.independent import boxes, maps, masks
from groundeval.verify.runs import Run

SCORERS: Mapping[str, Any] = {
    "grefcoco": boxes.Grefcoco,
    "grin_drive": masks.GrinDrive,
    "instructpart": masks.InstructPart,
    "gmrp": maps.Gmrp,
    "kitti_semantic": maps.KittiSemantic,
}
CLOSE = Fraction(1, 10**12)  # relative: a double's rounding, and the sum of some hundred thousand of them
Row = dict[str, Any]


def check(run: Run, count: int, seed: int) -> Check:
    """Count up to `count` samples again, chosen by `seed`, and the metrics of all."""
    found = Check("independent scorer")
    with found.guarded("independent scorer"):
        scorer = SCORERS.get(run.predicate["run"]["benchmark"])
        if scorer is None:
            found.unchecked.append(f"{run.predicate['run']['benchmark']}: no second scorer covers it")
            return found
        found.unchecked.extend(scorer.NOT_COVERED)
        options = run.predicate["parameters"]["options"]
        samples = tables.read(run.folder / "samples.parquet").to_pylist()
        if run.piped and run.present("truth", "manifest"):
            _counts(found, run, scorer, samples, options, count, seed)
        else:
            found.unchecked.append("the counts of samples: the tables are not here")
        _metrics(found, run, scorer, samples)
    return found


def _counts(found: Check, run: Run, scorer: Any, samples: Sequence[Row], options: Row, count: int, seed: int) -> None:
    chosen = sorted(random.Random(seed).sample(range(len(samples)), min(count, len(samples))))  # noqa: S311
    paths = (run.path("manifest"), run.path("truth"), run.folder / "predictions.parquet")
    known, truth, predictions = ([tables.read(p).slice(row, 1).to_pylist()[0] for row in chosen] for p in paths)
    for row, manifest, expected, answer in zip(chosen, known, truth, predictions, strict=True):
        sample = samples[row]
        for column, value in scorer.counts(manifest, expected, answer, options).items():
            what = f"{column} of {quoted(sample['sample_id'])} is {sample[column]}, the second scorer counts {value}"
            found.expect(sample[column] == value, what)
    found.notes.append(f"{len(chosen)} of {len(samples)} samples counted again, seed {seed}")


def _metrics(found: Check, run: Run, scorer: Any, samples: Sequence[Row]) -> None:
    said = json.loads((run.folder / "metrics.json").read_bytes())["metrics"]
    for name, value in scorer.metrics(samples).items():
        if value is None:
            found.expect(said[name]["value"] is None, f"{name} is {said[name]['value']}, it does not exist")
            continue
        scaled = value * (100 if said[name]["unit"] == "percent" else 1)
        close = said[name]["value"] is not None and abs(Fraction(said[name]["value"]) - scaled) <= CLOSE * max(
            scaled, 1
        )
        found.expect(close, f"{name} is {said[name]['value']}, the second scorer has {float(scaled)}")
