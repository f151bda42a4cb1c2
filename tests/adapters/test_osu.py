"""The OSU adapter: what a launch becomes, what is refused before, and what is taken of what the programs print."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.osu import ADAPTER, PROGRAMS
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.metrics import metric_of
from fabriscope.model.mpi import MpiStack
from fabriscope.model.osu import OsuBuild

HOSTS = {name: Host(name, addresses={"eth0": f"10.0.0.{place}"}) for place, name in enumerate("abcd", start=1)}
FABRIC = Fabric("gige", dict.fromkeys(HOSTS, "eth0"), line_rate_bits_per_s=10**9)
BUILD = OsuBuild({name: f"/osu/{name}" for name in PROGRAMS})
CONTEXT = AdapterContext(HOSTS, fabric=FABRIC, mpi=MpiStack("m", "mpich", "5", "/usr/bin/mpiexec", None), osu=BUILD)


def launch(*cases: dict[str, Any], ranks: str = "ab", budget_s: float = 2) -> Launch:
    entry = Entry("mpi", "gige", "inter", tuple(ranks), mpi="m", instrument="osu")
    made = []
    for case in cases:
        parameters = tuple(case.get("parameters", {}).items())
        made.append(Case(entry, **{"socket": SocketOptions(), **case, "parameters": parameters}))
    return Launch(1, 1, entry, tuple(made), seed=1, budget_ns=round(budget_s * 1e9))


def of(benchmark: str, size: int = 0, window: int = 1, **parameters: str) -> dict[str, Any]:
    return {"benchmark": benchmark, "message_size_bytes": size, "window_size": window, "parameters": parameters}


def words(asked: Launch, context: AdapterContext = CONTEXT) -> list[list[str]]:
    """Return the commands' words without the numbers of iterations."""
    return [list(one.argv[: one.argv.index("-i")]) for one in ADAPTER.commands(asked, context)]


def read(asked: Launch, *texts: str, status: int | None = 0) -> ParsedLaunch:
    said = [Outcome(Command(("osu",), "a"), status, text.encode(), b"", 0, 0) for text in texts]
    return ADAPTER.parse(asked, said)


def values(asked: Launch, *texts: str, status: int | None = 0) -> dict[tuple[str, int], float]:
    """Return metric id and size to the value that was read."""
    sizes = {case.case_id: case.message_size_bytes for case in asked.cases}
    blocks = read(asked, *texts, status=status).blocks
    assert all(metric_of(block.quantity).title != block.quantity for block in blocks)  # all are defined
    return {(block.quantity, sizes[block.case_id]): block.values[0] for block in blocks}


def reasons(asked: Launch, *texts: str, status: int | None = 0) -> list[tuple[str, str | None]]:
    return [(one.status, one.reason) for one in read(asked, *texts, status=status).results]


def test_sizes_that_double_are_one_job_and_large_ones_another() -> None:
    asked = launch(*(of("ping_pong", size) for size in (1, 64, 8192, 16384, 1 << 20)))
    assert words(asked) == [["/osu/osu_latency", "-m", "1:8192"], ["/osu/osu_latency", "-m", "16384:1048576"]]


def test_sizes_that_no_doubling_reaches_have_jobs_of_their_own() -> None:
    asked = launch(of("ping_pong", 3), of("ping_pong", 100), of("ping_pong", 24))
    assert words(asked) == [["/osu/osu_latency", "-m", "3:24"], ["/osu/osu_latency", "-m", "100:100"]]


def test_nothing_at_all_can_be_sent_where_the_program_has_it() -> None:
    assert words(launch(of("ping_pong", 0), of("ping_pong", 8))) == [["/osu/osu_latency", "-m", "8"]]
    ((status, reason),) = reasons(launch(of("bandwidth", 0, window=64)))
    assert (status, reason) == ("skipped", "osu_bw has no messages of 0 B")


def test_windows_types_and_flushes_are_asked_for() -> None:
    asked = launch(
        of("bandwidth", 1024, window=16), of("allreduce", 1024), of("bcast", 64), of("barrier"),
        of("put_latency", 8, far_check="0"),
    )  # fmt: skip
    assert words(asked) == [
        ["/osu/osu_bw", "-m", "1024:1024", "-W", "16"],
        ["/osu/osu_allreduce", "-f", "-m", "1024:1024", "-T", "MPI_FLOAT"],
        ["/osu/osu_bcast", "-f", "-m", "64:64"],
        ["/osu/osu_barrier", "-f"],
        ["/osu/osu_put_latency", "-w", "allocate", "-s", "flush", "-m", "8:8"],
    ]


