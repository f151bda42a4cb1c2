"""A plug-in of pytest: where everything can be installed, nothing but missing hardware is a reason to skip a test,
and what is too large to be fetched for one (Hadoop).

`FABRISCOPE_TEST_SKIPS=hardware` makes any other skip an error, and so is a folder of tests of which all were skipped,
whatever the reason, and so are more than needs.MOST_SKIPS of them; scripts/test sets it for root in CI.
"""

from __future__ import annotations

import os

import pytest
from tests.needs import HARDWARE, MOST_SKIPS, NOT_FETCHED


class Skips:
    """Counts tests that were skipped for want of something that can be installed, and folders in which none ran."""

    def __init__(self) -> None:
        self.unexpected: list[str] = []
        self._count = 0
        self._skipped: set[str] = set()
        self._ran: set[str] = set()

    def _see(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        folder = report.nodeid.partition("::")[0].rpartition("/")[0] or "."
        if not report.skipped or hasattr(report, "wasxfail"):
            if report.when == "call":
                self._ran.add(folder)
            return
        self._skipped.add(folder)
        self._count += 1
        _, _, text = report.longrepr if isinstance(report.longrepr, tuple) else ("", 0, str(report.longrepr))
        reason = text.removeprefix("Skipped: ")
        if reason not in HARDWARE and not reason.startswith(NOT_FETCHED):
            self.unexpected.append(f"{report.nodeid}: {reason}")

    def _without_any(self) -> list[str]:
        """Return the folders of which every test was skipped, whatever the reason."""
        return sorted(self._skipped - self._ran)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See a test's end."""
        self._see(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """See a module that is skipped as a whole."""
        self._see(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the session."""
        is_wrong = self.unexpected or self._without_any() or self._count > MOST_SKIPS
        if is_wrong and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name every such test and folder."""
        if self.unexpected:
            terminalreporter.section(f"{len(self.unexpected)} skipped for want of what can be installed", red=True)
            for line in self.unexpected:
                terminalreporter.line(line)
        if self._count > MOST_SKIPS:
            words = f"{self._count} tests were skipped, and {MOST_SKIPS} may be: mend that, or tests/needs.py"
            terminalreporter.line(words, red=True)
        for folder in self._without_any():
            terminalreporter.line(f"{folder}: every test in this folder was skipped", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Count where that is asked for; in workers of xdist the controller counts."""
    if os.environ.get("FABRISCOPE_TEST_SKIPS") == "hardware" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skips(), "fabriscope-skips")
