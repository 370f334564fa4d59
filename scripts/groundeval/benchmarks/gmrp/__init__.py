"""GMRP: drivable area and road anomalies for ground mobile robots, from RGB-D frames."""

from __future__ import annotations

from groundeval.benchmarks import Record
from groundeval.benchmarks._splits import OPTIONS
from groundeval.benchmarks._task import Task

TASK = Task(
    classes=("unlabeled", "drivable_area", "road_anomaly"),
    truth_values=3,
    ignore=None,  # unlabeled is a class: it is predicted and scored
    size=(320, 480),
)

RECORD = Record(
    name="gmrp",
    title="GMRP",
    version="1",
    shape="map",
    maps="classes",
    splits=("test", "val", "train"),
    headline="mIoU",
    columns=TASK.columns,
    options={**TASK.options, **OPTIONS},
    layout="""\
rgb/STEM.png, depth_u8/STEM.png, depth_u16/STEM.png
label/STEM.png                               8-bit grey: 0 unlabeled, 1 drivable area, 2 road anomaly
splits/train.txt, val.txt, test.txt          optional: one stem a line""",
    images=("rgb/{image_id}.png",),
)
