"""The last word of a run: which contract tests caught which mutant."""

from __future__ import annotations

from typing import Final

import pytest

CAUGHT: Final = "caught"
"""The property under which a test leaves a line for the end of the run."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    lines = [value for report in reports for name, value in report.user_properties if name == CAUGHT and report.when == "call"]
    if lines:
        terminalreporter.section("mutants of the storage contract")
        for line in lines:
            terminalreporter.write_line(str(line))
