"""The RO-Crate, by the profile's own validator, offline.

The validator would fetch the JSON-LD context from the network and, where it cannot, skips almost every check. So it is
given the terms that `rocrate` carries, with the four that version 1.1 maps to other addresses.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from rocrate_validator import models, services

from groundeval.provenance import results
from tests.workflow.project import Project

PROFILE = "workflow-run-crate-0.5"
FETCHES = ["ro-crate-1.1_3.1", "ro-crate-1.1_3.2"]  # is the context at its address what it should be
BIOSCHEMAS = "https://bioschemas.org/"
OLDER = {
    "FormalParameter": f"{BIOSCHEMAS}FormalParameter",
    "ComputationalWorkflow": f"{BIOSCHEMAS}ComputationalWorkflow",
    "input": f"{BIOSCHEMAS}ComputationalWorkflow#input",
    "output": f"{BIOSCHEMAS}ComputationalWorkflow#output",
}


@pytest.fixture(scope="module")
def crate(audited: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crate") / "crate"
    audited.run("groundeval", "crate", "--out", str(out))
    return out


def validated(crate: Path, work: Path, change: Callable[[dict[str, Any]], Any]) -> models.ValidationResult:
    """Of a copy with the terms in place of their address, and a change."""
    shutil.copytree(crate, work)
    file = work / "ro-crate-metadata.json"
    content = json.loads(file.read_bytes())
    terms = json.loads((resources.files("rocrate") / "data" / "ro-crate.jsonld").read_bytes())["@context"]
    content["@context"] = terms | OLDER
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")
    asked = services.ValidationSettings(
        rocrate_uri=str(work),
        profile_identifier=PROFILE,
        requirement_severity=models.Severity.REQUIRED,
        skip_checks=FETCHES,
        offline=True,
    )
    return services.validate(asked)


def test_it_is_accepted(crate: Path, tmp_path: Path) -> None:
    result = validated(crate, tmp_path / "c", lambda content: None)
    assert result.passed(), [issue.message for issue in result.get_issues()]
    assert len(result.executed_checks) > 50
    assert {check.identifier for check in result.skipped_checks} == set(FETCHES)


def test_the_validator_would_see_a_fault(crate: Path, tmp_path: Path) -> None:
    def without_instrument(content: dict[str, Any]) -> None:
        for entity in content["@graph"]:
            entity.pop("instrument", None)

    assert not validated(crate, tmp_path / "c", without_instrument).passed()


def test_every_result_is_packed_with_its_digest(crate: Path, audited: Project) -> None:
    graph = {e["@id"]: e for e in json.loads((crate / "ro-crate-metadata.json").read_bytes())["@graph"]}
    found = {p.relative_to(audited.root).as_posix() for p in audited.root.glob("results/*/*/*/*") if p.is_file()}
    found = {name for name in found if not name.startswith("results/logs")}
    assert len(found) == 4 * (len(results.PIPELINE) + 1)
    for name in found:
        assert (crate / name).read_bytes() == (audited.root / name).read_bytes()
        assert len(graph[name]["sha256"]) == 64
    actions = [e for e in graph.values() if e["@type"] == "CreateAction"]
    assert len(actions) == 4
    assert all("commit " in action["description"] for action in actions)


def test_the_same_results_give_the_same_crate(crate: Path, audited: Project, tmp_path: Path) -> None:
    audited.run("groundeval", "crate", "--out", str(tmp_path / "again"))
    assert (tmp_path / "again/ro-crate-metadata.json").read_bytes() == (crate / "ro-crate-metadata.json").read_bytes()


def test_an_existing_folder_is_left_alone(audited: Project, tmp_path: Path) -> None:
    output = audited.run("groundeval", "crate", "--out", str(tmp_path), code=2)
    assert "stands there already" in output
