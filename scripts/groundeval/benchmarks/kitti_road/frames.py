"""The names of KITTI road: frames `um_000000`, samples `um_road_000000`, and which of them a split holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from groundeval.benchmarks.kitti_road import RECORD
from groundeval.errors import InputError, did_you_mean, first_of
from groundeval.sources.folder import Source

_FRAME = re.compile(r"(um|umm|uu)_\d{6}")
_SAMPLE = re.compile(r"(um_lane|um_road|umm_road|uu_road)_\d{6}")
_TASKS = {"road": ("road",), "lane": ("lane",), "both": ("road", "lane")}
_UNPACK = "Unpack the official archive (image_2, calib and gt_image_2 of the same frames)."


def frame_of(sample: str) -> str:
    """The frame of a sample: um_lane_000007 -> um_000007."""
    scene, _, number = sample.split("_")
    return f"{scene}_{number}"


def category_of(sample: str) -> str:
    """The category of a sample: um_lane_000007 -> um_lane."""
    return sample.rpartition("_")[0]


def sample_of(frame: str, task: str) -> str:
    """The sample of a frame and a task (road, lane)."""
    scene, _, number = frame.partition("_")
    return f"{scene}_{task}_{number}"


def part(raw: Path, split: str) -> Path:
    """The folder that holds a split's files: testing/, or training/, of which a user's list is a subset.

    The official archive's own top folder, data_road/, may be there or not.
    """
    name = split if split in RECORD.without_truth else "training"
    found = next((r / name for r in (raw, raw / "data_road") if (r / name).is_dir()), None)
    if found is None:
        raise InputError(raw, f"there is no folder {name}/ in it", f"Lay it out as\n{RECORD.layout}")
    return found


def samples(raw: Path, split: str, tasks: str | None, notes: Counter[str]) -> list[str]:
    """The sorted sample ids of a split. tasks: road, lane, both, or None for the default of the option."""
    folder = part(raw, split)
    wanted = _TASKS[tasks or ("road" if split in RECORD.without_truth else "both")]
    if split in RECORD.without_truth:
        found = [sample_of(f, t) for f in _stems(folder / "image_2", _FRAME) for t in wanted if _exists(f, t)]
    else:
        found = _labelled(folder, notes)
        found = _listed(folder.parent / "splits" / f"{split}.txt", found) if split not in RECORD.splits else found
    kept = sorted(s for s in found if s.split("_")[1] in wanted)
    if not kept:
        raise InputError(folder, f"no sample of split {split} for {' or '.join(wanted)}", _UNPACK)
    return kept


def _exists(frame: str, task: str) -> bool:
    """Whether the benchmark has such a task: the ego lane is one of um frames alone."""
    return task == "road" or frame.startswith("um_")


def _labelled(folder: Path, notes: Counter[str]) -> list[str]:
    """All samples with a truth. Where the images are there too, each has to have its truth and the other way round."""
    found = _stems(folder / "gt_image_2", _SAMPLE)
    framed = {frame_of(s) for s in found}
    if not (folder / "image_2").is_dir():
        notes["image_2/ is absent: not checked that every image has its truth"] += 1
    else:
        pictures = set(_stems(folder / "image_2", _FRAME))
        _refuse(folder, sorted(pictures - framed), "images have no truth in gt_image_2/")
        _refuse(folder, sorted(framed - pictures), "frames have a truth and no image in image_2/")
    if laneless := {f for f in framed if f.startswith("um_")} - {frame_of(s) for s in found if "_lane_" in s}:
        notes["um frames without a truth for the ego lane"] += len(laneless)
    return found


def _stems(folder: Path, pattern: re.Pattern[str]) -> list[str]:
    """The names of a folder's PNG files without the ending; a name that the benchmark does not have is an error."""
    stems = [n.removesuffix(".png") for n in Source(folder).names(".png")]
    _refuse(folder, [s for s in stems if not pattern.fullmatch(s)], "names are none of this benchmark's")
    return stems


def _refuse(where: Path, names: Sequence[str], what: str, fix: str = _UNPACK) -> None:
    if names:
        raise InputError(where, f"{len(names)} {what}, {first_of(names)}", fix)


def _listed(path: Path, found: Iterable[str]) -> list[str]:
    """The samples of the frames that a user's list names, one frame a line."""
    if not path.is_file():
        known = [*RECORD.splits, *(p.stem for p in path.parent.glob("*.txt"))]
        raise InputError(path, f"no such split{did_you_mean(path.stem, known)}", "Correct the name, or write the list.")
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    listed = [line for line in lines if line]
    framed = {frame_of(s) for s in found}
    fix = "Write one frame of training/ a line, such as um_000000, each once."
    _refuse(path, [f for f in listed if f not in framed], "lines are no frame of training/", fix)
    _refuse(path, [f for f, n in Counter(listed).items() if n > 1], "frames stand more than once", fix)
    return [s for s in found if frame_of(s) in set(listed)]
