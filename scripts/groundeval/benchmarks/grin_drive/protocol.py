"""From the masks of both sides to counts, from counts to GRiN-Drive's numbers.

Source: GENNAV, Katsumata et al. 2025, arXiv 2508.21102: sIoU gives "a score of 1 to samples with IoU exceeding a
threshold K", averaged over k = 1..1/K.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from groundeval.benchmarks.grin_drive import RECORD
from groundeval.metrics import masks, ratios, siou
from groundeval.metrics import terms as terms_
from groundeval.metrics.ratios import Metric, Samples, mean, ratio, total
from groundeval.metrics.terms import Terms

# n = 1/K steps. K = 0.1 is not quoted anywhere that we know: it is inferred from the companion metric P@0.1.
K_TENTHS = 1
STEPS = 10 // K_TENTHS
CONSTANTS = {
    "K": K_TENTHS / 10,
    "n": STEPS,
    "K is": "inferred from the companion metric P@0.1, not quoted by the paper (about 85 % sure)",
    "rasteriser": "pycocotools, for truth and predictions; a square of side s fills s^2 pixels",
}

Cases = Mapping[str, NDArray[np.bool_]]
_NO_TARGETS = "no sample has a target"


def counts(
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    manifest: pa.RecordBatch,
    options: Mapping[str, Any],  # noqa: ARG001
    totals: dict[str, NDArray[Any]],  # noqa: ARG001
) -> dict[str, NDArray[Any]]:
    """Pixels of each sample, int64 [n]: intersection, union, truth_area, predicted_area, image_area; truth_exists is 1
    where the truth has a pixel. answered: the predicted union has one. A null prediction has none."""
    heights, widths = manifest.column("height").to_pylist(), manifest.column("width").to_pylist()
    expected, given = truth.column("mask").to_pylist(), predictions.column("mask").to_pylist()
    truth_area = masks.areas(expected, heights, widths)
    intersection, union = np.zeros_like(truth_area), truth_area.copy()
    answered = [i for i, mask in enumerate(given) if mask is not None]
    if answered:
        columns = ([column[i] for i in answered] for column in (expected, given, heights, widths))
        intersection[answered], union[answered] = masks.intersection_union(*columns)
    predicted_area = union - truth_area + intersection
    return {
        "intersection": intersection,
        "union": union,
        "truth_area": truth_area,
        "predicted_area": predicted_area,
        "image_area": np.multiply(heights, widths, dtype=np.int64),
        "truth_exists": (truth_area > 0).astype(np.int64),
        "answered": predicted_area > 0,
    }


def metrics(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> dict[str, Metric]:  # noqa: ARG001
    """All metrics, then each again as `by_kind/{none,single,multi}/{metric}`."""
    return _metrics(samples) | ratios.by(samples, "by_kind", samples["kind"], _metrics)


def baselines(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> dict[str, dict[str, Metric]]:
    """`always_none` says of every sample that there is no target; `always_whole_image` takes every pixel for it."""
    target, image, none = samples["truth_area"], samples["image_area"], np.zeros_like(samples["truth_area"])
    trivial = {"always_none": (none, target, none, "none"), "always_whole_image": (target, image, image, "answered")}
    names = ("intersection", "union", "predicted_area", "status")
    out = {}
    for baseline, (*pixels, status) in trivial.items():
        columns = [*pixels, np.full(len(target), status, dtype=object)]
        found = _metrics({**samples, **dict(zip(names, columns, strict=True))})
        out[baseline] = {name: found[name] for name in RECORD.columns}
    return out


def cases(samples: Samples) -> Cases:
    """TP, TN, FP and FN on the existence of a target, bool [n]. A missing or invalid answer is FN where there is a
    target; where there is none it is `unanswered`, as wrong as FP though nothing was claimed."""
    target = samples["truth_exists"] == 1
    claimed, rejected = samples["status"] == "answered", samples["status"] == "none"
    return {
        "TP": target & claimed,
        "TN": ~target & rejected,
        "FP": ~target & claimed,
        "FN": target & ~claimed,
        "unanswered": ~target & ~claimed & ~rejected,
    }


def _metrics(samples: Samples) -> dict[str, Metric]:
    of, i, u = cases(samples), samples["intersection"], samples["union"]
    target, means = of["TP"] | of["FN"], _means(samples, of)
    out = {name: mean(means[name], "fraction") for name in ("msIoU", "gIoU")}
    out["cIoU"] = ratio(total(i), total(u), "fraction", "neither side has a pixel")
    out |= _precision(of, _hits(samples, of), total(target))
    out["Acc."] = ratio(total(of["TP"] | of["TN"]), len(i), "percent")
    out["msIoU_circulated_recipe"] = mean(means["msIoU_circulated_recipe"], "fraction")
    for name, rows in of.items():
        share = ratio(total(rows), len(rows), "fraction")
        out[f"cases/{name}"] = share if name in ("TP", "TN") else replace(share, direction="lower")
    return out


def terms(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> list[Terms]:  # noqa: ARG001
    """What each metric is a ratio of: two columns."""
    return [_terms(samples), *terms_.by(samples, "by_kind", samples["kind"], lambda group: [_terms(group)])]


def _terms(samples: Samples) -> Terms:
    of, each = cases(samples), np.ones(len(samples["union"]))
    hits = _hits(samples, of)
    return terms_.ratios(
        {name: (values, each) for name, values in _means(samples, of).items()}
        | {
            "cIoU": (samples["intersection"], samples["union"]),
            "P@0.1": (hits, of["TP"] | of["FN"]),
            "P@0.1/over_TP": (hits, of["TP"]),
            "P@0.1/over_all_TN_hit": (hits | of["TN"], each),
            "Acc.": (of["TP"] | of["TN"], each),
        }
        | {f"cases/{name}": (rows, each) for name, rows in of.items()}
    )


def by_sample(samples: Samples, options: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:  # noqa: ARG001
    """`msIoU` and `IoU` of each sample [n]: the very values whose means are msIoU and gIoU, so a correct rejection is 1.
    `existence` is 1 where it is told correctly whether there is a target. A diagnostic: nobody publishes single samples.
    """
    of = cases(samples)
    means = _means(samples, of)
    return {"msIoU": means["msIoU"], "IoU": means["gIoU"], "existence": (of["TP"] | of["TN"]).astype(np.float64)}


def _means(samples: Samples, of: Cases) -> dict[str, NDArray[np.float64]]:
    """What three metrics are means of, each [n]."""
    i, u = samples["intersection"], samples["union"]
    return {
        "msIoU": siou.mean_siou(i, u, of["TP"], of["TN"], STEPS),
        "gIoU": np.divide(i, u, out=of["TN"].astype(np.float64), where=of["TP"]),
        "msIoU_circulated_recipe": siou.circulated_recipe(i, u, of["TP"] | of["FN"]),
    }


def _hits(samples: Samples, of: Cases) -> NDArray[np.bool_]:
    return siou.iou_exceeds(samples["intersection"], samples["union"], K_TENTHS) & of["TP"]


def _precision(of: Cases, hits: NDArray[np.bool_], targets: int) -> dict[str, Metric]:
    """P@0.1 over each of the three denominators that its definition leaves open; the first is the headline."""
    found, rejected = total(hits), total(of["TN"])
    return {
        "P@0.1": ratio(found, targets, "percent", _NO_TARGETS),
        "P@0.1/over_TP": ratio(found, total(of["TP"]), "percent", "no target was answered with a mask"),
        "P@0.1/over_all_TN_hit": ratio(found + rejected, len(hits), "percent"),
    }
