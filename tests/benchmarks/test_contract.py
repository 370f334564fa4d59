"""What every benchmark folder must hold, whichever it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from groundeval import benchmarks, formats
from groundeval.metrics import intervals
from groundeval.samples import arrays
from groundeval.stages import aggregate, score
from tests.benchmarks.case import GOLDEN, Case


@pytest.fixture(scope="module", params=benchmarks.names())
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(request.param, tmp_path_factory.mktemp(request.param))


def measured(
    case: Case, manifest: pa.Table, truth: pa.Table, answers: pa.Table, chosen: dict[str, Any]
) -> dict[str, Any]:
    samples, histograms, digest = score.score(case.name, manifest, truth.to_batches(), answers.to_batches(), chosen)
    said = {"benchmark": case.name, "split": case.split, "dataset": None}
    return aggregate.aggregate(samples, histograms, score.about(said, "x", chosen, {}, "x", digest))


def test_manifest_is_sorted_and_typed(case: Case) -> None:
    manifest, truth, answers, _ = case.tables("almost")
    ids = manifest.column("sample_id").to_pylist()
    assert ids == sorted(set(ids))
    assert truth.column("sample_id").to_pylist() == ids == answers.column("sample_id").to_pylist()
    assert set(manifest.column("kind").to_pylist()) <= {None, *case.record.kinds}


def test_three_models_in_their_formats(case: Case) -> None:
    assert set(case.demo.MODELS) == {"almost", "noisy", "nothing"}
    values = {m: case.evaluate(m)["metrics"][case.record.headline]["value"] for m in case.demo.MODELS}
    assert values["almost"] > values["noisy"] > 0
    assert values["almost"] > values["nothing"]


def test_leaderboard_columns_exist(case: Case) -> None:
    content = case.evaluate("almost")
    assert case.record.headline in case.record.columns
    assert set(case.record.columns) <= set(content["metrics"])
    json.dumps(content, allow_nan=False)
    for name, metric in content["metrics"].items():
        assert metric["value"] is not None or metric.get("reason"), name


def test_counts_add_up(case: Case) -> None:
    for model in case.demo.MODELS:
        counts = case.evaluate(model)["counts"]
        assert counts["expected"] == sum(counts[s] for s in ("answered", "none", "missing", "invalid"))


def test_order_of_samples_changes_nothing(case: Case) -> None:
    manifest, truth, answers, chosen = case.tables("noisy")
    order = list(reversed(range(manifest.num_rows)))
    shuffled = measured(case, *(t.take(order) for t in (manifest, truth, answers)), chosen)
    straight = measured(case, manifest, truth, answers, chosen)
    assert shuffled["metrics"] == straight["metrics"]
    assert shuffled["baselines"] == straight["baselines"]


def test_split_in_two_and_merged(case: Case) -> None:
    manifest, truth, answers, chosen = case.tables("noisy")
    half = manifest.num_rows // 2
    parts = []
    histograms: dict[str, Any] = {}
    whole, whole_histograms, _ = score.score(case.name, manifest, truth.to_batches(), answers.to_batches(), chosen)
    for rows in (slice(0, half), slice(half, manifest.num_rows)):
        cut = [t.slice(rows.start, rows.stop - rows.start) for t in (manifest, truth, answers)]
        samples, found, _ = score.score(case.name, cut[0], cut[1].to_batches(), cut[2].to_batches(), chosen)
        parts.append(samples)
        for name, values in found.items():
            if name in histograms and histograms[name].shape == values.shape:
                histograms[name] = histograms[name] + values
            else:
                histograms.setdefault(name, values)
    assert pa.concat_tables(parts).to_pylist() == whole.to_pylist()
    assert set(histograms) == set(whole_histograms)


def test_a_missing_sample_stops_or_counts_as_wrong(case: Case) -> None:
    manifest, truth, answers, chosen = case.tables("almost")
    content = measured(case, manifest, truth, without(answers), chosen)
    assert content["status"] == "incomplete"
    assert content["counts"]["missing"] == content["counts"]["expected"]
    assert content["metrics"][case.record.headline]["value"] == 0


def test_one_more_wrong_answer_never_helps(case: Case) -> None:
    manifest, truth, answers, chosen = case.tables("almost")
    rows = answers.to_pylist()
    rows[0].update({name: None for name in rows[0] if name not in ("sample_id", "status")}, status="missing")
    worse = measured(case, manifest, truth, pa.Table.from_pylist(rows, schema=answers.schema), chosen)
    whole = measured(case, manifest, truth, answers, chosen)
    name = case.record.headline
    assert worse["metrics"][name]["value"] <= whole["metrics"][name]["value"]


def test_option_names_do_not_clash(case: Case) -> None:
    for name in formats.names():
        if formats.record(name).shape == case.record.shape:
            assert not set(formats.record(name).options) & set(case.record.options)


def test_terms_are_the_metrics(case: Case) -> None:
    """Every metric but a chosen threshold is, from the sums of its terms, the very value; coarse ones nearly."""
    for model in case.demo.MODELS:
        manifest, truth, answers, chosen = case.tables(model)
        table, histograms, _ = score.score(case.name, manifest, truth.to_batches(), answers.to_batches(), chosen)
        samples, protocol = arrays(table), benchmarks.part(case.name, "protocol")
        metrics = protocol.metrics(samples, histograms, chosen)
        terms = protocol.terms(samples, histograms, chosen)
        names = [name for one in terms for name in one.names]
        assert len(names) == len(set(names))
        assert all(
            name.endswith("/threshold") for name, m in metrics.items() if m.value is not None and name not in names
        )
        for one in terms:
            for name, value in one.whole.items():
                if name not in metrics:  # they may know more
                    continue
                metric = metrics[name]
                expected = np.nan if metric.value is None else metric.value / intervals.scale(metric.unit)
                tolerance = {"rtol": 0, "atol": 3e-2} if one.coarse else {"rtol": 1e-12}
                np.testing.assert_allclose(value, expected, err_msg=name, **tolerance)


def test_figures_of_samples(case: Case) -> None:
    """From 0 to 1, one a sample; a better model has better ones; without an answer the one that ranks them is 0."""
    means = {}
    for model in ("almost", "noisy"):
        manifest, truth, answers, chosen = case.tables(model)
        found = by_sample(case, manifest, truth, answers, chosen)
        for name, values in found.items():
            assert values.dtype == np.float64, name
            assert values.shape == (manifest.num_rows,), name
            assert not np.isnan(values).all(), name
            assert ((values >= 0) & (values <= 1) | np.isnan(values)).all(), name
        means[model] = np.nanmean(next(iter(found.values())))
    assert means["almost"] > means["noisy"]
    ranked = next(iter(by_sample(case, manifest, truth, without(answers), chosen).values()))
    assert set(ranked[~np.isnan(ranked)].tolist()) == {0.0}


def by_sample(case: Case, *said: Any) -> dict[str, Any]:
    table, _, _ = score.score(case.name, *(s.to_batches() if i else s for i, s in enumerate(said[:3])), said[3])
    found: dict[str, Any] = benchmarks.part(case.name, "protocol").by_sample(arrays(table), said[3])
    return found


def without(answers: pa.Table) -> pa.Table:
    """Every answer missing."""
    rows = answers.to_pylist()
    for row in rows:
        row.update({name: None for name in row if name not in ("sample_id", "status")}, status="missing")
    return pa.Table.from_pylist(rows, schema=answers.schema)


def test_every_metric_has_an_interval_or_says_why_not(case: Case) -> None:
    content = case.evaluate("noisy")
    for name, metric in content["metrics"].items():
        if metric["value"] is None:
            assert "interval_method" not in metric
        elif "interval" in metric:
            low, high = metric["interval"]
            assert 0 <= low <= metric["value"] <= high <= intervals.scale(metric["unit"]), name
        else:
            assert name.endswith("/threshold")
            assert metric["interval_method"] == intervals.NONE


def test_golden_numbers(case: Case) -> None:
    """A number cannot change without a new version of its benchmark: then put the new ones into golden.json."""
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden[case.name]["version"] == case.record.version
    for model, expected in golden[case.name]["models"].items():
        assert case.columns(model) == pytest.approx(expected, abs=1e-12), model


def test_constants_are_recorded(case: Case) -> None:
    assert case.evaluate("almost")["constants"]


def test_card_names_the_headline(case: Case) -> None:
    card = (Path(benchmarks.__path__[0]) / case.name / "README.md").read_text(encoding="utf-8")
    assert case.record.headline.split("/")[-1] in card
