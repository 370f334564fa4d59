"""KITTI semantic: the pixel-level semantic benchmark of KITTI, its label ids merged into four classes."""

from __future__ import annotations

from groundeval.benchmarks import Record
from groundeval.benchmarks._splits import OPTIONS
from groundeval.benchmarks._task import Task
from groundeval.options import Option

PRESETS = ("category", "strict")  # columns of merge.yaml

TASK = Task(
    classes=("unlabeled", "drivable", "vehicles", "pedestrians"),
    truth_values=34,  # Cityscapes label ids 0 .. 33
    ignore=255,
    size=(320, 480),
)

RECORD = Record(
    name="kitti_semantic",
    title="KITTI semantic",
    version="1",
    shape="map",
    maps="classes",
    splits=("test", "val", "train"),
    headline="mIoU",
    columns=TASK.columns,
    options={
        **TASK.options,
        "merge": Option(
            "choice", "which preset of merge.yaml makes four classes of the label ids", "category", PRESETS
        ),
        **OPTIONS,
    },
    layout="""\
training/image_2/NNNNNN_10.png
training/semantic/NNNNNN_10.png              8-bit grey: Cityscapes label ids 0..33, 255 ignored
training/semantic_rgb/, training/instance/, testing/   not read
splits/train.txt, val.txt, test.txt          optional: one stem (NNNNNN_10) of training a line""",
    images=("training/image_2/{image_id}.png",),
)
