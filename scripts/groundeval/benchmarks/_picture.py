"""What a picture of one sample of a benchmark of maps shows: the truth and an answer as classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.benchmarks._task import Task
from groundeval.metrics import confusion

CLEAR = 255  # of a truth: not evaluated, so nothing is drawn


@dataclass(frozen=True)
class Layers:
    """names: of the classes, 0 first. truth [H, W] uint8: a class or CLEAR. answer [h, w] uint8, perhaps of another size:
    a class, or len(names) for a value that is none; None where there is no usable answer.
    """

    names: tuple[str, ...]
    truth: NDArray[np.uint8]
    answer: NDArray[np.uint8] | None


def of_task(task: Task, truth: NDArray[np.uint8], answer: NDArray[Any] | None) -> Layers:
    """Of a benchmark of class maps. truth: classes or CLEAR; answer: a class map [h, w] or score maps [C, h, w]."""
    if answer is not None:
        chosen = confusion.class_map(answer) if answer.ndim == 3 else answer
        count = len(task.classes)
        answer = np.where((chosen >= 0) & (chosen < count), chosen, count).astype(np.uint8)
    return Layers(task.classes, truth, answer)
