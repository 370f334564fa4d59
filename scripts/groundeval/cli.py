"""The command line: one function a command. Each imports its stage only when it runs."""

from __future__ import annotations

import gc
import os
import re
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from groundeval.errors import InputError, quoted

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
Format = Annotated[str, typer.Option("--format", help="See `groundeval formats`; or FILE.py:FUNCTION, your own code.")]
Incomplete = Annotated[bool, typer.Option("--allow-incomplete", help="Count missing and invalid answers as wrong.")]
Cores = Annotated[int, typer.Option(min=0, help="How many to use for one run; 0: all. The results are the same.")]
Stage = "Stages (the pipeline calls these)"
Audit = "Audit"


@dataclass
class _State:
    """What the options before the command say."""

    log: Path | None = None


state = _State()


@app.callback()
def root(log: Annotated[Path | None, typer.Option(help="Also write an error message to this file.")] = None) -> None:
    """From prediction files to benchmark numbers that can be trusted and audited."""
    state.log = log
    if log is not None:  # a job of several, which run side by side
        from groundeval.sources import progress

        progress.settings["bars"] = False


def main() -> None:
    """Run a command. A user's mistake is one line on stderr and exit code 2."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a command is one job on one core; a second thread only waits
    gc.set_threshold(
        1_000_000
    )  # a file of a million objects makes no garbage, and looking for some is a tenth of the time
    try:
        if any(word == "" or re.fullmatch("--[a-z-]+=", word) for word in sys.argv[1:]):
            raise InputError("groundeval", "an argument is empty", "Is it a variable of the shell that is not set?")
        app()
    except InputError as error:
        _fail(error.line())
    except OSError as error:
        said = InputError(
            error.filename or "groundeval", error.strerror or str(error), "Check permissions and free space."
        )
        _fail(said.line())
    except MemoryError:
        _fail("groundeval: out of memory. Give the process more, or split the predictions into several files.")


def _fail(line: str) -> None:
    print(line, file=sys.stderr)
    if state.log is not None:
        state.log.parent.mkdir(parents=True, exist_ok=True)
        state.log.write_text(line + "\n", encoding="utf-8")
    raise SystemExit(2)


@app.command()
def evaluate(
    benchmark: Benchmark,
    truth: Annotated[Path, typer.Option(help="The dataset's folder in the official layout.", readable=False)],
    split: Split,
    predictions: Annotated[Path, typer.Option(help="The model's prediction file, folder or archive.", readable=False)],
    format: Format,
    out: Out,
    set: Sets = None,
    model: Annotated[str | None, typer.Option(help="The model's name; by default that of the file or folder.")] = None,
    allow_incomplete: Incomplete = False,
    cores: Cores = 0,
) -> None:
    """Score one model: official files and prediction files in, metrics.json and samples.parquet out."""
    from groundeval.stages import evaluate as stage

    name = _named_after(predictions) if model is None else model
    said, name = _said(set), _model(name)
    with _using(cores):
        content = stage.run(benchmark, truth, split, predictions, format, said, out, name, allow_incomplete)
    from groundeval.report import leaderboard

    leaderboard.print_terminal([content])
    print(f"\nWritten to {out}: metrics.json, samples.parquet, histograms.parquet, provenance.json")


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders of results of one benchmark and split, two or more.")],
    out: Annotated[Path | None, typer.Option(help="Also write the comparison as JSON.")] = None,
) -> None:
    """Tell which runs are better and which are tied: paired differences, intervals, corrected p-values."""
    from groundeval.report import comparison
    from groundeval.stages import compare as stage

    print("\n".join(comparison.lines(stage.run(runs, out))))


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
def inspect(
    path: Annotated[Path, typer.Argument(help="Prediction files: a file, a folder or an archive.")],
    benchmark: Annotated[str | None, typer.Option(help="Which benchmark they are meant for.")] = None,
    truth: Annotated[Path | None, typer.Option(help="The dataset's folder in the official layout.")] = None,
    split: Annotated[str | None, typer.Option(help="One of the benchmark's splits.")] = None,
    set: Sets = None,
    out: Annotated[Path | None, typer.Option(help="Write a picture of three samples into this folder.")] = None,
) -> None:
    """Tell what prediction files are, which formats they fit and the command to try. It advises, it does not score."""
    from groundeval.stages import inspect as stage

    stage.run(stage.Asked(path, benchmark, truth, split, _said(set), out))


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
def package(
    benchmark: Benchmark,
    predictions: Annotated[Path, typer.Option(help="The model's maps at image size.")],
    calib: Annotated[Path, typer.Option(help="The calibration files of the split.")],
    out: Out,
) -> None:
    """Build and check what a benchmark's server takes for a split without public truth (kitti_road)."""
    from groundeval.stages import package as stage

    stage.run(benchmark, predictions, calib, out)


@app.command()
def dvc(
    check: Annotated[bool, typer.Option(help="Only say whether dvc.yaml lists the runs of params.yaml.")] = False,
) -> None:
    """Bring dvc.yaml and data/settings in line with params.yaml."""
    from groundeval.stages import dvc as stage

    stage.run(Path("params.yaml"), Path("dvc.yaml"), check)


@app.command(rich_help_panel=Stage)
def settings() -> None:
    """Write what params.yaml says of each model, and the digest of its code, for DVC."""
    from groundeval.stages import settings as stage

    stage.run(Path("params.yaml"))


