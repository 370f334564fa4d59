"""Masks: run-lengths taken apart in plain Python, pixels counted run by run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Spans = list[tuple[int, int]]  # foreground, [start, end) in column-major order


def spans(counts: bytes | None) -> Spans:
    """Foreground of a COCO counts string: numbers in base 32, low digits first, from the fourth on as differences."""
    numbers: list[int] = []
    digits: list[int] = []
    for byte in counts or b"":
        code = byte - 48
        digits.append(code & 31)
        if not code & 32:
            number = sum(digit << 5 * place for place, digit in enumerate(digits))
            if code & 16:
                number -= 1 << 5 * len(digits)
            numbers.append(number + numbers[-2] if len(numbers) > 2 else number)
            digits = []
    out, at = [], 0
    for place, length in enumerate(numbers):
        if place % 2 and length:
            out.append((at, at + length))
        at += length
    return out


def area(of: Spans) -> int:
    """Foreground pixels."""
    return sum(end - start for start, end in of)


def shared(a: Spans, b: Spans) -> int:
    """Pixels that are foreground in both."""
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def _overlap(manifest: Row, truth: Row, answer: Row) -> dict[str, int]:
    expected, given = spans(truth["mask"]), spans(answer["mask"])
    both = shared(expected, given)
    areas = {"truth": area(expected), "given": area(given), "image": manifest["height"] * manifest["width"]}
    return {"intersection": both, "union": areas["truth"] + areas["given"] - both, **areas}


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def _over(numerator: int, denominator: int) -> Fraction | None:
    return Fraction(numerator, denominator) if denominator else None


class InstructPart:
    """gIoU and cIoU as LISA defines them, precision strictly above thresholds."""

    NOT_COVERED = ("by_object, by_part, by_affordance, ties and baselines", "the readers of PNG and JSON (level 4)")

    @staticmethod
    def counts(manifest: Row, truth: Row, answer: Row, options: Row) -> dict[str, int]:
        """Pixels of one sample."""
        del options
        of = _overlap(manifest, truth, answer)
        names = {"truth": "truth_area", "given": "prediction_area", "image": "pixels"}
        return {names.get(name, name): value for name, value in of.items()}

    @staticmethod
    def metrics(samples: Sequence[Row]) -> dict[str, Fraction | None]:
        """Of all samples; nothing against nothing is right where the model said so."""
        ious = []
        for s in samples:
            right = s["union"] == 0 and s["status"] in ("answered", "none")
            ious.append(Fraction(1) if right else _over(s["intersection"], s["union"]) or Fraction(0))
        above = {k: sum(iou > Fraction(k, 100) for iou in ious) for k in range(50, 100, 5)}
        return {
            "gIoU": _mean(ious),
            "cIoU": _over(sum(s["intersection"] for s in samples), sum(s["union"] for s in samples)),
            "P@50": _over(above[50], len(ious)),
            "P@50:95": _over(sum(above.values()), len(ious) * len(above)),
        }


class GrinDrive:
    """msIoU over k = 1..10, with its companions."""

    NOT_COVERED = (
        "by_kind, the circulated recipe, P@0.1 over other denominators and baselines",
        "the readers (level 4)",
    )

    @staticmethod
    def counts(manifest: Row, truth: Row, answer: Row, options: Row) -> dict[str, int]:
        """Pixels of one sample."""
        del options
        of = _overlap(manifest, truth, answer)
        names = {"truth": "truth_area", "given": "predicted_area", "image": "image_area"}
        return {names.get(n, n): v for n, v in of.items()} | {"truth_exists": int(of["truth"] > 0)}

    @staticmethod
    def metrics(samples: Sequence[Row]) -> dict[str, Fraction | None]:
        """A rejection that is right scores 1, every other error 0."""
        msiou, iou, hits, right = [], [], 0, 0
        for s in samples:
            target, claimed = bool(s["truth_exists"]), s["status"] == "answered"
            rejected = not target and s["status"] == "none"
            value = Fraction(s["intersection"], s["union"]) if target and claimed else Fraction(int(rejected))
            iou.append(value)
            steps = [min(k * value, Fraction(1)) for k in range(1, 11)]
            msiou.append(Fraction(1) if rejected else sum(steps, Fraction(0)) / 10)
            hits += target and claimed and value > Fraction(1, 10)
            right += rejected or (target and claimed)
        return {
            "msIoU": _mean(msiou),
            "gIoU": _mean(iou),
            "cIoU": _over(sum(s["intersection"] for s in samples), sum(s["union"] for s in samples)),
            "P@0.1": _over(hits, sum(s["truth_exists"] for s in samples)),
            "Acc.": _over(right, len(samples)),
        }
