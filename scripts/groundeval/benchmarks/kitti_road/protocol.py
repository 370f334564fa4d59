"""From class maps and confidence maps to histograms, from histograms to the numbers of the KITTI road benchmark.

Source: Fritsch et al., ITSC 2013, section IV, and the benchmark's page for the categories. Pixels are pooled over a
category, or over the three road categories (URBAN); the ego lane is a task of its own and never pooled with road.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval import tables
from groundeval.benchmarks.kitti_road import RECORD, bev
from groundeval.errors import InputError, quoted
from groundeval.metrics import bands, bootstrap, maxf, maxf_replicates
from groundeval.metrics.ratios import Metric, Samples, total
from groundeval.metrics.terms import Terms, divided, within

ROAD = ("um_road", "umm_road", "uu_road")
GROUPS: Mapping[str, tuple[str, ...]] = {c: (c,) for c in ("um_lane", *ROAD)} | {"URBAN": ROAD}
VIEWS = ("persp", "bev")
CONSTANTS = {
    "thresholds": "0..255; a pixel is positive if its confidence is at or above",
    "best threshold": "the first of those with the highest F1",
    "AP": "mean over recall 0, 0.1 .. 1 of the highest precision at that recall or above",
    "bird's-eye view": "x -10..10 m, z 6..46 m, 0.05 m a cell, nearest pixel",
}

_PARTS = ("road", "other", "lost")
_NO_TRUTH = "this split has no truth: build the server's package with `groundeval package kitti_road`"
_Counts = dict[str, NDArray[np.int64]]


def counts(
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    manifest: pa.RecordBatch,
    options: Mapping[str, Any],  # noqa: ARG001
    totals: dict[str, NDArray[Any]],  # noqa: ARG001
) -> dict[str, NDArray[Any]]:
    """For each view {v}, histograms [n, 256] of the confidences in `{v}_road` and `{v}_other`, and `{v}_lost` [n, 2]:
    road and other pixels of a sample without a usable answer, which maxf.curve takes as wrong at every threshold.
    `labelled` [n] is 1 where the sample has a truth; without one, all its counts are 0.
    """
    ids = tables.column(manifest, "sample_id")
    tags = [dict(t) for t in manifest.column("tags").to_pylist()]
    out = _zeros(len(ids))
    for row, name in enumerate(ids):
        classes = tables.unpack_map(truth, row)
        if classes is not None:
            confidence = _checked(tables.unpack_map(predictions, row), classes.shape, name)
            out["labelled"][row] = 1
            _add(out, row, "persp", classes, confidence)
            pixel = bev.cells(bev.from_text(tags[row]["bev_matrix"]), *classes.shape).pixel
            _add(out, row, "bev", classes.take(pixel), None if confidence is None else confidence.take(pixel))
    return out


def _zeros(rows: int) -> _Counts:
    widths = {"road": maxf.LEVELS, "other": maxf.LEVELS, "lost": 2}
    columns = {f"{view}_{part}": np.zeros((rows, w), np.int64) for view in VIEWS for part, w in widths.items()}
    return columns | {"labelled": np.zeros(rows, np.int64)}


def _checked(confidence: NDArray[Any] | None, shape: tuple[int, ...], name: str) -> NDArray[np.uint8] | None:
    """A confidence map [H, W] or [1, H, W] as [H, W]; one of another kind is an InputError, as it has no 256 levels."""
    if confidence is None:
        return None
    if confidence.dtype != np.uint8 or confidence.shape not in (shape, (1, *shape)):
        what = (
            f"{quoted(name)} is a map of {confidence.dtype.name} {list(confidence.shape)}, expected uint8 {list(shape)}"
        )
        raise InputError(RECORD.name, what, "Give 8-bit confidence maps at the size of the image, as confidence_png.")
    return confidence.reshape(shape)


def _add(out: _Counts, row: int, view: str, classes: NDArray[np.uint8], confidence: NDArray[np.uint8] | None) -> None:
    found = maxf.histograms(classes, np.zeros_like(classes) if confidence is None else confidence)
    if confidence is None:
        out[f"{view}_lost"][row] = found[1].sum(), found[0].sum()
    else:
        out[f"{view}_other"][row], out[f"{view}_road"][row] = found


def _curves(samples: Samples) -> dict[str, maxf.Curve]:
    """The pooled precision-recall curve of each `{view}/{category}`, URBAN included."""
    inside = {group: _inside(samples, group) for group in GROUPS}
    return {f"{view}/{group}": _curve(samples, view, rows) for view in VIEWS for group, rows in inside.items()}


def _inside(samples: Samples, group: str) -> NDArray[np.bool_]:
    return np.isin(samples["tag/category"].astype(str), GROUPS[group])


def _curve(samples: Samples, view: str, rows: NDArray[np.bool_]) -> maxf.Curve:
    road, other, lost = (samples[f"{view}_{p}"][rows].sum(axis=0, dtype=np.int64) for p in _PARTS)
    return maxf.curve(road, other, (int(lost[0]), int(lost[1])))


def metrics(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> dict[str, Metric]:  # noqa: ARG001
    """`{view}/{category}/{rate}` of every category; a category or a split without truth has None, with the reason."""
    return _named(_curves(samples), labelled=total(samples["labelled"]) > 0)


def curves(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> Iterator[dict[str, Any]]:
    """Points of the precision-recall curves, for plots: one a threshold, as a confidence of 0..255."""
    for name, curve in _curves(samples).items() if total(samples["labelled"]) else ():
        points = zip(curve.recall.tolist(), curve.precision.tolist(), strict=True)
        for threshold, (recall, precision) in enumerate(points):
            yield {"curve": name, "recall": recall, "precision": precision, "threshold": threshold}


def _named(of: Mapping[str, maxf.Curve], labelled: bool = True) -> dict[str, Metric]:
    values = {name: maxf.metrics(curve) if labelled else maxf.absent(_NO_TRUTH) for name, curve in of.items()}
    return {f"{name}/{rate}": metric for name, rates in values.items() for rate, metric in rates.items()}


def terms(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> list[Terms]:
    """The histograms of each curve, of the samples that are pooled for it, and all rates from their sums."""
    inside = {group: np.flatnonzero(_inside(samples, group)) for group in GROUPS}
    return [_terms(samples, view, group, rows) for view in VIEWS for group, rows in inside.items() if len(rows)]


def _terms(samples: Samples, view: str, group: str, rows: NDArray[np.int64]) -> Terms:
    def values(sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        return maxf_replicates.shares(*np.split(sums, np.cumsum([maxf.LEVELS, maxf.LEVELS]), axis=1))

    columns = np.hstack([samples[f"{view}_{part}"][rows] for part in _PARTS])
    return within(Terms(columns, values), f"{view}/{group}", rows)


def band(samples: Samples, totals: Mapping[str, NDArray[Any]], curve: str) -> bands.Band:  # noqa: ARG001
    """The 95 % band of a curve, `{view}/{category}`."""
    view, _, group = curve.partition("/")
    rows = _inside(samples, group)
    road, other, lost = (samples[f"{view}_{part}"][rows] for part in _PARTS)
    return bands.band(road, other, lost, bootstrap.labels(samples["image_id"])[rows])


def by_sample(samples: Samples, options: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:  # noqa: ARG001
    """`bev_F1` and `persp_F1` of each image alone [n], at the threshold that is the best one of the run for URBAN, or for
    the lane, in that view: the operating point of the leaderboard. 0 without a usable answer; NaN without a truth, and
    where neither truth nor answer has a road pixel.

    A diagnostic, not MaxF: that pools the pixels of all images, so the mean of these is another number.
    """
    return {f"{view}_F1": _f1_of_images(samples, view) for view in reversed(VIEWS)}


def _f1_of_images(samples: Samples, view: str) -> NDArray[np.float64]:
    out = np.full(len(samples["labelled"]), np.nan)
    road, other, lost = (samples[f"{view}_{part}"] for part in _PARTS)
    for group in ("URBAN", "um_lane"):
        rows, best = _inside(samples, group), _curve(samples, view, _inside(samples, group)).best
        tp, fp = (counts[rows, best:].sum(axis=1) for counts in (road, other))
        positives, called = road[rows].sum(axis=1) + lost[rows, 0], tp + fp + lost[rows, 1]
        out[rows] = divided(2 * tp, positives + called)
    unusable = np.isin(samples["status"].astype(str), ("missing", "invalid")) & (samples["labelled"] == 1)
    out[unusable] = 0
    return out


def baselines(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> dict[str, dict[str, Metric]]:
    """`all_positive` and `all_background`: every confidence 255, or 0. At threshold 0 every pixel is positive by the
    definition, so the second scores the same MaxF as the first: what a result must beat to say anything.
    """
    labelled, pooled = total(samples["labelled"]) > 0, _curves(samples)
    return {
        said: {n: m for n, m in _named(_constant(pooled, level), labelled).items() if n in RECORD.columns}
        for said, level in {"all_positive": maxf.LEVELS - 1, "all_background": 0}.items()
    }


def _constant(pooled: Mapping[str, maxf.Curve], level: int) -> dict[str, maxf.Curve]:
    """The curves of a predictor that gives one confidence to all the pixels."""
    at = np.zeros(maxf.LEVELS, np.int64)
    at[level] = 1
    return {name: maxf.curve(at * curve.positives, at * curve.negatives) for name, curve in pooled.items()}
