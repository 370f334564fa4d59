"""The gallery and the table of samples: from tables on disk to what stands on the pages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from groundeval import tables
from groundeval.errors import InputError
from groundeval.metrics import masks
from groundeval.report import commands, dataset, draw, evidence, gallery, sampletable
from groundeval.report.assemble import boards
from groundeval.report.collect import load
from groundeval.stages.report import report
from report import tree
from report.pages import EVIL, SEEN, Page

IDS = [f"{number}:{number}" for number in range(100, 160)]
TEXTS = [f"the dog number {number}" for number in range(60)]


class Tree:
    """Two models on sixty samples."""

    def __init__(self, root: Path, ids: list[str] = IDS, texts: list[str] = TEXTS, **more: Any) -> None:
        self.root, self.files = root, tree.grefcoco(root, ids, texts, ["one", "two"], **more)
        runs = load(self.files)
        self.evidences = [one for pair in zip(self.files, runs, strict=True) if (one := evidence.load(*pair))]
        self.made = {run.identity: commands.made(file.parent) for file, run in zip(self.files, runs, strict=True)}
        (self.board,) = boards(runs, self.evidences)
        self.ids = self.evidences[0].samples.column("sample_id").to_pylist()

    def dataset(self) -> dataset.Dataset:
        return dataset.find(self.root, self.board, self.ids)

    def gallery(self) -> gallery.Gallery:
        return gallery.make(self.board.record, self.evidences, self.dataset(), self.made)

    def table(self, **more: Any) -> sampletable.SampleTable:
        found = sampletable.make(self.board.record, self.evidences, self.dataset(), self.made, **more)
        assert found is not None
        return found


def decoded(column: dict[str, Any]) -> list[Any]:
    return [column["values"][place] for place in column["at"]] if "at" in column else column["values"]


def test_the_table_has_every_sample_with_its_text_scores_and_counts(tmp_path: Path) -> None:
    made = Tree(tmp_path)
    table = made.table()
    content = json.loads(table.json)
    assert (table.shown, table.total, table.figure, content["ids"]) == (60, 60, "F1", IDS)
    columns = {column["name"]: decoded(column) for column in content["columns"]}
    assert columns["Instruction"] == TEXTS
    assert "Tags" not in columns
    for model, found in zip(content["models"], made.evidences, strict=True):
        assert decoded(model["status"]) == found.samples.column("status").to_pylist()
        assert decoded(model["figures"]["F1"]) == [round(value, 4) for value in found.by_sample["F1"].tolist()]
        counted = [dict(zip(model["counts"], row, strict=True)) for row in decoded(model["counted"])]
        assert counted == found.samples.select(model["counts"]).to_pylist()
        assert model["folder"] == f"results/grefcoco/val/{model['name']}"


def test_a_table_that_would_be_too_large_keeps_the_worst_and_says_so(tmp_path: Path) -> None:
    made = Tree(tmp_path)
    whole = made.table()
    table = made.table(limit=len(whole.json) // 2)
    assert len(table.json) <= len(whole.json) // 2
    assert 0 < table.shown < table.total == 60
    average = (made.evidences[0].by_sample["F1"] + made.evidences[1].by_sample["F1"]) / 2
    kept = {made.ids.index(name) for name in json.loads(table.json)["ids"]}
    assert len(kept) == table.shown
    assert max(average[sorted(kept)]) <= min(average[[row for row in range(60) if row not in kept]])


def test_the_gallery_shows_truth_and_every_model_with_what_leads_to_its_sources(tmp_path: Path) -> None:
    made = Tree(tmp_path)
    found = made.gallery()
    assert [group.name for group, _ in found.groups] == ["worst", "disagree", "median", "random"]
    shown = [sample for _, samples in found.groups for sample in samples]
    assert len({sample.id for sample in shown}) == len(shown) == 12
    truth = {
        row["sample_id"]: row["boxes"] for row in tables.read(tmp_path / "data/truth/grefcoco/val.parquet").to_pylist()
    }
    for sample in shown:
        assert sample.text == TEXTS[IDS.index(sample.id)]
        assert len(sample.truth.boxes) == len(truth[sample.id])
        assert [model.name for model in sample.models] == ["one", "two"] or made.board.runs[0].name == "two"
        for model in sample.models:
            path = f"results/grefcoco/val/{model.name}"
            assert model.trace == f"groundeval trace {path} --metric set_accuracy --sample {sample.id}"
            assert re.fullmatch("[0-9a-f]{64}", model.digest)
            assert "matched" in model.counts
    assert found.lacking == []
    assert made.gallery() == found


def test_a_digest_is_that_of_the_answer_alone() -> None:
    row = {"sample_id": "a", "status": "answered", "boxes": [[1.0, 2, 3, 4]]}
    one, other, moved = (
        gallery.digest_of(next(tables.rows_to_batches([{**row, **more}], tables.predictions_schema("boxes"))))
        for more in ({}, {"sample_id": "b"}, {"boxes": [[1.0, 2, 3, 5]]})
    )
    assert one == other != moved


def test_a_gallery_that_would_be_too_large_keeps_the_first_of_every_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Tree(tmp_path)
    monkeypatch.setattr(gallery.Shown, "weight", 10)
    monkeypatch.setattr(gallery, "LIMIT", 75)
    found = made.gallery()
    assert found.left_out == 5
    assert [len(samples) for _, samples in found.groups] == [2, 2, 2, 1]


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("data/splits/grefcoco/val.parquet", "data/splits/grefcoco/val.parquet is not here"),
        ("data/truth/grefcoco/val.parquet", "data/truth/grefcoco/val.parquet is not here"),
        ("results/grefcoco/val/one/predictions.parquet", "results/grefcoco/val/one/predictions.parquet is not here"),
    ],
)
def test_what_is_not_here_is_said(tmp_path: Path, gone: str, said: str) -> None:
    made = Tree(tmp_path)
    (tmp_path / gone).unlink()
    assert said in made.gallery().lacking
    assert json.loads(made.table().json)["ids"] == IDS
    assert (said in made.table().lacking) == ("splits" in gone)


def test_only_the_dataset_that_was_scored_counts_as_it(tmp_path: Path) -> None:
    made = Tree(tmp_path)
    truth, manifest = (tmp_path / f"data/{kind}/grefcoco/val.parquet" for kind in ("truth", "splits"))
    rows = tables.read(truth)
    boxes = [[[0.0, 0, 1, 1]], *rows.column("boxes").to_pylist()[1:]]
    other = rows.set_column(1, rows.schema.field("boxes"), pa.array(boxes, rows.schema.field("boxes").type))
    tables.write(truth, other.to_batches(), rows.schema, {})
    assert made.dataset().lacking == ("data/truth/grefcoco/val.parquet is not the truth that was scored",)
    known = tables.read(manifest)
    tables.write(manifest, known.slice(1).to_batches(), known.schema, tables.meta(manifest))
    assert made.dataset().lacking == ("data/splits/grefcoco/val.parquet lists other samples than were scored",)
    truth.write_bytes(b"PAR1")
    manifest.write_bytes(b"PAR1")
    assert "not a readable table" in made.dataset().lacking[0]


def test_runs_of_one_board_have_the_same_samples(tmp_path: Path) -> None:
    made = Tree(tmp_path)
    path = made.files[0].with_name("samples.parquet")
    table = tables.read(path)
    tables.write(path, table.slice(1).to_batches(), table.schema, tables.meta(path))
    with pytest.raises(InputError):
        report(made.files, tmp_path / "out", tmp_path)


def test_images_are_shown_where_they_may_be_and_stay_inside_their_folder(tmp_path: Path) -> None:
    images = ["../../../secret.png", "a.png", "b.png", "c.png", "a.png"] * 12
    made = Tree(tmp_path, images=images)
    raw = tmp_path / "data/raw/grefcoco/demo"
    raw.mkdir(parents=True)
    for path in (raw / "a.png", tmp_path / "data/secret.png"):
        Image.new("RGB", (640, 480)).save(path)
    (raw / "b.png").write_bytes(b"no image")
    record = replace(made.board.record, images=("{image_id}",))
    board = replace(made.board, record=record)
    found = gallery.make(record, made.evidences, dataset.find(tmp_path, board, made.ids), made.made)
    photos = {sample.id: sample.photo is not None for _, samples in found.groups for sample in samples}
    assert photos == {name: images[IDS.index(name)] == "a.png" for name in photos}
    assert dataset.find(tmp_path, board, made.ids).raw == raw
    assert set(photos.values()) == {True, False}
    assert set(found.faults) == {"image b.png cannot be shown (UnidentifiedImageError)"}
    assert set(found.lacking) == {"image c.png is not here"}


def test_an_answer_that_no_stage_can_have_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run-lengths of another size than the image are refused before a pixel is made."""
    made = Tree(tmp_path)
    with pytest.raises(ValueError, match="of 307200 pixels"):
        draw.pixels(masks.pack(np.array([10**8]), 10**4, 10**4), 480, 640)

    def undrawable(*_: Any) -> Any:
        raise ValueError("no mask")

    monkeypatch.setattr("groundeval.report.pictures.of_answer", undrawable)
    found = made.gallery()
    assert len(found.faults) == 24
    assert found.faults[0].endswith("cannot be drawn (no mask)")
    assert not any(model.pictures for _, samples in found.groups for sample in samples for model in sample.models)


def test_hostile_text_stays_text_on_every_page(tmp_path: Path) -> None:
    ids = sorted([f"{EVIL} {number}" for number in range(30)])
    texts, images = [f"{EVIL} {number}" for number in range(30)], [f"{EVIL}/{number}" for number in range(30)]
    made = Tree(tmp_path, ids, texts, images=images, fault=EVIL)
    out = report(made.files, tmp_path / "out", tmp_path).index.parent
    for path in out.glob("*.html"):
        found = Page(path.read_text(encoding="utf-8"))
        scripts = [attrs.get("type") for attrs in found.named("script")]
        assert scripts in ([None], [None, "application/json"])
        assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name == "style"]
        assert not {tag for tag, _ in found.tags} & {"img", "iframe", "object", "form"}
        assert not set(found.html) & {"\u202e", "\u200f"}
    assert f"invalid ( {SEEN} )" in Page((out / "grefcoco-val.gallery.html").read_text(encoding="utf-8")).text
    (data,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>',
        (out / "grefcoco-val.samples.html").read_text(encoding="utf-8"),
        re.S,
    )
    assert "<" not in data
    assert json.loads(data)["ids"][0].startswith(SEEN)
