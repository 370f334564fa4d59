"""Read runs: one metrics.json each."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from groundeval.errors import InputError, quoted
from groundeval.metrics.ratios import Metric
from groundeval.provenance import statement

CURVES = "curves.csv"
COUNTS = ("expected", "answered", "none", "missing", "invalid")
STATES = ("complete", "incomplete", "package")
AGAIN = "Make it again with `groundeval aggregate` or `groundeval evaluate`."


@dataclass(frozen=True)
class Run:
    """One model on one split of one benchmark."""

    benchmark: str
    version: str
    split: str
    model: str
    status: str  # complete; incomplete: missing or invalid answers; package: no public truth, nothing scored here
    counts: Mapping[str, int]
    metrics: Mapping[str, Metric]
    baselines: Mapping[str, Mapping[str, Metric]]
    format: str
    options: Mapping[str, Any]
    notes: Mapping[str, int]
    dataset: Mapping[str, str | None]  # its version, and the sha256 of its truth
    curves: Mapping[str, Sequence[tuple[float, float]]]  # recall and precision, for plots
    tree: str = "unknown"  # "clean" or "dirty": was the code that made it just its commit

    @property
    def setting(self) -> str | None:
        """The benchmark's setting (which prompt was used), where it has such a thing."""
        setting = self.options.get("setting")
        return None if setting is None else str(setting)

    @property
    def label(self) -> str:
        """How a table's column names the run."""
        return self.model if self.setting is None else f"{self.model} ({self.setting})"

    @property
    def mark(self) -> str | None:
        """What a reader must see beside the run's name; None for a complete run."""
        said = {"incomplete": "incomplete", "package": "not scored: no public truth"}.get(self.status)
        return "; ".join(filter(None, (said, "dirty tree" if self.tree == "dirty" else None))) or None

    @property
    def identity(self) -> tuple[str, ...]:
        """What tells two runs apart, the leaderboard that they belong to first (five parts)."""
        told = json.dumps(self.options, sort_keys=True, default=str)
        truth = (self.dataset.get("version") or "", self.dataset.get("truth") or "")
        return (self.benchmark, self.split, self.version, *truth, self.model, self.setting or "", self.format, told)


def load(files: Iterable[Path]) -> list[Run]:
    """The runs of these files. InputError: a file that is no run's metrics, or a run that stands twice."""
    found: dict[tuple[str, ...], tuple[Path, Run]] = {}
    for file in files:
        run = _read(file)
        if run.identity in found:
            other = found[run.identity][0]
            what = f"model {quoted(run.model)} with the same format and options stands in {other} as well"
            raise InputError(file, what, "Give each run once.")
        found[run.identity] = (file, run)
    return [run for _, run in found.values()]


def _read(file: Path) -> Run:
    try:
        content = json.loads(file.read_bytes(), parse_constant=_no_number)
        return replace(
            parse(content), tree=_tree(file.with_name(statement.FILE)), curves=_curves(file.with_name(CURVES))
        )
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})", "Check the path.") from None
    except KeyError as error:
        raise InputError(file, f"not a run's metrics: {error.args[0]} is absent", AGAIN) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(file, f"not a run's metrics ({error})", AGAIN) from None


def _curves(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Recall and precision of each curve that stands beside metrics.json; none where there is no such file."""
    found: dict[str, list[tuple[float, float]]] = {}
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened):
                found.setdefault(row["curve"], []).append((float(row["recall"]), float(row["precision"])))
    return found


def _tree(provenance: Path) -> str:
    return str(statement.predicate(provenance)["tree"]["state"]) if provenance.exists() else "unknown"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no value")


def parse(content: Mapping[str, Any]) -> Run:
    """The run that the content of a metrics.json tells of. KeyError, ValueError, TypeError where it is none."""
    if content["status"] not in STATES:
        raise ValueError(f"status {content['status']!r} is none of {', '.join(STATES)}")
    return Run(
        **{name: str(content[name]) for name in ("benchmark", "version", "split", "model", "status", "format")},
        counts={name: int(content["counts"][name]) for name in COUNTS},
        metrics=_metrics(content["metrics"]),
        baselines={name: _metrics(rows) for name, rows in content["baselines"].items()},
        options=dict(content["options"]),
        notes=dict(content["notes"]),
        dataset=dict(content["dataset"]),
        curves={},
    )


def _metrics(content: Mapping[str, Mapping[str, Any]]) -> dict[str, Metric]:
    return {name: _metric(said) for name, said in content.items()}


def _metric(said: Mapping[str, Any]) -> Metric:
    ends = said.get("interval")
    numbers: Sequence[Any] = [said[name] for name in ("value", "numerator", "denominator")]
    if any(isinstance(n, bool) or not isinstance(n, int | float | None) for n in (*numbers, *(ends or ()))):
        raise ValueError(f"{numbers} are not numbers")
    value, numerator, denominator = numbers
    if said["unit"] not in ("fraction", "percent"):
        raise ValueError(f"unit {said['unit']!r} is neither fraction nor percent")
    direction = said.get("direction", "higher")
    interval = None if ends is None else (ends[0], ends[1])
    told = said.get("reason"), interval, said.get("interval_method")
    return Metric(value, said["unit"], numerator, denominator, direction, *told)
