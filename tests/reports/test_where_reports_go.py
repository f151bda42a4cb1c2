"""Where a report and what else commands write goes: never into what a run consists of, and told by its true path."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.analysis.made_up import Shape, write_run

from fabriscope.cli import fabriscope
from fabriscope.cli.report import COMMAND
from fabriscope.model.errors import StoreError

SMALL = Shape(sizes=(1, 64), launch_count=3, samples_per_burst=4, stacks=("openmpi-5.0.11",))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", SMALL).path


@pytest.mark.parametrize("part", ["samples", "raw/deeper", "counters", "errors"])
def test_no_report_is_written_into_what_a_run_consists_of(part: str, run: Path) -> None:
    before = sorted(run.rglob("*"))
    result = CliRunner().invoke(COMMAND, [str(run), "-o", str(run / part)])
    assert isinstance(result.exception, StoreError)
    assert f"{part.split('/')[0]} there is part of the run run -- name another place" in str(result.exception)
    assert sorted(run.rglob("*")) == before


@pytest.mark.parametrize(
    "words",
    [
        ("init", "gige", "ethernet-100", "--lab", "-o"),
        ("configure", "--system", "eos", "--port", "Ethernet1/1", "-o"),
        ("devices", "leaf1", "--system", "eos", "-o"),
        ("prove", "-o", "OUT", "--", "true"),
    ],
)
def test_no_other_command_writes_there_either(words: tuple[str, ...], run: Path) -> None:
    before = sorted(run.rglob("*"))
    out = str(run / "samples" / "x")
    argv = [out if word == "OUT" else word for word in words] if "OUT" in words else [*words, out]
    result = CliRunner().invoke(fabriscope, argv)
    assert isinstance(result.exception, StoreError), result.output
    assert "samples there is part of the run run" in str(result.exception)
    assert sorted(run.rglob("*")) == before


def test_the_path_of_a_report_is_told_as_it_is(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "a\x1b[31mb"
    result = CliRunner().invoke(COMMAND, [str(run), "--format", "markdown", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert Path(result.output.removesuffix("\n")).is_file()
