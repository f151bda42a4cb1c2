"""`fabriscope prove` on this machine itself, on which others work too."""

from __future__ import annotations

import re

from tests.test_prove import job, prove

BESIDE = re.compile("s late on this busy machine|were read by other processes")
"""Why a verdict is undecided while other tests run beside it, and rightly so."""


def test_on_this_machine_alone() -> None:
    words = job(None, "node1", "lo")  # type: ignore[arg-type]
    while BESIDE.search((done := prove("--expect", "tcp", *words)).stderr):
        pass
    assert done.returncode == 0, done.stderr
    assert "tcp over lo" in done.stderr
