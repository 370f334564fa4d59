"""Commands for those who must trust a number."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from groundeval.commands import arguments
from groundeval.errors import InputError


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


def trace(
    folder: Annotated[Path, typer.Argument(help="A run's results.")],
    metric: Annotated[str, typer.Option(help="A name in its metrics.json.")],
    sample: Annotated[str | None, typer.Option(help="A sample's id: down to its truth and its prediction.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the sample's truth and prediction into this folder.")] = None,
) -> None:
    """Tell where a number comes from: the rows, the files, their digests."""
    from groundeval.stages import trace as stage

    stage.run(folder, metric, sample, out)


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


def crate(
    out: arguments.Out,
    results: Annotated[Path, typer.Argument(help="The folder of results.")] = Path("results"),
) -> None:
    """Export results as a Workflow Run RO-Crate."""
    from groundeval.stages import crate as stage

    stage.run(results, out)
