"""GREC: is the set of predicted boxes the set of true boxes? Four ways to decide it, then ratios.

Source: He et al. 2023, "GREC: Generalized Referring Expression Comprehension", arXiv 2308.16182, section 3 (Pr@(F1=1,
IoU>=0.5), N-acc.), and henghuiding/gRefCOCO, mdetr/datasets/refexp.py (`RefExpEvaluator`), commit b4b1e55.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from groundeval import tables
from groundeval.benchmarks.grefcoco import RECORD
from groundeval.metrics import boxes, matching, ratios
from groundeval.metrics import terms as terms_
from groundeval.metrics.ratios import Metric, Samples, ratio, total
from groundeval.metrics.terms import Terms

IOU_THRESHOLD = 0.5  # `thresh_iou`; a pair matches at it, not only above
CONSTANTS = {
    "IoU threshold": f"{IOU_THRESHOLD}, inclusive, in float64; GIoU in float32 in set_accuracy_official_code",
    "score threshold": "a box is kept if its score is at or above it",
}
# metric -> the column of counts() that it is the mean of. The first is the headline.
VARIANTS = {
    "set_accuracy": "correct",
    "set_accuracy_official_code": "correct_official_code",
    "set_accuracy_greedy_iou": "correct_greedy_iou",
    "set_accuracy_circulated_recipe": "correct_circulated_recipe",
}
_SHORT = {name: name.removeprefix("set_accuracy").removeprefix("_") or "maximum" for name in VARIANTS}

_Counts = dict[str, NDArray[Any]]


def counts(
    truth: pa.RecordBatch,
    predictions: pa.RecordBatch,
    manifest: pa.RecordBatch,  # noqa: ARG001
    options: Mapping[str, Any],
    totals: dict[str, NDArray[Any]],  # noqa: ARG001
) -> _Counts:
    """Of each sample: true, predicted (boxes at or above the score threshold), matched (by the maximum matching), and
    1 or 0 for each of VARIANTS. A missing or invalid prediction has no box and is wrong, also where there is no target.
    """
    true_boxes, true_ends = tables.boxes_of(truth)
    boxes_, ends, scores = _kept(predictions, options.get("score_threshold"))
    true, predicted = np.diff(true_ends), np.diff(ends)
    out = {"true": true, "predicted": predicted, **_matched(boxes_, scores, ends, true_boxes, true_ends)}
    usable = pc.is_in(predictions.column("status"), pa.array(["answered", "none"])).to_numpy(zero_copy_only=False)
    alike = usable & (true == predicted)
    for name in VARIANTS.values():
        out[name] = (alike & (out[name] == true)).astype(np.int64)
    return out | {"answered": predicted > 0}


def _kept(
    predictions: pa.RecordBatch, threshold: float | None
) -> tuple[boxes.Floats, NDArray[np.int64], NDArray[np.float64]]:
    """Boxes [n, 4] with score >= threshold, their ends [rows + 1], their scores [n]: all boxes where none has a score.

    The comparison is the official one: `sorted_scores_array >= self.thresh_score`, on float64.
    """
    found, ends = tables.boxes_of(predictions)
    scores = predictions.column("scores").flatten().to_numpy(zero_copy_only=False)
    if len(scores) != len(found):
        if len(scores):
            raise ValueError("some boxes of the predictions table have a score and some have none")
        return found, ends, np.zeros(len(found))
    if threshold is None:
        return found, ends, scores
    keep = np.flatnonzero(scores >= threshold)
    return found.take(keep, axis=0), np.searchsorted(keep, ends), scores.take(keep)


def _matched(
    predicted: boxes.Floats,
    scores: boxes.Floats,
    ends: NDArray[np.int64],
    true: boxes.Floats,
    true_ends: NDArray[np.int64],
) -> _Counts:
    """The number of matched pairs of each sample by each variant, and by the maximum matching as "matched".

    The variants other than the headline are only worked out where the sets are of equal size; elsewhere they stay 0.
    """
    columns = np.ascontiguousarray(np.vstack([scores, predicted.T]))
    true_columns = np.ascontiguousarray(true.T)
    out = {name: np.zeros(len(ends) - 1, np.int64) for name in ("matched", *VARIANTS.values())}
    for p, t, samples in boxes.buckets(np.diff(ends), np.diff(true_ends)):
        keys = boxes.gather(columns, ends[samples], p)
        targets = boxes.gather(true_columns, true_ends[samples], t)
        found = _by_iou(keys, targets, p == t)
        if p == t:
            found["correct_official_code"] = _by_giou(keys.astype(np.float32), targets.astype(np.float32))
        for name, matched in found.items():
            out[name][samples] = matched
    return out | {"correct": out["matched"]}


def _by_iou(keys: boxes.Floats, targets: boxes.Floats, all_variants: bool) -> _Counts:
    overlap = boxes.iou(keys[1:], targets)
    permitted = overlap >= IOU_THRESHOLD
    settled, unsure = matching.without_choice(permitted)
    out = {"matched": settled}
    if all_variants:
        out |= {"correct_greedy_iou": settled.copy(), "correct_circulated_recipe": settled.copy()}
    if len(unsure):
        out["matched"][unsure] = matching.maximum(permitted[:, :, unsure])
    if len(unsure) and all_variants:
        left = overlap[:, :, unsure]
        out["correct_greedy_iou"][unsure] = matching.largest_first(left, IOU_THRESHOLD, keys[:, :, unsure])
        out["correct_circulated_recipe"][unsure] = matching.in_order(left, IOU_THRESHOLD)
    return out


def _by_giou(keys: boxes.Floats, targets: boxes.Floats) -> NDArray[np.int64]:
    overlap = boxes.giou(keys[1:], targets)
    matched, unsure = matching.without_choice(overlap >= IOU_THRESHOLD)
    if len(unsure):
        matched[unsure] = matching.largest_first(overlap[:, :, unsure], IOU_THRESHOLD, keys[:, :, unsure])
    return matched


def metrics(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> dict[str, Metric]:
    """All metrics as fractions, for the split and by kind of expression. `disagreements/A/B` is of two variants."""
    return _all(samples) | ratios.by(samples, "by_kind", samples["kind"], _all)


def _all(samples: Samples) -> dict[str, Metric]:
    n, target = len(samples["true"]), samples["true"] > 0
    out = {name: ratio(total(samples[column]), n, "fraction") for name, column in VARIANTS.items()}
    out["N_acc"] = ratio(total(samples["correct"][~target]), total(~target), "fraction", "no no-target expressions")
    any_box = total(samples["predicted"][target] > 0)
    out["T_acc"] = ratio(any_box, total(target), "fraction", "no expressions with a target")
    out["mean_F1"] = ratios.mean(_f1(samples)[target], "fraction", "no expressions with a target")
    return out | {name: _lower(ratio(total(d), n, "fraction")) for name, d in _disagreements(samples).items()}


def _f1(samples: Samples) -> NDArray[np.float64]:
    """F1 of the matched boxes of each sample, 0 where neither side has a box."""
    boxes_ = samples["predicted"] + samples["true"]
    out = np.zeros(len(boxes_))
    np.divide(2 * samples["matched"], boxes_, out=out, where=boxes_ > 0)
    return out


def _disagreements(samples: Samples) -> dict[str, NDArray[np.bool_]]:
    """The samples [n] on which any variants, or two of them, differ."""
    said = {_SHORT[name]: samples[column] for name, column in VARIANTS.items()}
    differ = {f"disagreements/{a}/{b}": said[a] != said[b] for a, b in combinations(said, 2)}
    return {"disagreements": np.any(list(differ.values()), axis=0), **differ}


def terms(samples: Samples, totals: Mapping[str, NDArray[Any]], options: Mapping[str, Any]) -> list[Terms]:  # noqa: ARG001
    """What each metric is a ratio of: two columns."""
    return [_terms(samples), *terms_.by(samples, "by_kind", samples["kind"], lambda group: [_terms(group)])]


def _terms(samples: Samples) -> Terms:
    target, each = samples["true"] > 0, np.ones(len(samples["true"]))
    over_targets = {"T_acc": (samples["predicted"] > 0) & target, "mean_F1": _f1(samples) * target}
    return terms_.ratios(
        {name: (samples[column], each) for name, column in VARIANTS.items()}
        | {"N_acc": (samples["correct"] * ~target, ~target)}
        | {name: (numerator, target) for name, numerator in over_targets.items()}
        | {name: (differ, each) for name, differ in _disagreements(samples).items()}
    )


def by_sample(samples: Samples, options: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:  # noqa: ARG001
    """`F1` of the maximum matching of each sample [n], where a correct rejection is 1 (mean_F1 is over targets alone);
    `correct` is 1 where set_accuracy counts it. A diagnostic: nobody publishes single samples.
    """
    right = samples["correct"].astype(np.float64)
    return {"F1": np.where(samples["true"] > 0, _f1(samples), right), "correct": right}


def _lower(metric: Metric) -> Metric:
    return replace(metric, direction="lower")


def baselines(
    samples: Samples,
    totals: Mapping[str, NDArray[Any]],  # noqa: ARG001
    options: Mapping[str, Any],  # noqa: ARG001
) -> dict[str, dict[str, Metric]]:
    """ "empty": no box for any expression. Its set accuracy is the share of no-target expressions."""
    nothing = np.zeros_like(samples["true"])
    right = (samples["true"] == 0).astype(np.int64)
    answers = {"true": samples["true"], "predicted": nothing, "matched": nothing}
    scored = _all({**answers, **dict.fromkeys(VARIANTS.values(), right)})
    return {"empty": {name: scored[name] for name in RECORD.columns}}
