"""Logs that hold two runs of one program, of which the first was cut: the second one's end is not the first one's."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.readers.test_golden import INSTRUMENTS, read

HPL = Path(__file__).parent / "data" / "hpl"
NP, IMB, SOCKPERF = "netpipe/nptcp", "imb/collectives", "sockperf/ping_pong"


def text_of(name: str) -> str:
    folder, _, file = name.partition("/")
    return (
        HPL.parent / folder / f"{file}.txt"
        if folder in ("hpcc", "hpl", "rping", "ycsb")
        else INSTRUMENTS / f"{name}.txt"
    ).read_text()


CUT = [
    ("hpl/several", "WR11C2R4        4000", "ends before its tests do: another one begins here"),
    ("hpl/several", "Finished      2 tests", "ends before its tests do: another one begins here"),
    ("hpl/several", "End of Tests.", "ends before its tests do: another one begins here"),
    ("hpcc/run", "End of Tests.", "ends before its tests do: another one begins here"),
    (IMB, "# All processes entering MPI_Finalize", "ends before 'All processes entering MPI_Finalize': another one"),
    (NP, "  0:       1 bytes", "has no row: another one begins here"),
    ("perftest/send_lat", " #bytes #iterations", "has no result"),
    ("qperf/latency_and_bandwidth", "    latency ", "has no result"),
    (SOCKPERF, "sockperf: [Total Run]", "has no result: another one begins here"),
    (SOCKPERF, "sockperf: Summary: Latency", "no summary_us in its output"),
]


@pytest.mark.parametrize(("name", "at", "says"), CUT, ids=[f"{name} before {at[:20]}" for name, at, _ in CUT])
def test_the_first_of_two_runs_is_said_to_be_cut(name: str, at: str, says: str) -> None:
    text, program = text_of(name), name.partition("/")[0]
    assert at in text
    assert not read(program, text).problems
    problems = read(program, text[: text.index(at)] + text).problems
    assert says in next(one.text for one in problems if one.kind == "cut")
    assert not [one for one in problems if one.kind == "refused"]


@pytest.mark.parametrize("name", ["hpl/several", "hpcc/run", IMB, "perftest/send_lat", SOCKPERF])
def test_two_whole_runs_are_not(name: str) -> None:
    assert not read(name.partition("/")[0], text_of(name) * 2).problems


def test_a_ping_that_is_cut_is_told() -> None:
    text = "".join(f"ping data: rdma-ping-{ping}: ABCDEFGHIJ"[:34] + "\n" for ping in range(12))
    assert not read("rping", text * 2).problems
    (problem,) = read("rping", text[:-5] + "\n" + text).problems
    assert (problem.kind, problem.line) == ("cut", 12)
    assert "ping 11 has" in problem.text
