"""vlm_text: the text answers of vision-language models, one JSON line a sample, parsed by the family's own form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from groundeval.formats import Format, _box_records, _boxes, _lines, _vlm_boxes
from groundeval.formats._vlm_boxes import FAMILIES
from groundeval.options import REQUIRED, Option
from groundeval.sources.folder import Source

FORMAT = Format(
    name="vlm_text",
    shape="boxes",
    reads="one JSON Lines file of {sample_id, response}, with the model's text as it came; qwen2_5_vl: and width, height",
    options={
        "family": Option(
            "choice",
            "whose form and coordinates the texts have: 0 to 1000 for qwen2_vl, qwen3_vl, internvl and ferret, 0 to 999 "
            "for rex_omni and deepseek_vl2, pixels of the resized input for qwen2_5_vl (and VLM-R1)",
            REQUIRED,
            tuple(FAMILIES),
        ),
        "none_text": Option(
            "text", "answers that say that nothing is there, with | between, compared whole without case and full stop"
        ),
        "absent": _boxes.OPTIONS["absent"],
        "drop_padding": _boxes.OPTIONS["drop_padding"],
    },
    example="""\
{"sample_id": "27:81", "response": "```json\\n[{\\"bbox_2d\\": [12, 30, 80, 41], \\"label\\": \\"cup\\"}]\\n```"}   qwen3_vl
{"sample_id": "27:81", "response": "[{\\"bbox_2d\\": [12, 30, 80, 41]}]", "width": 644, "height": 476}   qwen2_5_vl
{"sample_id": "27:81", "response": "<|object_ref_start|>cup<|object_ref_end|><|box_start|>(12,30),(80,41)<|box_end|>"}
{"sample_id": "27:81", "response": "<ref>cup</ref><box>[[12, 30, 80, 41]]</box>"}   internvl; ferret: cup [12, 30, 80, 41]
{"sample_id": "27:81", "response": "<|object_ref_start|>cup<|object_ref_end|><|box_start|><12><30><80><41><|box_end|>"}
{"sample_id": "27:81", "response": "<|ref|>cup<|/ref|><|det|>[[12, 30, 80, 41]]<|/det|>"}   deepseek_vl2""",
    traps="""\
An answer that cannot be parsed is invalid, and counts as wrong. It is never taken for "none", which can be right.
An explicit none is: an empty JSON list (qwen2_5_vl, qwen3_vl); empty brackets (internvl, ferret, deepseek_vl2); None
between box tokens (rex_omni); or a text that is declared, --set none_text="none|there is no such object".
Qwen2-VL has no such structure. A refusal, an apology, or an answer that was cut off is none of these.
Keep special tokens (skip_special_tokens=False): rex_omni's coordinates are tokens. Give more tokens than boxes need.
The width and height of qwen2_5_vl are those of the processor's input, 14 times image_grid_thw, not of the photo.
What a model thinks before its answer is not read. Values beyond 1000 are kept and noted: is it another family's form?
Published scripts cut pixels to whole numbers and pass over what they cannot parse; here nothing is rounded.""",
)
_FIX = 'Write one object a line: {"sample_id": "...", "response": "..."}.'


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of boxes in the manifest's order; a text that is neither boxes nor a none is "invalid", with its line."""
    where, family = source.where(source.only(".jsonl")), FAMILIES[options["family"]]
    lines = _lines.read(source, _FIX, bool(options["drop_padding"]), notes)
    nothing = {_plain(text) for text in (options["none_text"] or "").split("|")} - {""}
    boxes, faults = _parsed(lines, family, nothing)
    _note_strangers(lines, options["family"], notes)
    sizes = {line.sample_id: {k: line.record.get(k) for k in ("width", "height")} for line in lines}
    content = {name: {"boxes": found, **sizes[name]} for name, found in boxes.items()}
    said = {**options, "boxes": "xyxy", "unit": family.unit}
    answers = _box_records.answers(content, manifest, said, where)
    rows = _boxes.rows_of(list(faults), manifest, where).tolist()
    answers.faults |= dict(zip(rows, faults.values(), strict=True))
    yield from _boxes.batches(answers, manifest, said, where, notes)


def _parsed(
    lines: Sequence[_lines.Line], family: _vlm_boxes.Family, nothing: set[str]
) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """The boxes of each sample, and why an answer could not be parsed; each sample is in one of the two."""
    boxes, faults = {}, {}
    for line in lines:
        response = line.record.get("response")
        try:
            if not isinstance(response, str):
                raise ValueError("it has no response, or one that is no text")
            text = _vlm_boxes.answer(response)
            boxes[line.sample_id] = [] if _plain(text) in nothing else family.parse(text)
        except ValueError as error:
            faults[line.sample_id] = f"line {line.number} cannot be parsed: {error}"
    return boxes, faults


def _note_strangers(lines: Sequence[_lines.Line], family: str, notes: Counter[str]) -> None:
    """What another family writes, and this one does not."""
    for mark, writers in _vlm_boxes.MARKS.items():
        if family not in writers and (count := sum(mark in str(line.record.get("response")) for line in lines)):
            notes[f"answers with {mark}, as {' and '.join(writers)} write it, read as {family}"] += count
    if FAMILIES[family].unit != "px_resized" and (sized := sum("width" in line.record for line in lines)):
        notes[f"records with a width, which {family} does not use: are they qwen2_5_vl's?"] += sized


def _plain(text: str) -> str:
    return text.strip().removesuffix(".").strip().casefold()
