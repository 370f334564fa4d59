"""Counts of one sample, and the metrics of a run from them.

There is no official evaluator. gIoU and cIoU follow LISA's code (dvlab-research/LISA, train_ds.py, `validate`); P@50 and
P@50:95 follow the text of the paper (Wan et al. 2025, arXiv 2505.18291).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.benchmarks.instructpart import prompts
from groundeval.metrics import masks, ratios
from groundeval.metrics import terms as terms_
from groundeval.metrics.ratios import Metric, Samples
from groundeval.metrics.terms import Terms

# IoU thresholds in percent, so that IoU > k / 100 is decided in integers, as 100 I > k U.
THRESHOLDS = np.arange(50, 100, 5)
# LISA counts a sample without truth and without prediction as right. The official splits have no such truth.
IOU_OF_BOTH_EMPTY = 1.0
CONSTANTS = {
    "thresholds": "IoU > 0.50, 0.55 .. 0.95, strictly, decided in integers",
    "IoU of both empty": IOU_OF_BOTH_EMPTY,
}
GROUPS = ("object", "part", "affordance")


def counts(
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    manifest: pa.RecordBatch,
    options: Mapping[str, Any],
    totals: dict[str, NDArray[Any]],
) -> dict[str, NDArray[Any]]:
    """Pixels, each [n] int64: intersection, union, the two areas, and the image. No prediction is an empty mask."""
    del totals
    prompts.declared(options)
    heights, widths = (manifest.column(name).to_pylist() for name in ("height", "width"))
    expected, given = truth.column("mask").to_pylist(), predictions.column("mask").to_pylist()
    given = [masks.empty(h, w) if g is None else g for g, h, w in zip(given, heights, widths, strict=True)]
    intersection, union = masks.intersection_union(expected, given, heights, widths)
    return {
        "intersection": intersection,
        "union": union,
        "truth_area": masks.areas(expected, heights, widths),
        "prediction_area": masks.areas(given, heights, widths),
        "pixels": np.multiply(heights, widths, dtype=np.int64),
    }


def metrics(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> dict[str, Metric]:
    """The four metrics over all samples and by object, part and affordance; how many samples tie or are empty twice."""
    del totals, options
    out = main(samples) | {"ties": _share(_ties(samples)), "both_empty": _share(samples["union"] == 0)}
    for group in GROUPS:
        out |= ratios.by(samples, f"by_{group}", samples[f"tag/{group}"], main)
    return out


def baselines(
    samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]
) -> dict[str, dict[str, Metric]]:
    """Two predictors that look at nothing: no foreground at all, and foreground everywhere."""
    del totals, options
    area, nothing = samples["truth_area"], np.zeros_like(samples["truth_area"])
    return {
        "empty": main({"intersection": nothing, "union": area, "status": _all("none", area)}),
        "full": main({"intersection": area, "union": samples["pixels"], "status": _all("answered", area)}),
    }


def main(samples: Samples) -> dict[str, Metric]:
    """The four metrics in percent, from intersection, union and status."""
    intersection, union = samples["intersection"], samples["union"]
    ious, above = _decided(samples)
    return {
        "gIoU": ratios.mean(ious, "percent"),
        "cIoU": ratios.ratio(ratios.total(intersection), ratios.total(union), "percent"),
        "P@50": ratios.ratio(ratios.total(above[:, 0]), len(above), "percent", "no samples"),
        "P@50:95": ratios.ratio(ratios.total(above), above.size, "percent", "no samples"),
    }


def terms(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> list[Terms]:
    """What each metric is a ratio of: two columns."""
    del totals, options
    each, union = np.ones(len(samples["union"])), samples["union"]
    whole = terms_.ratios({**_pairs(samples), "ties": (_ties(samples), each), "both_empty": (union == 0, each)})
    groups = ((f"by_{group}", samples[f"tag/{group}"]) for group in GROUPS)
    each_group = (terms_.by(samples, *group, lambda inside: [terms_.ratios(_pairs(inside))]) for group in groups)
    return [whole, *chain.from_iterable(each_group)]


def _pairs(samples: Samples) -> dict[str, terms_.Pair]:
    """Numerators and denominators of the four metrics."""
    (ious, above), each = _decided(samples), np.ones(len(samples["union"]))
    return {
        "gIoU": (ious, each),
        "cIoU": (samples["intersection"], samples["union"]),
        "P@50": (above[:, 0], each),
        "P@50:95": (above.sum(axis=1), len(THRESHOLDS) * each),
    }


def by_sample(samples: Samples, options: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """IoU of each sample [n], the very values whose mean is gIoU. A diagnostic: nobody publishes single samples."""
    del options
    return {"IoU": _decided(samples)[0]}


def _decided(samples: Samples) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """IoU of each sample [n], and whether it is above each threshold [n, thresholds]."""
    intersection, union, right = samples["intersection"], samples["union"], _right_on_nothing(samples)
    ious = np.where(right, IOU_OF_BOTH_EMPTY, ratios.ious(intersection, union, empty=0.0))
    return ious, (100 * intersection[:, None] > THRESHOLDS * union[:, None]) | right[:, None]


def _right_on_nothing(samples: Samples) -> NDArray[np.bool_]:
    """Both masks are empty, and the model said so: an answer that is missing or invalid is never right."""
    right: NDArray[np.bool_] = (samples["union"] == 0) & np.isin(samples["status"].astype(str), ("answered", "none"))
    return right


def _ties(samples: Samples) -> NDArray[np.bool_]:
    """Samples whose IoU is exactly a threshold, where `>` and `>=`, or rounded thresholds, would differ."""
    union = samples["union"][:, None]
    exact: NDArray[np.bool_] = ((100 * samples["intersection"][:, None] == THRESHOLDS * union) & (union > 0)).any(
        axis=1
    )
    return exact


def _share(chosen: NDArray[np.bool_]) -> Metric:
    return replace(ratios.ratio(ratios.total(chosen), len(chosen), "percent", "no samples"), direction="lower")


def _all(status: str, like: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(like), status, dtype=object)
