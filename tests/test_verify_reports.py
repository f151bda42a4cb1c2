"""What `fabriscope verify RUN REPORT` takes for a report, and that nothing else passes for one that is right."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.needs import ROOT

sys.path.insert(0, str(ROOT))

from campaigns.damaged_folders import mutations

from fabriscope.cli.verify import COMMAND
from fabriscope.running.verify import verify


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with every report, changed by no test."""
    return mutations.make_run(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("place", ["report.txt", "/etc/passwd", "/dev/zero", "figure.svg", "tables.csv", "empty"])
def test_what_is_no_report_does_not_pass_for_one_that_is_right(place: str, whole: Path, tmp_path: Path) -> None:
    for name in ("report.txt", "figure.svg", "tables.csv"):
        (tmp_path / name).write_text("latency 12 µs\n")
    (tmp_path / "empty").mkdir()
    said = CliRunner().invoke(COMMAND, [str(whole), str(tmp_path / place)])
    assert said.exit_code == 13
    assert f"{tmp_path / place}: this is no report that can be compared: name its .html" in said.output
    assert "nothing was changed" not in said.output


def test_figures_alone_in_the_runs_own_folder_are_no_change(whole: Path, tmp_path: Path) -> None:
    run = shutil.copytree(whole, tmp_path / "run", ignore=shutil.ignore_patterns("report"))
    (run / "report").mkdir()
    (run / "report" / "figure.svg").write_text("<svg/>")
    assert verify(run).findings == ()


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_a_report_under_another_name_is_known_by_what_it_says(name: str, whole: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "report.txt"
    text = (whole / "report" / name).read_text()
    renamed.write_text(text)
    assert verify(whole, renamed).findings == ()
    renamed.write_text(text.replace("launches", "lunches", 1))
    for place in (renamed, tmp_path):
        (finding,) = verify(whole, place).findings
        assert finding.file == str(renamed)
