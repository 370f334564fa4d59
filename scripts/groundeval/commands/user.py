"""Commands for those who have prediction files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundeval.commands import arguments


def evaluate(
    benchmark: arguments.Benchmark,
    truth: Annotated[Path, typer.Option(help="The dataset's folder in the official layout.", readable=False)],
    split: arguments.Split,
    predictions: Annotated[Path, typer.Option(help="The model's prediction file, folder or archive.", readable=False)],
    format: arguments.Format,
    out: arguments.Out,
    set: arguments.Sets = None,
    model: Annotated[str | None, typer.Option(help="The model's name; by default that of the file or folder.")] = None,
    allow_incomplete: arguments.Incomplete = False,
    cores: arguments.Cores = 0,
) -> None:
    """Score one model: official files and prediction files in, metrics.json and samples.parquet out."""
    from groundeval.stages import evaluate as stage

    name = arguments.named_after(predictions) if model is None else model
    said, name = arguments.said(set), arguments.model(name)
    with arguments.using(cores):
        content = stage.run(benchmark, truth, split, predictions, format, said, out, name, allow_incomplete)
    from groundeval.report import leaderboard

    leaderboard.print_terminal([content])
    print(f"\nWritten to {out}: metrics.json, samples.parquet, histograms.parquet, provenance.json")


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of results of one benchmark and split, two or more.")],
    out: Annotated[Path | None, typer.Option(help="Also write the comparison as JSON.")] = None,
) -> None:
    """Tell which runs are better and which are tied: paired differences, intervals, corrected p-values."""
    from groundeval.report import comparison
    from groundeval.stages import compare as stage

    print("\n".join(comparison.lines(stage.run(runs, out))))


def benchmarks() -> None:
    """List the benchmarks: splits, headline, metrics, options, official layout."""
    from groundeval.stages import describe

    describe.benchmarks()


def formats(name: Annotated[str | None, typer.Argument(help="Tell all of one format.")] = None) -> None:
    """List the prediction formats and the options that they need."""
    from groundeval.stages import describe

    describe.formats(name)


def inspect(
    path: Annotated[Path, typer.Argument(help="Prediction files: a file, a folder or an archive.")],
    benchmark: Annotated[str | None, typer.Option(help="Which benchmark they are meant for.")] = None,
    truth: Annotated[Path | None, typer.Option(help="The dataset's folder in the official layout.")] = None,
    split: Annotated[str | None, typer.Option(help="One of the benchmark's splits.")] = None,
    set: arguments.Sets = None,
    out: Annotated[Path | None, typer.Option(help="Write a picture of three samples into this folder.")] = None,
) -> None:
    """Tell what prediction files are, which formats they fit and the command to try. It advises, it does not score."""
    from groundeval.stages import inspect as stage

    stage.run(stage.Asked(path, benchmark, truth, split, arguments.said(set), out))


def demo(
    cores: Annotated[int, typer.Option(help="How many jobs at once.")] = 2,
    predictions_only: Annotated[bool, typer.Option(help="Only write the demo models' predictions.")] = False,
) -> None:
    """Run the whole pipeline as params.yaml says; predictions of the demo models are generated."""
    from groundeval import plan
    from groundeval.stages import demo as stage

    if predictions_only:
        stage.predictions(plan.load(Path("params.yaml")))
    else:
        stage.run(cores)


def package(
    benchmark: arguments.Benchmark,
    predictions: Annotated[Path, typer.Option(help="The model's maps at image size.")],
    calib: Annotated[Path, typer.Option(help="The calibration files of the split.")],
    out: arguments.Out,
) -> None:
    """Build and check what a benchmark's server takes for a split without public truth (kitti_road)."""
    from groundeval.stages import package as stage

    stage.run(benchmark, predictions, calib, out)


def dvc(
    check: Annotated[bool, typer.Option(help="Only say whether dvc.yaml lists the runs of params.yaml.")] = False,
) -> None:
    """Bring dvc.yaml and data/settings in line with params.yaml."""
    from groundeval.stages import dvc as stage

    stage.run(Path("params.yaml"), Path("dvc.yaml"), check)
