"""The stages of the pipeline, which Snakemake and DVC call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundeval.commands import arguments


def settings() -> None:
    """Write what params.yaml says of each model, and the digest of its code, for DVC."""
    from groundeval.stages import settings as stage

    stage.run(Path("params.yaml"))


def download(
    benchmark: arguments.Benchmark,
    version: Annotated[str, typer.Option(help="A version in data/sources.yaml, or demo.")],
    out: arguments.Out,
    sources: Annotated[Path, typer.Option(help="The table of official sources.")] = Path("data/sources.yaml"),
    mirror: Annotated[Path | None, typer.Option(help="A folder that serves instead of the network.")] = None,
    folder: Annotated[Path | None, typer.Option(help="The dataset itself, already in the official layout.")] = None,
) -> None:
    """Fetch, check and unpack a dataset; version `demo` generates one."""
    from groundeval.stages import download as stage

    stage.run(benchmark, version, out, sources, mirror, folder)


def split(
    benchmark: arguments.Benchmark,
    split: arguments.Split,
    raw: Annotated[Path, typer.Option(help="The dataset's folder.")],
    out: arguments.Out,
    set: arguments.Sets = None,
    dataset: Annotated[str | None, typer.Option(help="The dataset's version, for the record.")] = None,
) -> None:
    """Write the manifest: which samples there are."""
    from groundeval import benchmarks, options
    from groundeval.stages import split as stage

    chosen = options.resolve(benchmarks.record(benchmark).options, arguments.said(set), benchmark)
    stage.run(benchmark, raw, split, chosen, out, dataset)


def prepare(
    raw: Annotated[Path, typer.Option()], manifest: Annotated[Path, typer.Option()], out: arguments.Out
) -> None:
    """Write the truth table of a manifest."""
    from groundeval.stages import prepare as stage

    stage.run(raw, manifest, out)


def convert(
    benchmark: arguments.Benchmark,
    manifest: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option(readable=False)],
    format: arguments.Format,
    out: arguments.Out,
    set: arguments.Sets = None,
    allow_incomplete: arguments.Incomplete = False,
    cores: arguments.Cores = 1,
) -> None:
    """Write the predictions table from a model's files."""
    from groundeval.stages import convert as stage

    with arguments.using(cores):
        stage.run(benchmark, manifest, predictions, format, arguments.said(set), out, allow_incomplete)


def score(
    manifest: Annotated[Path, typer.Option()],
    truth: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option()],
    model: Annotated[str, typer.Option()],
    out: arguments.Out,
    histograms: Annotated[Path, typer.Option()],
    cores: arguments.Cores = 1,
) -> None:
    """Write the integer counts of each sample."""
    from groundeval.stages import score as stage

    with arguments.using(cores):
        stage.run(manifest, truth, predictions, arguments.model(model), out, histograms)


def aggregate(
    samples: Annotated[Path, typer.Option()],
    histograms: Annotated[Path, typer.Option()],
    out: arguments.Out,
    summary: Annotated[Path, typer.Option(help="The leaderboard's columns alone.")],
    curves: Annotated[Path, typer.Option(help="The points of precision-recall curves.")],
) -> None:
    """Write metrics.json from the counts."""
    from groundeval.stages import aggregate as stage

    stage.run(samples, histograms, out, summary, curves)


def provenance(
    folder: Annotated[Path, typer.Argument(help="A run's results.")],
    manifest: Annotated[Path, typer.Option()],
    truth: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option()],
    raw: Annotated[Path, typer.Option(help="The download stage's record of the dataset.")],
    out: arguments.Out,
) -> None:
    """Write which bytes made the numbers: an in-toto Statement."""
    from groundeval.stages import provenance as stage

    stage.run(folder, manifest, truth, predictions, raw, out)


def report(
    metrics: Annotated[list[Path], typer.Argument(help="metrics.json files, or params.yaml for all of its runs.")],
    out: Annotated[Path, typer.Option(help="The folder of the report, which it replaces.")],
    root: Annotated[
        Path, typer.Option(help="The tree that holds data/: for the gallery and the instructions.")
    ] = Path(),
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write the report: leaderboards as csv, md, tex and pages that open from disk."""
    from groundeval.stages import report as stage

    stage.show(stage.report([file for path in metrics for file in _results(path)], out, root), open_)


def _results(path: Path) -> list[Path]:
    """A file of results, or those of all runs of a params.yaml: thousands of names are too long for a command line."""
    from groundeval import plan

    return [Path(run.folder, "metrics.json") for run in plan.load(path).runs] if path.suffix == ".yaml" else [path]
