"""`fabriscope reconcile` on folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope
from fabriscope.model.errors import StoreError

LATENCY = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n8                       {value:.2f}\n"


def netpipe(seconds: float) -> str:
    """Return what NetPIPE keeps in a file: size, 2^20 bits per second, and half of the round trip."""
    return "".join(f"{size:8d} {8 * size / 2**20 / seconds:.6f} {seconds:.9f}\n" for size in (1, 8, 64))


def command(*words: object) -> Result:
    return CliRunner().invoke(fabriscope, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    for number in range(3):
        (tmp_path / "logs" / f"osu{number}.log").write_text(LATENCY.format(value=2 + number / 100))
    return tmp_path / "logs"


def test_printed_numbers_of_two_programs_stand_side_by_side(tmp_path: Path, logs: Path) -> None:
    for number in range(3):
        (logs / f"{number}.np").write_text(netpipe((4 + number / 100) * 1e-6))
    words = ("--label", "mpi=m", "--label", "layer=mpi", "--label", "fabric=f")
    assert command("import", logs, "-o", tmp_path / "run", *words).exit_code == 0
    done = command("reconcile", tmp_path / "run", "--json")
    assert done.exit_code == 0, done.output
    (one,) = json.loads(done.output)
    assert (one["what"], one["fabric"], one["message_size_bytes"], one["spread_after"]) == ("latency", "f", 8, None)
    printed = {said["instrument"]: said["printed"]["value"] for said in one["statements"]}
    assert printed == {"osu": pytest.approx(2010, rel=1e-3), "netpipe": pytest.approx(4010, rel=1e-3)}
    assert one["spread_before"] == pytest.approx(2, rel=0.01)
    shown = command("reconcile", tmp_path / "run").output
    assert "as printed, the programs differ by up to 2.00 times" in " ".join(shown.split())


def test_a_run_of_one_program_is_told_so(tmp_path: Path, logs: Path) -> None:
    assert command("import", logs, "-o", tmp_path / "run").exit_code == 0
    done = command("reconcile", tmp_path / "run")
    assert done.exit_code == 2
    assert done.output == f"fabriscope: no two programs of {tmp_path / 'run'} state one thing at one size\n"


IMB = """#------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.10, MPI-1 part
#------------------------------------------------------------
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.90         0.00
            8         1000         {value:.2f}         {rate:.2f}

# All processes entering MPI_Finalize
"""


def test_a_ping_pong_of_two_processes_is_the_one_that_needs_no_such_word(tmp_path: Path, logs: Path) -> None:
    for number in range(3):
        (logs / f"imb{number}.log").write_text(IMB.format(value=3 + number / 100, rate=8 / (3 + number / 100)))
    assert command("import", logs, "-o", tmp_path / "run", "--label", "mpi=m,fabric=f").exit_code == 0
    done = command("reconcile", tmp_path / "run", "--json")
    assert done.exit_code == 0, done.output
    (one,) = json.loads(done.output)
    printed = {said["instrument"]: said["printed"]["value"] for said in one["statements"]}
    assert printed == {"osu": pytest.approx(2010, rel=1e-3), "imb": pytest.approx(3010, rel=1e-3)}


def test_a_log_is_told_to_be_imported_first(logs: Path) -> None:
    with pytest.raises(StoreError, match="it is a file and no run folder") as caught:
        command("reconcile", logs / "osu0.log")
    assert f"`fabriscope import {logs / 'osu0.log'} -o RUN`" in str(caught.value)


def test_an_import_cannot_be_resumed(tmp_path: Path, logs: Path) -> None:
    assert command("import", logs, "-o", tmp_path / "run").exit_code == 0
    with pytest.raises(StoreError, match="nothing is added to an import") as caught:
        command("import", logs, "-o", tmp_path / "run")
    assert "resume" not in str(caught.value)


def test_without_ours_nothing_is_said_to_be_over_it(tmp_path: Path, logs: Path) -> None:
    for number in range(3):
        (logs / f"{number}.np").write_text(netpipe((4 + number / 100) * 1e-6))
    assert command("import", logs, "-o", tmp_path / "run", "--label", "mpi=m,layer=mpi,fabric=f").exit_code == 0
    shown = " ".join(command("reconcile", tmp_path / "run").output.split())
    assert "ours:" not in shown
    assert "over ours" not in shown
    assert "our engine measured nothing here by these definitions" in shown
    assert "Logs stand together by their labels" in shown
    (page,) = [path for path in _report(tmp_path / "run") if path.suffix == ".md"]
    text = page.read_text()
    assert "Programs side by side" in text
    assert "Programs by one definition" not in text
    assert "rinted over ours" not in text


def _report(run: Path) -> list[Path]:
    assert command("report", run, "--format", "markdown").exit_code == 0
    return list((run / "report").iterdir())
