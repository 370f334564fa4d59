"""The commands on the pages, which people paste into a shell."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from groundeval.provenance import results, statement
from groundeval.report import commands
from groundeval.report.collect import parse
from report import made_up

COMMIT = "0123456789abcdef" * 2 + "01234567"
EVIL = "a; rm -rf ~ $(x) 'y' \"z\""


def folder(root: Path, commit: object) -> Path:
    parts = {key: {} for key in statement.PARTS} | {"tree": {"commit": commit, "state": "clean"}}
    said = {"_type": statement.TYPE, "predicateType": statement.PREDICATE, "subject": [], "predicate": parts}
    (root / statement.FILE).write_text(json.dumps(said), encoding="utf-8")
    (root / results.PREDICTIONS).touch()
    return root


def test_a_run_of_the_pipeline_is_made_again_from_its_commit(tmp_path: Path) -> None:
    run, how = parse(made_up.run("a")), commands.made(folder(tmp_path, COMMIT))
    assert commands.again(run, how, ["acc"]) == [
        f"git checkout {COMMIT}",
        "dvc pull",
        "dvc repro evaluate@toy-val-a",
        "groundeval verify results/toy/val/a",
        "groundeval trace results/toy/val/a --metric acc",
    ]
    assert "the tree was dirty" in commands.again(replace(run, tree="dirty"), how, [])[0]


@pytest.mark.parametrize("commit", [None, "main; rm -rf ~", "", 7])
def test_what_is_no_commit_is_not_said(tmp_path: Path, commit: object) -> None:
    assert commands.made(folder(tmp_path, commit)) == commands.Made(True, None)


def test_each_word_is_one_word_of_a_shell(tmp_path: Path) -> None:
    run = parse(made_up.run(EVIL, split=EVIL, format=EVIL, options={"colours": EVIL, "x": None}))
    for how in (commands.Made(True, COMMIT), commands.Made(False, None)):
        for line in [*commands.again(run, how, [EVIL]), commands.trace(run, how, EVIL, EVIL)]:
            assert not {";", "rm", "-rf", "~"} & set(shlex.split(line))
    said = shlex.split(commands.again(run, commands.Made(False, None), [])[0])
    assert said[said.index("--set") + 1] == f"colours={EVIL}"
