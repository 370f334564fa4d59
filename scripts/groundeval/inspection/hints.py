"""Values to try for options that are no choice, from what the files hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from groundeval.formats import _vlm_boxes
from groundeval.inspection import pictures, records
from groundeval.inspection.part import Seen
from groundeval.inspection.pictures import Pictures
from groundeval.options import Option

# A score threshold of 0.7 is what the official code of gRefCOCO uses.
NUMBERS: Mapping[str, Sequence[str]] = {"score_threshold": ("0.7", "0.5", "0"), "threshold": ("127", "50", "0")}
_TEXTS, _LONGEST, _MOST_COLOURS = 3, 60, 32


@dataclass
class Facts:
    """What trials want to know of the files. texts: values to try, by option; responses: of a language model."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    responses: list[str] = field(default_factory=list)
    distinct: Counter[float] | None = None  # of the pixels of 8-bit images


def of(seen: Seen, found: Pictures) -> Facts:
    """From the part of the files that is in memory."""
    rows = [row for value in seen.records if isinstance(value, list) for row in value if isinstance(row, dict)]
    facts = Facts(responses=[row["response"] for row in rows if isinstance(row.get("response"), str)])
    facts.distinct = next((v.counts for kind, v in found.values.items() if kind.startswith("8-bit")), None)
    for option, wanted in (("annotations", "annotations"), ("map", "names")):
        facts.texts[option] = [n for n, value in seen.values.items() if records.kind(value) == wanted]
    facts.texts["none_text"] = _nothing(facts.responses)
    facts.texts["colours"] = _table(found.colours.counts)
    return facts


def values(name: str, option: Option, facts: Facts) -> Sequence[str]:
    """What to try for an option, from its record, but for texts and numbers."""
    if option.kind == "choice":
        return option.choices
    if option.kind == "flag":
        return ("true", "false")
    return NUMBERS.get(name, ()) if option.kind == "number" else facts.texts.get(name, ())


def _nothing(responses: Sequence[str]) -> list[str]:
    """The texts without a number that models answer most, the first alone, and then with the others."""
    plain = Counter(text for response in responses for text in _plain(response))
    common = [text for text, _ in plain.most_common(_TEXTS)]
    return ["|".join(common[:n]) for n in range(1, len(common) + 1)]


def _plain(response: str) -> Iterator[str]:
    try:
        text = _vlm_boxes.answer(response).removesuffix(".").strip().casefold()
    except ValueError:
        return
    if 0 < len(text) <= _LONGEST and not re.search(r"[\d|<>\[\]{}]", text):
        yield text


def _table(colours: Counter[float] | None) -> list[str]:
    """A number for each colour, the commonest first: which is which, no file says."""
    if not colours or len(colours) > _MOST_COLOURS:
        return []
    return [colour_table({int(colour): number for number, (colour, _) in enumerate(colours.most_common())})]


def colour_table(numbers: Mapping[int, int]) -> str:
    """As the option colours of class_png takes it. numbers: 0xRRGGBB -> class."""
    ordered = sorted(numbers.items(), key=lambda item: (item[1], item[0]))
    return " ".join(f"{number}={pictures.hexadecimal(colour)}" for colour, number in ordered)
