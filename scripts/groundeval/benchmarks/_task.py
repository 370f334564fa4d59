"""What a benchmark of class maps is: its classes, its size, the options and the leaderboard's columns that follow."""

from __future__ import annotations

from dataclasses import dataclass

from groundeval.options import Option


@dataclass(frozen=True)
class Task:
    """truth_values: how many values the truth has before merging; size: height and width of the headline."""

    classes: tuple[str, ...]
    truth_values: int
    ignore: int | None
    size: tuple[int, int]

    @property
    def options(self) -> dict[str, Option]:
        """What formats have to know of the benchmark (one choice each), and what a user may choose."""
        size, classes = f"{self.size[0]}x{self.size[1]}", str(len(self.classes))
        return {
            "eval_size": Option("choice", "height x width at which the headline is counted", size, (size,)),
            "classes": Option("choice", "how many classes a prediction has", classes, (classes,)),
            "upsample": Option(
                "choice",
                "bilinear: bring score maps of the scored size to native size for the native/ numbers",
                "none",
                ("none", "bilinear"),
            ),
        }

    @property
    def constants(self) -> dict[str, str]:
        """What every result records."""
        return {
            "headline size": f"{self.size[0]}x{self.size[1]} (height x width), our choice; native/ is beside it",
            "resizing": "labels nearest, src = ((2 dst + 1) S) // (2 D), pixel centre; once, from the pristine label",
            "means": "over the classes that the truth of the split has, class 0 included (our choice)",
            "ignored truth value": "none" if self.ignore is None else str(self.ignore),
        }

    @property
    def columns(self) -> dict[str, str]:
        """The leaderboard's columns: means, then the classes that a method is judged by."""
        at = f"at {self.size[0]}x{self.size[1]}, pixels of the split pooled"
        means = {
            "mIoU": f"mean IoU over the classes of the truth, class 0 included, {at}",
            "mFsc": f"mean F-score at the predicted class, class 0 included, {at}",
            "mAP": "mean step-wise average precision, class 0 included; score maps only",
        }
        without = {f"{name}_without_0": "the same without class 0" for name in means}
        single = {f"{m}/{c}": f"{m} of {c}" for c in self.classes[1:] for m in ("IoU", "Fsc", "AP")}
        return means | without | single | {"native/mIoU": "mIoU at the images' own size"}
