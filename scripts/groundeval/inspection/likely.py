"""What speaks against a reading that is possible: remarks of the inspection, beside those of the format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundeval.inspection.hints import Facts

_FEW = 64  # more different values are no class numbers
# Families whose boxes are read without their marks, too, where special tokens were not kept.
_MARKED: Mapping[str, str] = {"internvl": "<box>", "deepseek_vl2": "<|det|>"}


def doubts(name: str, said: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    """Remarks on one format with its options."""
    if name == "vlm_text":
        yield from _of_texts(str(said.get("family")), facts)
    if name == "class_png" and said.get("colours"):
        return
    distinct = facts.distinct
    if distinct is None:
        return
    if name in ("class_png", "confidence_png") and len(distinct) == 2 and 0 in distinct and max(distinct) > 1:
        yield f"only two values, 0 and {max(distinct):g}: a mask?"
    if name == "mask_png" and said.get("threshold") is not None and 2 < len(distinct) < _FEW:
        yield f"{len(distinct)} different values up to {max(distinct):g}: class numbers?"
    if name == "confidence_png" and (len(distinct) > 2 or max(distinct) <= 1) and max(distinct) < _FEW:
        yield f"no value above {max(distinct):g}: class numbers?"
    if name == "class_png" and len(distinct) > _FEW:
        yield f"{len(distinct)} different values: confidences, or one class's scores?"


def _of_texts(family: str, facts: Facts) -> Iterator[str]:
    """The format itself remarks on the marks of other families."""
    mark = _MARKED.get(family)
    if mark and not any(mark in response for response in facts.responses):
        yield f"no text has {mark}, as {family} writes it"
