"""GRiN-Drive: where a navigation instruction says to go, as the union of any number of regions, or nowhere."""

from __future__ import annotations

from groundeval.benchmarks import Record

RECORD = Record(
    name="grin_drive",
    title="GRiN-Drive",
    version="1.0",
    shape="mask",
    splits=("train", "val", "test"),
    headline="msIoU",
    columns={
        "msIoU": "mean over samples and k = 1..10 of min(k * IoU, 1); K = 0.1 (so n = 10) is inferred, not quoted",
        "gIoU": "mean IoU of all samples; a correct rejection is 1, a false alarm or a miss 0",
        "cIoU": "pixels of all intersections / pixels of all unions",
        "P@0.1": "percent of target samples with IoU > 0.1; a miss counts",
        "Acc.": "percent of samples whose existence of a target is told correctly",
        "msIoU_circulated_recipe": "not msIoU: 0.55 * IoU of target samples, 1 for every sample without a target",
    },
    kinds=("none", "single", "multi"),
    layout="""\
{train,val,test}.jsonl     one sample a line: {"sample_id", "image", "height", "width", "instruction", "regions": [...],
                           "unit": "px" or "norm1" where there are polygons}; an empty list: there is no target;
                           a region is {"polygons": [[x, y, x, y, ...], ...]}, or {"size": [h, w], "counts": "..."}, or
                           {"png": "masks/0001.png"}
or Talk2Car-RegSeg:
*.json                     {split: {index: {"img", "command", ...}}}
*/gt_img_ann_{split}_{index}.png    the mask of each sample, in one folder""",
    images=("{image_id}",),
)
