"""From the samples of an image or array to a mask. Two values, one of them 0, say what is foreground; more need a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundeval.errors import InputError

DECLARE = "Save masks with two values, 0 and 255, or declare threshold=... if larger values are foreground."


def binarise(
    samples: NDArray[Any], where: str, threshold: float | None = None, fix: str = DECLARE
) -> NDArray[np.bool_]:
    """The mask [H, W] of samples [H, W] or [H, W, C].

    With a threshold: foreground is what is strictly above it. Without: two values {0, v}, v is foreground; a constant
    image is empty where it is 0 and full where it is anything else. All else is an InputError, as are channels that
    differ, transparency, values of float without a threshold (a probability and a logit are not told apart) or not
    finite, and a threshold that no value of the type can exceed. fix: how the caller's format lets its user declare more.
    """
    plane = _plane(samples, where)
    if plane.dtype == np.bool_:
        return plane
    if plane.dtype.kind == "f":
        _check_float(plane, where, threshold, fix)
    elif threshold is not None:
        check_threshold(threshold, np.iinfo(plane.dtype).max, where)
    if threshold is not None:
        above: NDArray[np.bool_] = plane > threshold
        return above
    return _two_valued(plane, where, fix)


def check_threshold(threshold: float, largest: int, where: str) -> None:
    """InputError where nothing can be foreground, as no value exceeds the threshold."""
    if threshold >= largest:
        what = f"no value can exceed threshold={threshold:g}, the largest possible one is {largest}"
        raise InputError(where, what, "Declare a threshold between the two values that were written.")


def _two_valued(plane: NDArray[Any], where: str, fix: str) -> NDArray[np.bool_]:
    """The mask of {0, v}. A few passes over the array, each cheaper than sorting out its distinct values."""
    top = plane.max()
    if plane.dtype == np.uint8 and top <= 1:
        return plane.view(np.bool_)
    mask: NDArray[np.bool_] = plane == top if top else np.zeros(plane.shape, np.bool_)
    if np.count_nonzero(mask) != np.count_nonzero(plane) or (plane.dtype.kind == "i" and plane.min() < 0):
        _refuse_values(plane, where, fix)
    return mask


def _refuse_values(plane: NDArray[Any], where: str, fix: str) -> None:
    low, top = plane.min(), plane.max()
    if low < 0:
        raise InputError(where, f"has values below 0, the least is {low}", fix)
    between = np.argmax((plane != low) & (plane != top))
    row, column = np.unravel_index(between, plane.shape)
    third = plane[row, column]
    if third in (low, top):
        raise InputError(where, f"two values, {low} and {top}, and neither is 0: which one is foreground?", fix)
    what = f"more than two values, {low}, {top} and {third} at row {row}, column {column}"
    raise InputError(where, what, fix)


def _plane(samples: NDArray[Any], where: str) -> NDArray[Any]:
    """The one plane of samples [H, W, C] that carry the same mask in each channel, and no transparency."""
    if samples.ndim == 2:
        return samples
    if samples.ndim != 3 or not 1 <= samples.shape[2] <= 4 or samples.dtype.kind != "u":
        raise InputError(where, f"is an array of shape {samples.shape}, not [H, W]", "Save one plane a mask.")
    colours = samples.shape[2] - 1 if samples.shape[2] in (2, 4) else samples.shape[2]
    if samples.shape[2] != colours and (samples[..., -1] != np.iinfo(samples.dtype).max).any():
        raise InputError(where, "has transparent pixels", "Save the mask without alpha.")
    first = samples[..., 0]
    if any((samples[..., channel] != first).any() for channel in range(1, colours)):
        what = "is a colour image, its channels differ: an overlay, or a mask in palette colours"
        raise InputError(where, what, "Save the mask as one grey channel.")
    return np.ascontiguousarray(first)


def _check_float(plane: NDArray[Any], where: str, threshold: float | None, fix: str) -> None:
    if threshold is None:
        raise InputError(where, f"has values of {plane.dtype}, which may be probabilities or logits", fix)
    if not np.isfinite(plane).all():
        raise InputError(where, "has values that are NaN or infinite", "Correct the model's output.")
