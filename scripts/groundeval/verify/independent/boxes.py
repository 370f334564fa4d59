"""Boxes: IoU as a fraction of the coordinates' exact values, the matching by search."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
HALF = Fraction(1, 2)


def iou(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """Exact, of two boxes (x1, y1, x2, y2); 0 where both are empty."""
    (ax, ay, au, av), (bx, by, bu, bv) = ([Fraction(x) for x in box] for box in (a, b))
    both = max(min(au, bu) - max(ax, bx), Fraction(0)) * max(min(av, bv) - max(ay, by), Fraction(0))
    either = (au - ax) * (av - ay) + (bu - bx) * (bv - by) - both
    return both / either if either else Fraction(0)


def most_pairs(fits: Sequence[Sequence[bool]]) -> int:
    """The largest number of pairs, each side used once: augmenting paths, one prediction after the other."""
    partner: dict[int, int] = {}

    def placed(row: int, tried: set[int]) -> bool:
        for column, fit in enumerate(fits[row]):
            if fit and column not in tried:
                tried.add(column)
                if column not in partner or placed(partner[column], tried):
                    partner[column] = row
                    return True
        return False

    return sum(placed(row, set()) for row in range(len(fits)))


class Grefcoco:
    """GREC's set accuracy by a maximum matching at IoU >= 1/2, N-acc, T-acc and F1."""

    NOT_COVERED = (
        "the variants (official code, greedy, circulated recipe), by_kind, disagreements and baselines",
        "pairs whose IoU is 1/2 but for rounding: here they are decided exactly, by the scorer in double precision",
        "the readers of predictions and of the official files (levels 4 and 5)",
    )

    @staticmethod
    def counts(manifest: Row, truth: Row, answer: Row, options: Row) -> dict[str, int]:
        """Boxes and pairs of one sample."""
        del manifest
        threshold, given = options.get("score_threshold"), answer["boxes"] or []
        if threshold is not None and answer["scores"]:
            given = [box for box, score in zip(given, answer["scores"], strict=True) if score >= threshold]
        expected = truth["boxes"] or []
        matched = most_pairs([[iou(g, e) >= HALF for e in expected] for g in given])
        usable = answer["status"] in ("answered", "none")
        right = usable and len(given) == len(expected) == matched
        return {"true": len(expected), "predicted": len(given), "matched": matched, "correct": int(right)}

    @staticmethod
    def metrics(samples: Sequence[Row]) -> dict[str, Fraction | None]:
        """Of all samples, as fractions."""
        target = [s for s in samples if s["true"]]
        without = [s for s in samples if not s["true"]]
        f1 = [Fraction(2 * s["matched"], s["predicted"] + s["true"]) for s in target]
        return {
            "set_accuracy": _share([s["correct"] for s in samples]),
            "N_acc": _share([s["correct"] for s in without]),
            "T_acc": _share([s["predicted"] > 0 for s in target]),
            "mean_F1": sum(f1, Fraction(0)) / len(f1) if f1 else None,
        }


def _share(flags: Sequence[int | bool]) -> Fraction | None:
    return Fraction(sum(flags), len(flags)) if flags else None
