"""mdetr_json: boxes of MDETR and its kin, by the running number of the converted annotation file that they were run on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from groundeval.errors import InputError, first_of, quoted
from groundeval.formats import Format, _box_records, _boxes, _lines, _numbers
from groundeval.options import REQUIRED, Option
from groundeval.sources import ids, jsonfile
from groundeval.sources.folder import Source

FORMAT = Format(
    name="mdetr_json",
    shape="boxes",
    reads="a folder with one JSON of {number: {boxes, scores}}, or a list of {image_id, boxes, scores}, and the annotations",
    options={
        "annotations": Option(
            "text", "the converted annotation file that the model was run on, in the folder: finetune_grefcoco_val.json",
            REQUIRED,
        ),
        **_boxes.OPTIONS,
    },
    example="""\
{"0": {"scores": [0.98, 0.03], "labels": [1, 1], "boxes": [[12.5, 30, 92.5, 71], [0, 0, 5, 5]]}, "1": ...}
[{"img_id": 0, "bboxes": [[12.5, 30, 92.5, 71]], "scores": [0.98]}, ...]   as mmdet collects them
finetune_grefcoco_val.json   {"images": [{"id": 0, "original_id": 581857, "caption": "the cup"}, ...], ...}""",
    traps="""\
The number is that of an expression, not of a COCO image, and changes with each conversion: without the file it is lost.
It leads to the sample by original_id and caption, or by sample_id, or ref_id and sent_id, where the images have them.
Expressions of the same image and text share an answer; where the model gave different ones, these samples are invalid.
No tool writes this JSON by itself: dump the evaluator's predictions (boxes and scores as lists). Pickles are never read.
Boxes are xyxy pixels of the original image after MDETR's postprocessor; others rescale later: declare what yours are.""",
)  # fmt: skip
_FIX = "Dump the evaluator's predictions as {number: {boxes, scores}}."
_FOLDER = "Give the folder that holds both."
_SHARED = (
    "other samples have its image and text, their answers differ or are not all there, and the annotations do not say "
    "which is whose; give their images a sample_id"
)
_READ = ("scores", "width", "height")  # of a record, beside its boxes


def read(
    source: Source, manifest: pa.Table, options: Mapping[str, Any], notes: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """Batches of boxes in the manifest's order; see `formats` for what is an error and what a status."""
    name = _dump(source, options["annotations"])
    where = source.where(name)
    with jsonfile.collector_paused():
        records = _records(jsonfile.load(source.read(name), where), where, options, notes)
        keys = _numbers.keys(source, options["annotations"])
        content, doubtful = _numbers.by_sample(records, keys, manifest, where)
        answers = _box_records.answers(content, manifest, options, where)
        _boxes.check_threshold(answers.scores is not None, options, where)
        rows = _boxes.rows_of(doubtful, manifest, where).tolist()
        answers.faults |= dict.fromkeys(rows, _SHARED)
        found = _boxes.batches(answers, manifest, options, where, notes)
    yield from found


def _dump(source: Source, annotations: str) -> str:
    """The file of the boxes, which is the one beside the annotations."""
    names = source.names(".json")
    if source.single:
        raise InputError(source.path, "is one file, expected the folder of the boxes and their annotations", _FOLDER)
    if annotations not in names:
        raise InputError(source.path, f"has no file {quoted(annotations)}, the annotations", "Put it beside the boxes.")
    rest = [n for n in names if n != annotations]
    if len(rest) != 1:
        what = f"{len(rest)} .json files beside the annotations, expected one"
        raise InputError(source.path, f"{what}; {first_of(rest)}" if rest else what, "Keep one file of boxes.")
    return rest[0]


def _records(content: Any, where: str, options: Mapping[str, Any], notes: Counter[str]) -> dict[str, Any]:
    """Number -> {boxes, scores}, of either form."""
    if isinstance(content, dict):
        return {number: _record(record) for number, record in content.items()}
    if not isinstance(content, list) or not all(isinstance(r, dict) for r in content):
        raise InputError(where, "is neither an object nor a list of records", _FIX)
    numbers = [r.get("image_id", r.get("img_id")) for r in content]
    if wrong := [at for at, n in enumerate(numbers) if type(n) not in (int, str)]:
        raise InputError(f"{where}, record {wrong[0]}", "has no image_id or img_id", _FIX)
    kept = ids.without_repeats(list(map(str, numbers)), content, where, bool(options["drop_padding"]))
    notes.update({_lines.DROPPED: len(content) - len(kept)} if len(kept) < len(content) else {})
    return {str(numbers[at]): _record(content[at]) for at in kept}


def _record(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    boxes = record.get("boxes", record.get("bboxes"))
    return {"boxes": boxes, **{key: record[key] for key in _READ if key in record}}
