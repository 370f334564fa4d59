"""gRefCOCO (GREC): which boxes an expression means, none, one or several."""

from __future__ import annotations

from groundeval.benchmarks import Record

RECORD = Record(
    name="grefcoco",
    title="gRefCOCO (GREC)",
    version="1.0",
    shape="boxes",
    splits=("train", "val", "testA", "testB"),
    headline="set_accuracy",
    columns={
        "set_accuracy": "share of expressions whose boxes match the truth one to one at IoU >= 0.5, none left over",
        "set_accuracy_official_code": "the same as the official evaluator decides it: GIoU in float32, largest first",
        "set_accuracy_greedy_iou": "the same with IoU, largest first",
        "set_accuracy_circulated_recipe": "the same, each prediction in file order taking its best free truth",
        "N_acc": "share of no-target expressions answered with no box",
        "T_acc": "share of expressions with a target answered with any box, right or wrong",
        "mean_F1": "mean F1 of the matched boxes over the expressions with a target",
        "disagreements": "share of expressions on which the four set accuracies are not of one mind; lower is better",
    },
    kinds=("none", "single", "multi"),
    layout="""\
grefs(unc).json     the expressions
instances.json      the boxes: COCO train2014 annotations""",
)
