"""`python -m tests.speed [NAME ...]`: run the benchmarks whose module name contains one of the words, print the ratios."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import tests.speed


def main(words: list[str]) -> int:
    """Run and print; exit code 1 where a goal is missed."""
    names = [m.name for m in pkgutil.iter_modules(tests.speed.__path__) if m.name.startswith("bench_")]
    missed = 0
    for name in names:
        if words and not any(word in name for word in words):
            continue
        print(f"{name}:", flush=True)
        for result in importlib.import_module(f"tests.speed.{name}").run():
            missed += result.ratio > result.goal
            print(f"  {result.line()}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
