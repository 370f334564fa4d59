"""describe: what benchmarks and formats there are, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from groundeval import benchmarks as all_benchmarks
from groundeval import formats as all_formats
from groundeval.options import REQUIRED, Option


def benchmarks() -> None:
    """Print every benchmark."""
    for name in all_benchmarks.names():
        record = all_benchmarks.record(name)
        fitting = [f for f in all_formats.names() if all_formats.record(f).fits(record.shape, record.maps)]
        print(f"{name}: {record.title} (version {record.version})")
        print(
            f"  splits    {', '.join(record.splits)}\n  headline  {record.headline}\n  formats   {', '.join(fitting)}"
        )
        print(f"  layout    {record.layout}")
        for metric, meaning in record.columns.items():
            print(f"    {metric}: {meaning}")
        _options(record.options)
        print()


def formats(name: str | None) -> None:
    """Print every format in short, or one with its example and traps."""
    for found in [name] if name else all_formats.names():
        record = all_formats.record(found)
        fits_all = all_formats.adapter_file(found) is not None
        needing = [
            b.name
            for b in map(all_benchmarks.record, all_benchmarks.names())
            if fits_all or record.fits(b.shape, b.maps)
        ]
        print(f"{record.name}: {record.reads}\n  for {', '.join(needing)}")
        _options(record.options)
        if name:
            print(f"\nExample:\n{record.example}\n\nWhat goes wrong:\n{record.traps}")
        print()
    if name is None:
        print("FILE.py:FUNCTION: a format of your own; `groundeval formats FILE.py:FUNCTION` tells what it yields")


def _options(options: Mapping[str, Option]) -> None:
    for name, option in options.items():
        default = "required" if option.default is REQUIRED else f"default {option.default}"
        print(f"  --set {name}=...  {option.wants()}, {default}: {option.help}")
