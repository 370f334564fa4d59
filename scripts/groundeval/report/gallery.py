"""A few samples of a leaderboard, drawn: the worst, those in the middle, some by lot, and those that models disagree on."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from groundeval import tables
from groundeval.benchmarks import Record, _photo
from groundeval.errors import quoted
from groundeval.provenance import results
from groundeval.report import choose, commands, draw, pictures
from groundeval.report.collect import Run
from groundeval.report.commands import Made
from groundeval.report.dataset import Dataset
from groundeval.report.evidence import Evidence
from groundeval.report.pictures import Picture

LIMIT = 3_000_000  # bytes of all pictures of one gallery
LONGEST_COUNT = 16  # numbers of a count that is shown; a histogram is not


@dataclass(frozen=True)
class Model:
    """A model's answer to one sample. figure: the score by which samples are ranked."""

    name: str
    status: str
    reason: str | None
    figure: float | None
    counts: str
    digest: str
    trace: str
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Shown:
    """One sample of a gallery. photo: the image as a data: address, where it is there and may be shown."""

    id: str
    about: Sequence[tuple[str, str]]
    text: str | None
    width: int
    height: int
    photo: str | None
    truth: Picture
    digest: str
    models: Sequence[Model]

    @property
    def weight(self) -> int:
        """Bytes of its pictures."""
        drawn = [self.truth, *(picture for model in self.models for picture in model.pictures)]
        return len(self.photo or "") + sum(len(address) for picture in drawn for address in picture.overlays)


@dataclass(frozen=True)
class Gallery:
    """Groups of samples in the order of the page; legend: (what, css colour). left_out: samples for want of room.

    lacking: what is not shown for want of a file; faults: what is here and cannot be shown.
    """

    groups: Sequence[tuple[choose.Group, Sequence[Shown]]] = ()
    legend: Sequence[tuple[str, str]] = ()
    figure: str = ""
    left_out: int = 0
    lacking: Sequence[str] = ()
    faults: Sequence[str] = ()


def make(record: Record, evidences: Sequence[Evidence], dataset: Dataset, made: Mapping[Any, Made]) -> Gallery:
    """The gallery of a board. evidences: those of its runs that have some, in the board's order; made: by identity."""
    if not evidences:
        return Gallery(lacking=["no run has a samples.parquet beside its metrics.json"])
    if dataset.manifest is None or dataset.truth is None:
        return Gallery(lacking=dataset.lacking)
    figure, figures = ranking(evidences)
    ids = evidences[0].samples.column("sample_id").to_pylist()
    groups = choose.groups(ids, figures, figure)
    drawing = _Drawing(record, evidences, dataset, made, figure, {ids[row] for group in groups for row in group.rows})
    if not drawing.truths:
        return Gallery(lacking=["this split has no public truth, so there is nothing to draw"])
    kept, left_out = _fitting([(group, [drawing.sample(row, ids[row]) for row in group.rows]) for group in groups])
    said = [*dataset.lacking, *drawing.lacking]
    return Gallery(kept, drawing.legend(), figure, left_out, said, drawing.faults)


def ranking(evidences: Sequence[Evidence]) -> tuple[str, list[choose.Floats]]:
    """The name of the figure that ranks samples, and its values [n] for each run."""
    name = next(iter(evidences[0].by_sample))
    return name, [evidence.by_sample[name] for evidence in evidences]


def counts(row: Mapping[str, Any]) -> dict[str, Any]:
    """What was counted on one sample; long lists are left out."""
    about = {"sample_id", "image_id", "kind", "tags", "status"}
    short = {name: value for name, value in row.items() if name not in about}
    return {name: v for name, v in short.items() if not isinstance(v, list) or len(v) <= LONGEST_COUNT}


