"""The boxes in a text answer of a vision-language model, by the family's own form. What cannot be read is never "none".

Each parser gives the boxes in the text's order, as four values each in the family's unit. An empty list is an explicit
none, by the structures that FAMILIES names. ValueError says why a text is neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from groundeval.errors import InputError, quoted
from groundeval.sources import jsonfile

Boxes = list[Any]


class Family(NamedTuple):
    """unit: as in `_boxes.OPTIONS`."""

    unit: str
    parse: Callable[[str], Boxes]


_NUMBER = r"\s*(-?\d+(?:\.\d+)?)\s*"
_PAIR = re.compile(rf"\({_NUMBER},{_NUMBER}\)\s*,\s*\({_NUMBER},{_NUMBER}\)")
_BINS = re.compile(r"\s*<(\d+)><(\d+)><(\d+)><(\d+)>\s*")
_FOUR = re.compile(rf"{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}")
_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_ENDS = re.compile(r"(<\|im_end\|>|<\|endoftext\|>|</s>|<｜end▁of▁sentence｜>)\s*$")
_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)


def answer(text: str) -> str:
    """What a text answers, without the thinking before it and the token that ends it."""
    text = _ENDS.sub("", text)
    if "<think>" in text:
        if "</think>" not in text:
            raise ValueError("it is cut off within its thinking")
        text = text.rsplit("</think>", 1)[1]
    if "<answer>" in text:
        found = _between(text, "<answer>", "</answer>")
        if len(found) != 1:
            raise ValueError(f"it has {len(found)} answers")
        text = found[0]
    return text.strip()


def _between(text: str, start: str, end: str) -> list[str]:
    """The texts between two tokens, none of them nested or left open."""
    parts = text.split(start)
    if any(part.count(end) != 1 for part in parts[1:]) or end in parts[0]:
        raise ValueError(f"it is cut off, or {start} and {end} do not match")
    return [part.split(end)[0] for part in parts[1:]]


def _pairs(text: str) -> Boxes:
    """(x1,y1),(x2,y2) between box tokens, or anywhere where the tokens were not kept."""
    spans = _between(text, "<|box_start|>", "<|box_end|>")
    found = [_PAIR.fullmatch(s.strip()) for s in spans] if spans else list(_PAIR.finditer(text))
    if not spans and re.search(r"\(\s*-?\d", _PAIR.sub("", text)):
        raise ValueError("it is cut off, or has a point that belongs to no box")
    return [_numbers(match, text) for match in found] or _nothing(text)


def _bins(text: str) -> Boxes:
    """<x1><y1><x2><y2>, with commas between, or None, between box tokens."""
    spans = [s.strip() for s in _between(text, "<|box_start|>", "<|box_end|>")]
    boxes = [_numbers(_BINS.fullmatch(part), part) for s in spans if s != "None" for part in s.split(",")]
    return boxes if spans else _nothing(text)


def _numbers(match: re.Match[str] | None, text: str) -> list[float]:
    if match is None:
        raise ValueError(f"it has a box that is none: {quoted(text)}")
    return [float(n) for n in match.groups()]


def _brackets(start: str = "", end: str = "") -> Callable[[str], Boxes]:
    """[x1, y1, x2, y2], or lists of them, between two tokens, or anywhere where the tokens were not kept."""

    def parse(text: str) -> Boxes:
        spans = _between(text, start, end) if start else []
        joined = " ".join(spans) or text
        if joined.count("[") != joined.count("]"):
            raise ValueError("it is cut off, a bracket is left open")
        if spans and not re.fullmatch(r"[\s,\[\]]*", _INNERMOST.sub("", joined)):
            raise ValueError(f"it has more than boxes between {start} and {end}: {quoted(joined)}")
        groups = _INNERMOST.findall(joined)
        return [_numbers(_FOUR.fullmatch(g), g) for g in groups if g.strip()] if groups else _nothing(text)

    return parse


def _json(text: str) -> Boxes:
    """A JSON list of {"bbox_2d": [x1, y1, x2, y2]} or of boxes, or one of either, alone or in one ```json block."""
    blocks = _FENCE.findall(text)
    if len(blocks) > 1 or text.count("```") % 2:
        raise ValueError("it is cut off within its JSON" if len(blocks) < 2 else f"it has {len(blocks)} blocks of JSON")
    body = blocks[0] if blocks else text
    starts, end = [at for at in (body.find("["), body.find("{")) if at >= 0], max(body.rfind("]"), body.rfind("}"))
    if not starts:
        return _nothing(text)
    if set("[{") & set(body[end + 1 :]):
        raise ValueError("its JSON is cut off")
    try:
        content = jsonfile.load(body[min(starts) : end + 1].encode(errors="replace"), "")
    except InputError as error:
        raise ValueError(f"its JSON cannot be read, {error.what}") from None
    alone = isinstance(content, dict) or (content and not any(isinstance(item, dict | list) for item in content))
    return [_box(item) for item in ([content] if alone else content)]


def _box(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    found = [item[key] for key in ("bbox_2d", "bbox", "box_2d") if key in item]
    if len(found) != 1:
        raise ValueError("its JSON has an object without bbox_2d")
    return found[0]


def _nothing(text: str) -> Boxes:
    raise ValueError(f"it has no box, and nothing that says none: {quoted(text)}")


# What tells a family, where special tokens were kept.
MARKS: Mapping[str, tuple[str, ...]] = {
    "<|det|>": ("deepseek_vl2",),
    "<box>": ("internvl",),
    "<|box_start|>": ("qwen2_vl", "rex_omni"),
    "bbox_2d": ("qwen2_5_vl", "qwen3_vl"),
}

FAMILIES: Mapping[str, Family] = {
    "qwen2_vl": Family("norm1000", _pairs),
    "qwen2_5_vl": Family("px_resized", _json),
    "qwen3_vl": Family("norm1000", _json),
    "internvl": Family("norm1000", _brackets("<box>", "</box>")),
    "ferret": Family("norm1000", _brackets()),
    "rex_omni": Family("norm999", _bins),
    "deepseek_vl2": Family("norm999", _brackets("<|det|>", "<|/det|>")),
}
