"""`show` answers first; how it was measured stands behind the answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.reports import terminal


def test_the_answer_stands_before_the_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(write_run(tmp_path / "run", Shape(sizes=(1, 1024), launch_count=3, stacks=())).read())
    lines = capsys.readouterr().out.splitlines()
    answer = next(place for place, line in enumerate(lines) if "gige leads ethernet-100" in line)
    facts = next(place for place, line in enumerate(lines) if line.startswith("  Measured:"))
    assert answer <= 2  # behind the title, which a long path may break in two
    assert answer < facts < next(place for place, line in enumerate(lines) if line == "Verdicts")
