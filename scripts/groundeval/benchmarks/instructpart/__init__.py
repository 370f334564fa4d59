"""InstructPart: the one part of an object that an instruction asks for, as one mask."""

from __future__ import annotations

from groundeval.benchmarks import Record
from groundeval.options import Option

# Split -> its folder and annotation file in the official layout.
FILES = {"test": ("test", "data_test.json"), "train": ("train/train1800", "data_train.json")}

# Setting -> the indices of an entry's `instruction` list that belong to it (the dataset's page, "instruction").
PROMPTS = {"task_human": (0,), "task_gpt4": (1,), "object_part": (2, 4), "object_part_affordance": (3, 5)}

RECORD = Record(
    name="instructpart",
    title="InstructPart",
    version="1",
    shape="mask",
    splits=tuple(FILES),
    headline="gIoU",
    columns={
        "gIoU": "mean over samples of intersection / union, as LISA defines it; not Generalized IoU",
        "cIoU": "sum of intersections / sum of unions, so that a few large parts decide; not Complete IoU",
        "P@50": "share of samples with IoU > 0.5, strictly",
        "P@50:95": "mean of the shares with IoU > 0.50, 0.55 .. 0.95, strictly",
    },
    options={
        "setting": Option(
            "choice", "which kind of instruction the model was given; one prediction folder each", None, tuple(PROMPTS)
        ),
        "prompt": Option("integer", "index 0..5 of the instruction that was given, where a setting has two"),
    },
    layout="test/data_test.json, test/masks/{stem}-{object}-{part}.png; train/train1800/data_train.json, .../masks/",
    images=("test/images/{image_id}.jpg", "train/train1800/images/{image_id}.jpg"),
)
