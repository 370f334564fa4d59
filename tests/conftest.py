"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def real() -> Path:
    """Real inputs, which are never part of the project: GROUNDEVAL_REAL, or a folder beside the checkout."""
    folder = Path(os.environ.get("GROUNDEVAL_REAL", ROOT.parent / "shared" / "real"))
    if not folder.is_dir():
        pytest.skip(f"real inputs are absent ({folder.name}); set GROUNDEVAL_REAL")
    return folder


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where nothing may be left out, a skipped test is a failure, unless it needs the real inputs and they are absent."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "GROUNDEVAL_LEAVE_NOTHING_OUT" not in os.environ or reporter is None:
        return
    reasons = [report.longrepr[2] for report in reporter.stats.get("skipped", [])]
    left_out = sorted({r for r in reasons if "real inputs are absent" not in r})
    if left_out:
        reporter.write_line("Left out: " + "; ".join(left_out))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
