"""The command line: one function a command. Each imports its stage only when it runs."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from groundeval.errors import InputError

app = typer.Typer(
    name="groundeval",
    help="From prediction files to benchmark numbers that can be trusted and audited.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Sets = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option; may be repeated.")]
Benchmark = Annotated[str, typer.Argument(help="See `groundeval benchmarks`.")]
Split = Annotated[str, typer.Option(help="One of the benchmark's splits.")]
Out = Annotated[Path, typer.Option(help="What to write.")]
Format = Annotated[str, typer.Option("--format", help="See `groundeval formats`.")]
Incomplete = Annotated[bool, typer.Option("--allow-incomplete", help="Count missing and invalid answers as wrong.")]
Stage = "Stages (the pipeline calls these)"


@dataclass
class _State:
    """What the options before the command say."""

    log: Path | None = None


state = _State()


@app.callback()
def root(log: Annotated[Path | None, typer.Option(help="Also write an error message to this file.")] = None) -> None:
    """From prediction files to benchmark numbers that can be trusted and audited."""
    state.log = log


def main() -> None:
    """Run a command. A user's mistake is one line on stderr and exit code 2."""
    try:
        app()
    except InputError as error:
        _fail(error.line())
    except OSError as error:
        _fail(f"{error.filename or 'groundeval'}: {error.strerror or error}. Check permissions and free space.")


def _fail(line: str) -> None:
    print(line, file=sys.stderr)
    if state.log is not None:
        state.log.parent.mkdir(parents=True, exist_ok=True)
        state.log.write_text(line + "\n", encoding="utf-8")
    raise SystemExit(2)


@app.command()
def evaluate(
    benchmark: Benchmark,
    truth: Annotated[Path, typer.Option(help="The dataset's folder in the official layout.")],
    split: Split,
    predictions: Annotated[Path, typer.Option(help="The model's prediction file or folder.")],
    format: Format,
    out: Out,
    set: Sets = None,
    model: Annotated[str | None, typer.Option(help="The model's name; by default that of the file or folder.")] = None,
    allow_incomplete: Incomplete = False,
) -> None:
    """Score one model: official files and prediction files in, metrics.json and samples.parquet out."""
    from groundeval.stages import evaluate as stage

    name = model or re.sub(r"^[^A-Za-z]+|[^A-Za-z0-9._-]+", "_", predictions.resolve().stem).strip("_") or "model"
    content = stage.run(benchmark, truth, split, predictions, format, _said(set), out, _model(name), allow_incomplete)
    from groundeval.report import leaderboard

    leaderboard.print_terminal([content])
    print(f"\nWritten: {out / 'metrics.json'}, {out / 'samples.parquet'}")


@app.command()
def benchmarks() -> None:
    """List the benchmarks: splits, headline, metrics, options, official layout."""
    from groundeval.stages import describe

    describe.benchmarks()


@app.command()
def formats(name: Annotated[str | None, typer.Argument(help="Tell all of one format.")] = None) -> None:
    """List the prediction formats and the options that they need."""
    from groundeval.stages import describe

    describe.formats(name)


@app.command()
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


@app.command()
def dvc(
    check: Annotated[bool, typer.Option(help="Only say whether dvc.yaml lists the runs of params.yaml.")] = False,
) -> None:
    """Bring the run table of dvc.yaml in line with params.yaml."""
    from groundeval.stages import dvc as stage

    stage.run(Path("params.yaml"), Path("dvc.yaml"), check)


@app.command(rich_help_panel=Stage)
def download(
    benchmark: Benchmark,
    version: Annotated[str, typer.Option(help="A version in data/sources.yaml, or demo.")],
    out: Out,
    sources: Annotated[Path, typer.Option(help="The table of official sources.")] = Path("data/sources.yaml"),
    mirror: Annotated[Path | None, typer.Option(help="A folder that serves instead of the network.")] = None,
    folder: Annotated[Path | None, typer.Option(help="The dataset itself, already in the official layout.")] = None,
) -> None:
    """Fetch, check and unpack a dataset; version `demo` generates one."""
    from groundeval.stages import download as stage

    stage.run(benchmark, version, out, sources, mirror, folder)


@app.command(rich_help_panel=Stage)
def split(
    benchmark: Benchmark,
    split: Split,
    raw: Annotated[Path, typer.Option(help="The dataset's folder.")],
    out: Out,
    set: Sets = None,
    dataset: Annotated[str | None, typer.Option(help="The dataset's version, for the record.")] = None,
) -> None:
    """Write the manifest: which samples there are."""
    from groundeval import benchmarks, options
    from groundeval.stages import split as stage

    chosen = options.resolve(benchmarks.record(benchmark).options, _said(set), benchmark)
    stage.run(benchmark, raw, split, chosen, out, dataset)


@app.command(rich_help_panel=Stage)
def prepare(raw: Annotated[Path, typer.Option()], manifest: Annotated[Path, typer.Option()], out: Out) -> None:
    """Write the truth table of a manifest."""
    from groundeval.stages import prepare as stage

    stage.run(raw, manifest, out)


@app.command(rich_help_panel=Stage)
def convert(
    benchmark: Benchmark,
    manifest: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option()],
    format: Format,
    out: Out,
    set: Sets = None,
    allow_incomplete: Incomplete = False,
) -> None:
    """Write the predictions table from a model's files."""
    from groundeval.stages import convert as stage

    stage.run(benchmark, manifest, predictions, format, _said(set), out, allow_incomplete)


@app.command(rich_help_panel=Stage)
def score(
    manifest: Annotated[Path, typer.Option()],
    truth: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option()],
    model: Annotated[str, typer.Option()],
    out: Out,
    histograms: Annotated[Path, typer.Option()],
) -> None:
    """Write the integer counts of each sample."""
    from groundeval.stages import score as stage

    stage.run(manifest, truth, predictions, _model(model), out, histograms)


@app.command(rich_help_panel=Stage)
def aggregate(
    samples: Annotated[Path, typer.Option()],
    histograms: Annotated[Path, typer.Option()],
    out: Out,
    summary: Annotated[Path, typer.Option(help="The leaderboard's columns alone.")],
) -> None:
    """Write metrics.json from the counts."""
    from groundeval.stages import aggregate as stage

    stage.run(samples, histograms, out, summary)


@app.command(rich_help_panel=Stage)
def report(
    metrics: Annotated[list[Path], typer.Argument(help="metrics.json files.")],
    out: Out,
) -> None:
    """Write the leaderboard as csv, md and html."""
    from groundeval.stages import report as stage

    print(stage.report(metrics, out))


def _said(pairs: list[str] | None) -> dict[str, Any]:
    """`--set name=value` pairs as a dictionary."""
    said: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError("--set", f"{pair!r} is not NAME=VALUE", "Write for example --set boxes=xyxy.")
        if name in said:
            raise InputError("--set", f"{name} is said twice", "Say it once.")
        said[name] = value
    return said


def _model(name: str) -> str:
    from groundeval.plan import NAME

    if not NAME.fullmatch(name):
        what = f"{name!r} is not a name for a model"
        raise InputError("--model", what, "Use letters, digits, dot, underscore and hyphen, starting with a letter.")
    return name