@app.command(rich_help_panel=Audit)
def verify(
    results: Annotated[Path, typer.Argument(help="A folder of results, or one run's.")] = Path("results"),
    level: Annotated[
        int, typer.Option(help="0 structure, 1 digests, 2 metrics, 3 counts, 4 predictions, 5 truth.")
    ] = 3,
    key: Annotated[Path | None, typer.Option(help="The signer's public key: also verify the signature.")] = None,
    root: Annotated[
        Path | None, typer.Option(help="The tree that holds data/; by default that of the results.")
    ] = None,
    truth: Annotated[Path | None, typer.Option(help="For results of `evaluate`: the dataset's folder.")] = None,
    predictions: Annotated[Path | None, typer.Option(help="For results of `evaluate`: the prediction files.")] = None,
    objects: Annotated[list[Path] | None, typer.Option(help="A DVC store (cache or remote folder) to re-hash.")] = None,
    independent: Annotated[int, typer.Option(help="Samples a run to count with a second scorer.")] = 0,
    seed: Annotated[int, typer.Option(help="Which samples the second scorer takes.")] = 0,
) -> None:
    """Tell whether results can be believed, offline. Exit code 1 if anything fails."""
    from groundeval.stages import verify as stage

    asked = stage.Asked(results, level, key, root, truth, predictions, objects or [], independent, seed)
    raise SystemExit(0 if stage.run(asked) else 1)


@app.command(rich_help_panel=Audit)
def trace(
    folder: Annotated[Path, typer.Argument(help="A run's results.")],
    metric: Annotated[str, typer.Option(help="A name in its metrics.json.")],
    sample: Annotated[str | None, typer.Option(help="A sample's id: down to its truth and its prediction.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the sample's truth and prediction into this folder.")] = None,
) -> None:
    """Tell where a number comes from: the rows, the files, their digests."""
    from groundeval.stages import trace as stage

    stage.run(folder, metric, sample, out)


@app.command(rich_help_panel=Audit)
def sign(
    results: Annotated[Path, typer.Argument(help="The folder of results.")] = Path("results"),
    key: Annotated[Path | None, typer.Option(help="An ed25519 private key in PEM.")] = None,
    make_key: Annotated[Path | None, typer.Option(help="Only write a new key pair, FILE and FILE.pub.")] = None,
) -> None:
    """Sign results: DSSE envelope, ed25519."""
    from groundeval.stages import sign as stage

    if make_key is not None:
        stage.make_key(make_key)
    elif key is not None:
        stage.run(results, key)
    else:
        raise InputError("--key", "is not given", "Name a private key, or make one with --make-key FILE.")


@app.command(rich_help_panel=Audit)
def crate(
    out: Out,
    results: Annotated[Path, typer.Argument(help="The folder of results.")] = Path("results"),
) -> None:
    """Export results as a Workflow Run RO-Crate."""
    from groundeval.stages import crate as stage

    stage.run(results, out)


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
    predictions: Annotated[Path, typer.Option(readable=False)],
    format: Format,
    out: Out,
    set: Sets = None,
    allow_incomplete: Incomplete = False,
    cores: Cores = 1,
) -> None:
    """Write the predictions table from a model's files."""
    from groundeval.stages import convert as stage

    with _using(cores):
        stage.run(benchmark, manifest, predictions, format, _said(set), out, allow_incomplete)


@app.command(rich_help_panel=Stage)
def score(
    manifest: Annotated[Path, typer.Option()],
    truth: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option()],
    model: Annotated[str, typer.Option()],
    out: Out,
    histograms: Annotated[Path, typer.Option()],
    cores: Cores = 1,
) -> None:
    """Write the integer counts of each sample."""
    from groundeval.stages import score as stage

    with _using(cores):
        stage.run(manifest, truth, predictions, _model(model), out, histograms)


@app.command(rich_help_panel=Stage)
def aggregate(
    samples: Annotated[Path, typer.Option()],
    histograms: Annotated[Path, typer.Option()],
    out: Out,
    summary: Annotated[Path, typer.Option(help="The leaderboard's columns alone.")],
    curves: Annotated[Path, typer.Option(help="The points of precision-recall curves.")],
) -> None:
    """Write metrics.json from the counts."""
    from groundeval.stages import aggregate as stage

    stage.run(samples, histograms, out, summary, curves)


@app.command(rich_help_panel=Stage)
def provenance(
    folder: Annotated[Path, typer.Argument(help="A run's results.")],
    manifest: Annotated[Path, typer.Option()],
    truth: Annotated[Path, typer.Option()],
    predictions: Annotated[Path, typer.Option()],
    raw: Annotated[Path, typer.Option(help="The download stage's record of the dataset.")],
    out: Out,
) -> None:
    """Write which bytes made the numbers: an in-toto Statement."""
    from groundeval.stages import provenance as stage

    stage.run(folder, manifest, truth, predictions, raw, out)


@app.command(rich_help_panel=Stage)
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


def _using(count: int) -> AbstractContextManager[None]:
    from groundeval import cores

    return cores.using(count or cores.available())


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


def _named_after(path: Path) -> str:
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z0-9._-]+", "_", path.resolve().stem).strip("_")[:100] or "model"


def _model(name: str) -> str:
    from groundeval.plan import NAME, NAMES

    if not NAME.fullmatch(name):
        raise InputError("--model", f"{quoted(name)} is not a name for a model", NAMES)
    return name