def test_an_older_suite_is_not_asked_for_types() -> None:
    older = replace(CONTEXT, osu=replace(BUILD, knows_types=False))
    assert words(launch(of("allreduce", 1024)), older) == [["/osu/osu_allreduce", "-f", "-m", "1024:1024"]]


def test_iterations_fit_the_budget_and_the_wire() -> None:
    def count(size: int, rate: int | None, budget_s: float) -> int:
        context = replace(CONTEXT, fabric=replace(FABRIC, line_rate_bits_per_s=rate))
        (one,) = ADAPTER.commands(launch(of("ping_pong", size), budget_s=budget_s), context)
        return int(one.argv[one.argv.index("-i") + 1])

    assert count(8, 10**9, 3600) == 10_000  # OSU's own
    assert count(8, 10**9, 0.001) == 10
    assert count(1 << 20, 10**7, 2) < count(1 << 20, 10**9, 2) < count(8, 10**9, 0.9)
    assert count(1 << 20, 10**7, 100) * 2 * (8 << 20) / 10**7 == pytest.approx(100, rel=0.02)
    assert count(1 << 20, None, 2) == count(1 << 20, 10**11, 2)


def test_a_job_that_takes_five_times_its_share_is_ended() -> None:
    one, other = ADAPTER.commands(launch(of("ping_pong", 8), of("bandwidth", 8, window=4)), CONTEXT)
    assert one.limit_s == other.limit_s == pytest.approx(5 * 1 + 10)
    assert one.is_alone
    assert other.is_alone


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ToolMissing, match="osu_bw is not on this machine") as error:
        ADAPTER.commands(launch(of("bandwidth", 8)), replace(CONTEXT, osu=OsuBuild({"osu_latency": "/osu_latency"})))
    assert "osu: /path" in str(error.value.sentence())
    with pytest.raises(ToolMissing):
        ADAPTER.commands(launch(of("bandwidth", 8)), replace(CONTEXT, osu=None))


@pytest.mark.parametrize(
    ("case", "ranks", "why"),
    [
        (of("exchange", 8), "ab", "OSU is not asked for exchange"),
        (of("ping_pong", 8), "abcd", "osu_latency takes 2 ranks, not 4"),
        (of("ping_pong", 8, buffers="same"), "ab", "osu_latency has the buffers separate, not same"),
        (of("bcast", 8, timing="common_clock"), "ab", "osu_bcast has the timing barrier, not common_clock"),
        (of("barrier", timing="barrier"), "ab", "osu_barrier has the timing back_to_back, not barrier"),
        (of("bcast", 8, root="rotating"), "ab", "osu_bcast has the root 0, not rotating"),
        (of("reduce", 8, datatype="double"), "ab", "osu_reduce has the datatype int32 or float, not double"),
        (of("put_latency", 8), "ab", "osu_put_latency has the far_check 0, not 1"),
        (of("multi_pair_latency", 8, pairing="neighbour"), "abcd", "osu_multi_lat has the pairing half, not neighbour"),
        (
            {**of("ping_pong", 8), "socket": SocketOptions(tcp_nodelay=False)},
            "ab",
            "OSU, whose sockets belong to the MPI library, cannot switch TCP_NODELAY off",
        ),
    ],
)
def test_what_it_cannot_be_asked_for_is_skipped(case: dict[str, Any], ranks: str, why: str) -> None:
    asked = launch(case, ranks=ranks)
    assert ADAPTER.commands(asked, CONTEXT) == ()
    assert reasons(asked) == [("skipped", why)]


LATENCY = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n8             1.50\n16            2.25\n"
BANDWIDTH = "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size  Bandwidth (MB/s)\n1024  117.25\n"
REDUCE = """# OSU MPI Allreduce Latency Test v7.4
# Datatype: {type}.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1024                   30.00             10.00             50.00         100
"""
RATES = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 2 ] [ window size: 64 ]
# Datatype: MPI_CHAR.
# Size                  MB/s        Messages/s
64                      6.40         100000.00
"""
BARRIER = """# OSU MPI Barrier Latency Test v7.4
# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
             20.00             15.00             25.00        1000
