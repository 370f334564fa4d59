"""KITTI road: which pixels are road (or ego lane), from confidence maps, in perspective and in bird's-eye view."""

from __future__ import annotations

from groundeval.benchmarks import Record
from groundeval.options import Option

_RATES = {
    "MaxF": "highest F1 over the thresholds 0..255, pixels pooled",
    "AP": "11-point average precision",
    "PRE": "precision at the best threshold",
    "REC": "recall at the best threshold",
    "FPR": "false positive rate at the best threshold; lower is better",
    "FNR": "false negative rate at the best threshold; lower is better",
}
_VIEWS = {"bev": "bird's-eye view", "persp": "perspective view"}
_CATEGORIES = ("um_road", "umm_road", "uu_road", "um_lane")

RECORD = Record(
    name="kitti_road",
    title="KITTI road",
    version="1.0",
    shape="map",
    maps="confidences",
    splits=("training", "testing"),
    without_truth=("testing",),
    own_splits=True,
    headline="bev/URBAN/MaxF",  # what the official server ranks by
    columns={
        f"{view}/URBAN/{rate}": f"{said}, {text}" for view, text in _VIEWS.items() for rate, said in _RATES.items()
    }
    | {f"bev/{c}/MaxF": f"{_RATES['MaxF']}, {c} alone, bird's-eye view" for c in _CATEGORIES},
    options={
        "tasks": Option(
            "choice",
            "which truth to expect answers for; by default all there is, and in `testing` the roads alone",
            None,
            ("road", "lane", "both"),
        )
    },
    layout="""\
training/image_2/{um,umm,uu}_NNNNNN.png
training/calib/{um,umm,uu}_NNNNNN.txt
training/gt_image_2/{um,umm,uu}_road_NNNNNN.png and um_lane_NNNNNN.png
testing/image_2/, testing/calib/
splits/NAME.txt            optional: frames of a split of your own, one a line, such as um_000000""",
    images=("training/image_2/{image_id}.png", "data_road/training/image_2/{image_id}.png"),
)