class _Drawing:
    """Everything that the pictures of one gallery need, read once."""

    def __init__(
        self,
        record: Record,
        evidences: Sequence[Evidence],
        dataset: Dataset,
        made: Mapping[Any, Made],
        figure: str,
        wanted: Collection[str],
    ) -> None:
        self.record, self.evidences, self.dataset, self.made, self.figure = record, evidences, dataset, made, figure
        self.lacking: list[str] = []
        self.faults: list[str] = []
        assert dataset.truth is not None
        self.truths = {name: row for name, row in tables.pick(dataset.truth, wanted).items() if _is_known(row)}
        self.answers = [self._answers(evidence, wanted) for evidence in evidences]

    def _answers(self, evidence: Evidence, wanted: Collection[str]) -> dict[str, pa.RecordBatch]:
        path = evidence.folder / results.PREDICTIONS
        if path.is_file():
            return tables.pick(path, wanted)
        self.lacking.append(f"{commands.folder(evidence.run, Made(True, None))}/{path.name} is not here")
        return {}

    def legend(self) -> list[tuple[str, str]]:
        first = next(iter(self.truths))
        return pictures.legend(self.record, self.evidences[0].run, self._sides(first))

    def _sides(self, name: str) -> pictures.Sample:
        return pictures.Sample(self.record, self.dataset.known[name], self.truths[name])

    def sample(self, row: int, name: str) -> Shown:
        sample = self._sides(name)
        known, (height, width) = sample.known, sample.size
        shape = f"{known['width']} x {known['height']}"
        said = {"kind": known["kind"], "image": known["image_id"], "pixels": shape, **dict(known["tags"])}
        about = [(what, str(value)) for what, value in said.items() if value is not None and len(str(value)) <= 80]
        models = [self._model(row, sample, i) for i in range(len(self.evidences))]
        digest = known["truth_sha256"] or digest_of(sample.truth)
        truth = pictures.of_truth(sample, self.evidences[0].run)
        return Shown(name, about, known["text"], width, height, self._photo(known, sample.size), truth, digest, models)

    def _model(self, row: int, sample: pictures.Sample, place: int) -> Model:
        evidence, name = self.evidences[place], sample.known["sample_id"]
        answer, run = self.answers[place].get(name), evidence.run
        counted = evidence.samples.slice(row, 1).to_pylist()[0]
        value = float(evidence.by_sample[self.figure][row])
        return Model(
            run.label,
            counted["status"],
            None if answer is None else answer.column("reason")[0].as_py(),
            None if np.isnan(value) else value,
            ", ".join(f"{what} {shown(count)}" for what, count in counts(counted).items()),
            "" if answer is None else digest_of(answer),
            commands.trace(run, self.made[run.identity], self.record.headline, name),
            self._drawn(sample, answer, run) if answer is not None else [],
        )

    def _drawn(self, sample: pictures.Sample, answer: pa.RecordBatch, run: Run) -> list[Picture]:
        """An answer that no stage can have written is said, and nothing is drawn."""
        try:
            return pictures.of_answer(sample, answer, run)
        except (ValueError, TypeError, IndexError) as error:
            path = f"{commands.folder(run, Made(True, None))}/{results.PREDICTIONS}"
            self.faults.append(f"{path}: {quoted(sample.known['sample_id'])} cannot be drawn ({error})")
            return []

    def _photo(self, known: Mapping[str, Any], size: tuple[int, int]) -> str | None:
        """An image that is not here or cannot be shown is said, and a plain canvas stands for it."""
        raw = self.dataset.raw
        if raw is None:
            return None
        found = _photo.find(self.record, raw, known)
        if found is None:  # a dataset that came without its images
            return None
        name = found.relative_to(raw).as_posix()
        if not found.is_file():
            self.lacking.append(f"image {name} is not here")
            return None
        try:
            return draw.photo(found, *size)
        except (OSError, ValueError, Warning) as error:
            self.faults.append(f"image {name} cannot be shown ({type(error).__name__})")
            return None


def digest_of(row: pa.RecordBatch) -> str:
    """sha256 over what a row holds beside its id: of the same mask, boxes or map it is the same."""
    digest = hashlib.sha256()
    for name, column in zip(row.schema.names, row.columns, strict=True):
        if name not in ("sample_id", "reason"):
            value = column[0].as_py()
            digest.update(f"{name} ".encode())
            digest.update(value if isinstance(value, bytes) else repr(value).encode())
    return digest.hexdigest()


def shown(value: Any) -> str:
    """A count, or a short list of them."""
    return f"[{' '.join(map(str, value))}]" if isinstance(value, list) else f"{value:,}"


def _is_known(row: pa.RecordBatch) -> bool:
    return any(row.column(name)[0].is_valid for name in ("mask", "boxes", "map") if name in row.schema.names)


def _fitting(
    groups: Sequence[tuple[choose.Group, Sequence[Shown]]],
) -> tuple[list[tuple[choose.Group, list[Shown]]], int]:
    """As many as fit, the first of every group before the second of any."""
    room, kept = LIMIT, set[str]()
    for _, sample in sorted(_places(groups), key=lambda place: place[0]):
        if sample.weight <= room:
            room -= sample.weight
            kept.add(sample.id)
    left = [(group, [sample for sample in samples if sample.id in kept]) for group, samples in groups]
    total = sum(len(samples) for _, samples in groups)
    return [(group, samples) for group, samples in left if samples], total - len(kept)


def _places(groups: Sequence[tuple[choose.Group, Sequence[Shown]]]) -> Iterator[tuple[int, Shown]]:
    return ((place, sample) for _, samples in groups for place, sample in enumerate(samples))