"""


def test_each_program_says_its_own_quantity() -> None:
    assert values(launch(of("ping_pong", 8)), LATENCY) == {("latency_ns_separate_mean", 8): 1500}
    assert values(launch(of("bandwidth", 1024, window=64)), BANDWIDTH) == {("bandwidth_bytes_per_s", 1024): 117.25e6}
    assert values(launch(of("message_rate", 64, window=64), ranks="abcd"), RATES) == {
        ("message_rate_per_s_mean", 64): 100000,
        ("multi_pair_bandwidth_bytes_per_s_mean", 64): 6.4e6,
    }
    assert values(launch(of("allreduce", 1024)), REDUCE.format(type="MPI_FLOAT")) == {
        ("collective_latency_ns_barrier_mean", 1024): 30000,
        ("collective_latency_ns_barrier_least_rank_mean", 1024): 10000,
        ("collective_latency_ns_barrier_most_rank_mean", 1024): 50000,
    }
    assert values(launch(of("barrier")), BARRIER) == {
        ("collective_latency_ns_back_to_back_mean", 0): 20000,
        ("collective_latency_ns_back_to_back_least_rank_mean", 0): 15000,
        ("collective_latency_ns_back_to_back_most_rank_mean", 0): 25000,
    }


def test_sizes_in_between_are_left_and_those_that_lack_have_failed() -> None:
    asked = launch(of("ping_pong", 8), of("ping_pong", 64))
    assert set(values(asked, LATENCY)) == {("latency_ns_separate_mean", 8)}
    (_, good), (status, why) = reasons(asked, LATENCY)
    assert (good, status) == (None, "failed")
    assert why is not None
    assert why.startswith("osu_latency ended well and printed no row of this size: it said ")


def test_rows_before_a_time_limit_count_and_those_before_a_crash_do_not() -> None:
    asked = launch(of("ping_pong", 8), of("ping_pong", 64))
    assert set(values(asked, LATENCY, status=None)) == {("latency_ns_separate_mean", 8)}
    assert values(asked, LATENCY, status=1) == {}


def test_other_elements_than_were_asked_for_are_no_result() -> None:
    asked = launch(of("allreduce", 1024))
    assert values(asked, REDUCE.format(type="MPI_CHAR")) == {}
    ((_, why),) = reasons(asked, REDUCE.format(type="MPI_CHAR"))
    assert why == "osu_allreduce moved MPI_CHAR, and MPI_FLOAT was asked for"
    older = REDUCE.replace("# Datatype: {type}.\n", "").replace("7.4", "5.9")
    assert len(values(asked, older)) == 3
    whole = launch(of("allreduce", 1024, datatype="int32"))
    ((_, why),) = reasons(whole, older)
    assert why == "osu_allreduce moved MPI_FLOAT, and MPI_INT was asked for"


ATOMIC = """# OSU MPI_Fetch_and_op latency Test v{version}
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
{type}# Size          Latency (us)
{size}                       1.25
"""


def test_atomics_have_the_elements_of_their_version() -> None:
    older = ATOMIC.format(version="5.9", type="", size=8)
    newer = ATOMIC.format(version="7.4", type="# Datatype: MPI_CHAR.\n", size=1)
    whole = ATOMIC.format(version="7.4", type="# Datatype: MPI_INT.\n", size=4)
    asked = launch(of("fetch_and_op_latency", 8))
    assert words(asked)[0][-2:] == ["-m", "8:8"]
    assert values(asked, older) == {("fetch_and_op_latency_ns_mean", 8): 1250}
    assert reasons(asked, newer) == [("failed", "osu_fop_latency moved MPI_CHAR, and MPI_LONG_LONG_INT was asked for")]
    told = launch(of("fetch_and_op_latency", 4, datatype="int32"))
    assert words(told)[0][-2:] == ["-T", "MPI_INT"]
    assert values(told, whole) == {("fetch_and_op_latency_ns_mean", 4): 1250}


def test_what_contradicts_itself_fails_the_launch() -> None:
    with pytest.raises(ParseError, match="osu_latency"):
        read(launch(of("ping_pong", 8)), LATENCY + "8             1.75\n")


def test_another_programs_table_is_not_taken() -> None:
    assert values(launch(of("ping_pong", 1024)), BANDWIDTH) == {}


def test_a_job_that_was_not_started_says_so() -> None:
    asked = launch(of("ping_pong", 8), of("bandwidth", 1024, window=64))
    (_, _), (status, why) = reasons(asked, LATENCY)
    assert status == "failed"
    assert why is not None
    assert why.startswith("osu_bw was not started")
