"""A folder of fifty logs of three programs becomes one run by one command, and its report has no empty table."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import fifty_logs

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fifty")
    fifty_logs.main(folder / "logs")
    words = ["import", str(folder / "logs"), "-o", str(folder / "run")]
    done = CliRunner().invoke(fabriscope, words, catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "50 launches of 50 files" in done.stdout
    return folder / "run"


def test_files_of_one_test_are_paired_in_their_order_whatever_other_tests_stand_before(run: Path) -> None:
    """Those of osu_bw come first in a folder: they are no blocks of osu_latency, which IMB's are set against."""
    data = store.open_run(run).read()
    blocks = {record.block for record in data.journal}
    assert blocks == set(range(1, 11))
    pairs = [one for one in results_of(data).compared if one.pair.kind == "instrument"]
    assert {one.block_count for one in pairs} == {6}


def test_the_report_shows_nothing_of_what_nobody_measured(run: Path) -> None:
    done = CliRunner().invoke(fabriscope, ["report", str(run)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (run / "report" / "report.html").read_text()
    assert "Summary table" not in page, "no ping-pong was measured by its median"
    assert "how ours was taken" not in page, "nothing of ours is there"
    assert "as printed, the programs differ by up to" in page
