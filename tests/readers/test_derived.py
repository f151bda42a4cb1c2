"""Numbers that a reader computed of others are told from those that a program printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli.read import COMMAND

DATA = Path(__file__).parent / "data"


def read(path: Path) -> str:
    return CliRunner().invoke(COMMAND, ["--json", str(path)]).stdout


@pytest.mark.parametrize(
    ("program", "column"),
    [
        ("imb", {"time_ns", "bandwidth_bytes_per_s"}),
        ("netpipe", {"latency_ns", "bandwidth_bytes_per_s"}),
        ("perftest", {"bandwidth_bytes_per_s"}),
        ("iperf3", {"bandwidth_bytes_per_s"}),
    ],
)
def test_a_number_that_follows_from_another_one_is_marked(program: str, column: set[str], tmp_path: Path) -> None:
    texts = {
        "imb": "#bytes #repetitions t[usec] Mbytes/sec\n1 1000 1.12 0.89\n2 1000 1.12 1.79\n".join(
            (
                "# Intel(R) MPI Benchmarks 2021.7\n# Benchmarking PingPong\n",
                "# All processes entering MPI_Finalize\n",
            )
        ),
        "netpipe": "Now starting the main loop\n"
        "  0:       1 bytes  21503 times -->      1.43 Mbps in       5.33 usec\n"
        "  1:       2 bytes  18745 times -->     15.26 Mbps in       1.00 usec\n",
        "perftest": "                    RDMA_Write BW Test\n"
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
        " 2          2000             5.32               5.30               2.778732\n",
        "iperf3": (Path(__file__).parents[1] / "adapters/data/iperf3/tcp.txt").read_text(),
    }
    log_file = tmp_path / "log"
    log_file.write_text(texts[program])
    (document,) = json.loads(read(log_file))["documents"]
    assert {row["derived"] for table in document["tables"] for row in table["rows"]} == column


def test_numbers_that_are_printed_have_no_mark() -> None:
    (document,) = json.loads(read(DATA / "osu/latency_and_bw.txt"))["documents"]
    assert not any("derived" in row for table in document["tables"] for row in table["rows"])
