"""Run-level counts for precision-recall curves, one class against the rest, kept under names in `totals`.

{sizes}/{dtype}                    int64 [C, C, levels] for uint8, uint16 and float16 (by bit pattern): how many pixels of
                                   the second class have which score for the first
{sizes}/float32/{c}/positives/{id} the scores of one image themselves, so that none tie that did not tie; and negatives
{sizes}/lost                       int64 [C], pixels by true class of samples without a usable answer
{sizes}/by_image/{id}              int64 [C, coarse.WIDTH], the same of one image, coarsely, for intervals

sizes: "eval", "native", or "eval+native" for what is the same at both. Arrays of one name add up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from groundeval.metrics import coarse, curves
from groundeval.metrics.ratios import Metric

Totals = Mapping[str, NDArray[Any]]
_NO_CLASS = 255


def add(
    totals: dict[str, NDArray[Any]],
    sizes: str,
    sample_id: str,
    merge: Sequence[int],
    labels: NDArray[np.uint8],
    scores: NDArray[Any] | None,
) -> None:
    """Count one image. labels [H, W]: truth values, of which v is class merge[v] and others are ignored;
    scores: [C, H, W], None for a sample without an answer. A class map [H, W] has no curve.
    """
    if scores is not None and scores.ndim == 2:
        return
    classes = max(merge) + 1
    truth = labels if merge == range(classes) else np.asarray(cv2.LUT(labels, _table(tuple(merge))), np.uint8)
    if scores is None:
        lost = totals.setdefault(f"{sizes}/lost", np.zeros(classes, np.int64))
        lost += np.bincount(truth.ravel(), minlength=256)[:classes]
        totals[f"{sizes}/by_image/{sample_id}"] = coarse.lost(truth, classes)
        return
    totals[f"{sizes}/by_image/{sample_id}"] = coarse.counts(truth, scores, classes)
    if scores.dtype == np.float32:
        for c, score in enumerate(scores):
            totals[f"{sizes}/float32/{c}/positives/{sample_id}"] = score[truth == c]
            totals[f"{sizes}/float32/{c}/negatives/{sample_id}"] = score[(truth != c) & (truth != _NO_CLASS)]
    else:
        shape = classes, classes, curves.LEVELS[scores.dtype.name]
        name = f"{sizes}/{scores.dtype.name}"
        if name not in totals:
            totals[name] = np.zeros(shape, np.int64)
        curves.add_levels(totals[name], truth, scores)


@lru_cache(maxsize=16)
def _table(merge: tuple[int, ...]) -> NDArray[np.uint8]:
    table = np.full(256, _NO_CLASS, np.uint8)
    table[: len(merge)] = merge
    return table


def averages(totals: Totals, size: str, classes: Sequence[str]) -> dict[str, Metric]:
    """`AP/<class>` and `AP_11point/<class>`; empty where there are no scores."""
    out: dict[str, Metric] = {}
    for c, name in enumerate(classes):
        if found := _points(totals, size, c):
            summary = curves.summarise(*found)
            out |= {f"AP/{name}": summary.ap(), f"AP_11point/{name}": summary.ap_11point()}
    return out


def by_image(totals: Totals, size: str, sample_ids: Sequence[str]) -> NDArray[np.int64] | None:
    """Coarse counts [n, C, coarse.WIDTH] of the samples at a size; None unless there are scores, and all have counts."""
    named = {key: values for key, values in totals.items() if size in key.partition("/")[0].split("+")}
    found = {key.split("/", 2)[2]: values for key, values in named.items() if key.split("/")[1] == "by_image"}
    scored = any(values[:, :-1].any() for values in found.values())
    if not scored or not set(sample_ids) <= set(found):
        return None
    return np.stack([found[sample_id] for sample_id in sample_ids])


def thinned(totals: Totals, size: str, c: int) -> Iterator[tuple[float, float, float]]:
    """(recall, precision, threshold) of one class; nothing where it has no scores or no positives."""
    found = _points(totals, size, c)
    if found and found[1]:
        yield from curves.thinned(*found)


def _points(totals: Totals, size: str, c: int) -> tuple[Iterator[curves.Points], int] | None:
    """The points of a curve and how many positives there are in all; None without scores."""
    lost = sum(int(counts[c]) for counts in _named(totals, size, "lost"))
    for dtype in curves.LEVELS:
        if tables := _named(totals, size, dtype):
            counts = curves.ascending(sum(table[c] for table in tables[1:]) + tables[0][c], dtype)
            hp, hn = counts[c], counts.sum(axis=0) - counts[c]
            return curves.from_histograms(hp, hn, curves.level_values(dtype)), int(hp.sum()) + lost
    positives, negatives = (_named(totals, size, f"float32/{c}/{part}/") for part in ("positives", "negatives"))
    if not positives:
        return None
    whole = np.concatenate(positives)
    return curves.from_scores(whole, np.concatenate(negatives)), len(whole) + lost


def _named(totals: Totals, size: str, name: str) -> list[NDArray[Any]]:
    """The arrays of that name, or with that start of a name where it ends in a slash, which count at a size."""
    found = []
    for key, values in totals.items():
        sizes, _, rest = key.partition("/")
        if size in sizes.split("+") and (rest == name or (name.endswith("/") and rest.startswith(name))):
            found.append(values)
    return found
