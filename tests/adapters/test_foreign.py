"""The adapters of other people's programs: golden pairs of what each prints, and the exact command lines.

A pair is `data/<adapter>/<name>.txt`, the program's words, and `<name>.json`: the launch that they answer, how the
program ended, and what the adapter makes of it (`FABRISCOPE_WRITE_GOLDEN=1` writes that part anew: read it before it is
kept).
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.netpipe import repeat_count, visited_sizes
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError, ToolMissing
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch
from fabriscope.model.metrics import METRICS
from fabriscope.model.mpi import MpiStack
from fabriscope.readers.imb import READER as IMB
from fabriscope.registry import discover

DATA = Path(__file__).parent / "data"
NAMES = tuple(sorted({path.parent.name for path in DATA.glob("*/*.txt")}))
PAIRS = sorted(path for name in NAMES for path in (DATA / name).glob("*.txt"))
LAYERS = {"imb": "mpi", "perftest": "verbs"}
"""Of the programs that measure something else than TCP."""
HOSTS = {name: Host(name, addresses={"eth0": f"10.0.0.{place}"}) for place, name in enumerate(("a", "b"), start=1)}
FABRIC = Fabric("gige", {"a": "eth0", "b": "eth0"}, line_rate_bits_per_s=10**9)
PROGRAMS = {
    name: f"/x/{name}"
    for name in (
        *("NPtcp", "NPopenmpi", "NPmpich2", "sockperf", "qperf", "iperf3", "IMB-MPI1", "IMB-NBC", "IMB-RMA"),
        *("ib_send_lat", "ib_write_bw", "ib_atomic_lat"),
    )
}
MPICH = MpiStack("mpich-5", "mpich", "5.0.2", "/opt/mpich/bin/mpiexec", None)
CONTEXT = AdapterContext(HOSTS, fabric=FABRIC, mpi=MPICH, programs=PROGRAMS)
ADAPTERS = discover("adapters", "ADAPTER")


def launch(
    instrument: str,
    layer: str,
    *cases: dict[str, Any],
    budget_ns: int = 2_000_000_000,
    hosts: tuple[str, ...] = ("a", "b"),
) -> Launch:
    entry = Entry(layer, "gige", "inter", hosts, mpi="mpich-5" if layer == "mpi" else None, instrument=instrument)
    made = (
        Case(
            entry,
            **{
                **case,
                "socket": SocketOptions(**case.get("socket", {})),
                "parameters": tuple((name, value) for name, value in case.get("parameters", ())),
            },
        )
        for case in cases
    )
    return Launch(3, 1, entry, tuple(made), seed=42, budget_ns=budget_ns)


def ping_pong(size: int, **socket: Any) -> dict[str, Any]:
    return {"benchmark": "ping_pong", "message_size_bytes": size, "socket": socket}


def bandwidth(size: int, window: int = 64, **socket: Any) -> dict[str, Any]:
    return {"benchmark": "bandwidth", "message_size_bytes": size, "window_size": window, "socket": socket}


def outcomes(text: bytes, how: dict[str, Any]) -> list[Outcome]:
    command = Command(("program",), "a")
    said = {"stdout": b"", "stderr": b"", how["channel"]: text}
    program = Outcome(command, how["exit_status"], said["stdout"], said["stderr"], 0, 0, how["timed_out"])
    server = Outcome(Command(("program",), "b", is_server=True), None, b"", b"", 0, 0)
    return [server, program] if how["server_first"] else [program]


def understood(spec: dict[str, Any], text: bytes, adapter: str) -> dict[str, Any]:
    """Return what the adapter makes of a text, in the words of a golden file."""
    asked = launch(adapter, spec["layer"], *spec["cases"], hosts=tuple(spec.get("hosts", ("a", "b"))))
    try:
        parsed = ADAPTERS.get(adapter).parse(asked, outcomes(text, spec["outcome"]))
    except ParseError as error:
        return {"parse_error": str(error)}
    places = {case.case_id: place for place, case in enumerate(asked.cases)}
    return {
        "results": [[result.status, result.reason] for result in parsed.results],
        "values": [[places[block.case_id], block.quantity, *block.values] for block in parsed.blocks],
    }


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden_pair(path: Path) -> None:
    golden = path.with_suffix(".json")
    spec = json.loads(golden.read_text())
    seen = understood(spec, path.read_bytes(), path.parent.name)
    if os.environ.get("FABRISCOPE_WRITE_GOLDEN"):
        golden.write_text(json.dumps({**spec, "expected": seen}, indent=1) + "\n")
    assert seen == spec["expected"]
    assert all(quantity in METRICS for _, quantity, *_ in seen.get("values", []))


@pytest.mark.parametrize("name", NAMES)
def test_each_program_has_a_good_a_truncated_and_a_failed_output(name: str) -> None:
    endings = {
        result[0]
        for path in (DATA / name).glob("*.json")
        for result in json.loads(path.read_text())["expected"].get("results", [])
    }
    assert endings == {"ok", "failed", "skipped"}
    assert (DATA / name / "truncated.txt").is_file()


@pytest.mark.parametrize(
    "path", [DATA / "iperf3/tcp.txt", DATA / "sockperf/ping_pong.txt", DATA / "perftest/send_lat.txt"]
)
@pytest.mark.parametrize("status", [77, -11])
def test_what_a_program_says_that_ends_badly_does_not_count(path: Path, status: int) -> None:
    spec = json.loads(path.with_suffix(".json").read_text())
    spec["outcome"]["exit_status"] = status
    seen = understood(spec, path.read_bytes(), path.parent.name)
    assert seen["values"] == []
    assert "ok" not in {result[0] for result in seen["results"]}


@pytest.mark.parametrize("status", [77, -11])
def test_the_last_result_of_a_qperf_that_ends_badly_does_not_count(status: int) -> None:
    spec = json.loads((DATA / "qperf/latency_and_bandwidth.json").read_text())
    spec["outcome"]["exit_status"] = status
    seen = understood(spec, (DATA / "qperf/latency_and_bandwidth.txt").read_bytes(), "qperf")
    good = spec["expected"]
    assert [result[0] for result in seen["results"]].count("ok") == [r[0] for r in good["results"]].count("ok") - 1


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_was_not_started_fails_its_cases(name: str) -> None:
    asked = launch(name, LAYERS.get(name, "tcp"), ping_pong(64, tcp_nodelay=name != "qperf"), bandwidth(1024))
    parsed = ADAPTERS.get(name).parse(asked, [])
    assert parsed.blocks == ()
    assert {result.status for result in parsed.results} <= {"failed", "skipped"}
    assert all(result.reason for result in parsed.results)


def argvs(asked: Launch) -> list[str]:
    adapter = ADAPTERS.get(asked.entry.instrument)
    return [f"{command.host}: {' '.join(command.argv)}" for command in adapter.commands(asked, CONTEXT)]


def test_netpipe_sweeps_once() -> None:
    asked = launch("netpipe", "tcp", ping_pong(1), ping_pong(64), bandwidth(8), budget_ns=9_000_000_000)
    assert argvs(asked) == [
        "b: stdbuf -oL /x/NPtcp -P 18815 -l 1 -u 64 -p 0",
        "a: /x/NPtcp -P 18815 -l 1 -u 64 -p 0 -h 10.0.0.2 -o /dev/null",
    ]


def test_netpipe_takes_few_repeats_where_the_budget_is_short() -> None:
    buffers = {"send_buffer_bytes": 65536, "receive_buffer_bytes": 65536}
    asked = launch("netpipe", "tcp", ping_pong(64, **buffers), budget_ns=100_000_000)
    assert argvs(asked)[0] == "b: stdbuf -oL /x/NPtcp -P 18815 -l 64 -u 64 -p 0 -n 653 -b 65536"
    assert repeat_count((1 << 20,), 1, 10**9) == 1


def test_netpipe_over_mpi_is_one_job() -> None:
    (job,) = ADAPTERS.get("netpipe").commands(launch("netpipe", "mpi", ping_pong(8)), CONTEXT)
    assert job.argv == ("/x/NPmpich2", "-l", "8", "-u", "8", "-p", "0", "-o", "/dev/null")
    assert job.rank_hosts == ("a", "b")


@pytest.mark.parametrize(
    ("lower", "upper", "sizes"),
    [
        (1, 20, (1, 2, 3, 4, 6, 8, 12, 16)),
        (64, 1024, (64, 96, 128, 192, 256, 384, 512, 768, 1024)),
        (7, 90, (7, 10, 13, 19, 25, 37, 49, 73)),
        (8, 8, (8,)),
    ],
)
def test_netpipe_visits_these_sizes(lower: int, upper: int, sizes: tuple[int, ...]) -> None:
    """As NPtcp 3.7.2 was seen to do."""
    assert visited_sizes(lower, upper) == sizes


def test_sockperf_has_a_client_for_each_case_and_a_server_for_each_set_of_options() -> None:
    asked = launch("sockperf", "tcp", ping_pong(64), bandwidth(1400), ping_pong(64, tcp_nodelay=False, busy_poll_us=50))
    assert argvs(asked) == [
        "b: /x/sockperf server --tcp -i 10.0.0.2 -p 18815 -m 1400 --uc-reuseaddr",
        "a: /x/sockperf ping-pong --tcp -i 10.0.0.2 -p 18815 -m 64 -t 1",
        "a: /x/sockperf throughput --tcp -i 10.0.0.2 -p 18815 -m 1400 -t 1 --tcp-avoid-nodelay",
        "b: /x/sockperf server --tcp -i 10.0.0.2 -p 18816 -m 64 --uc-reuseaddr --tcp-avoid-nodelay --lls 50",
        "a: /x/sockperf ping-pong --tcp -i 10.0.0.2 -p 18816 -m 64 -t 1 --tcp-avoid-nodelay --lls 50",
    ]


def test_qperf_runs_all_tests_with_one_client() -> None:
    asked = launch("qperf", "tcp", ping_pong(1, tcp_nodelay=False), bandwidth(65536, tcp_nodelay=False), ping_pong(2))
    assert argvs(asked) == [
        "b: /x/qperf -lp 18815",
        "a: /x/qperf 10.0.0.2 -lp 18815 -ip 18816 --unify_units --verbose_used --verbose_more_stat"
        " --precision 9 --time 1 --msg_size 1 tcp_lat --msg_size 65536 tcp_bw",
    ]


def test_iperf3_has_a_server_for_each_case() -> None:
    socket: dict[str, Any] = {"send_buffer_bytes": 200000, "receive_buffer_bytes": 200000, "congestion_control": "reno"}
    asked = launch("iperf3", "tcp", bandwidth(65536), bandwidth(1024, tcp_nodelay=False, **socket))
    assert argvs(asked) == [
        "b: /x/iperf3 -s -1 -p 18815 --forceflush",
        "a: /x/iperf3 -c 10.0.0.2 -p 18815 -J -l 65536 -t 1 -O 1 -N",
        "b: /x/iperf3 -s -1 -p 18816 --forceflush",
        "a: /x/iperf3 -c 10.0.0.2 -p 18816 -J -l 1024 -t 1 -O 1 -w 200000 -C reno",
    ]


def test_imb_has_a_job_for_each_window() -> None:
    asked = launch("imb", "mpi", ping_pong(8), bandwidth(65536), bandwidth(65536, window=16))
    jobs = ADAPTERS.get("imb").commands(asked, CONTEXT)
    assert [" ".join(job.argv) for job in jobs] == [
        "/x/IMB-MPI1 PingPong -msgsize 8 -zero_size off -iter 1000000,1000000 -time 0.667 -window_size 64",
        "/x/IMB-MPI1 Uniband -msgsize 65536 -zero_size off -iter 1000000,1000000 -time 0.667 -window_size 64",
        "/x/IMB-MPI1 Uniband -msgsize 65536 -zero_size off -iter 1000000,1000000 -time 0.667 -window_size 16",
    ]
    assert all(job.env == {"LD_LIBRARY_PATH": "/opt/mpich/lib"} and job.rank_hosts == ("a", "b") for job in jobs)


def test_imb_has_a_job_for_each_set_of_options() -> None:
    def of_all(benchmark: str, size: int, **parameters: str) -> dict[str, Any]:
        return {"benchmark": benchmark, "message_size_bytes": size, "parameters": tuple(parameters.items())}

    asked = launch(
        "imb",
        "mpi",
        of_all("barrier", 0),
        of_all("allreduce", 64, timing="barrier"),
        of_all("reduce_scatter", 48),
        of_all("bcast", 64, root="rotating", datatype="double"),
        of_all("allgather", 8, timing="back_to_back"),
        of_all("allreduce", 64, datatype="int32"),
        hosts=("a", "b", "c", "d"),
    )
    jobs = ADAPTERS.get("imb").commands(asked, CONTEXT)
    ending = "-iter 1000000,1000000 -time 0.333 -npmin 4"
    assert [" ".join(job.argv) for job in jobs] == [
        f"/x/IMB-MPI1 Barrier Allreduce -msgsize 64 -zero_size off {ending}",
        f"/x/IMB-MPI1 Reduce_scatter -msgsize 12 -zero_size off {ending}",
        f"/x/IMB-MPI1 Bcast -msgsize 64 -zero_size off {ending} -data_type double -root_shift on",
        f"/x/IMB-MPI1 Allgather -msgsize 8 -zero_size off {ending} -sync off",
        f"/x/IMB-MPI1 Allreduce -msgsize 64 -zero_size off {ending} -red_data_type int",
    ]


def test_imb_has_a_job_for_each_program() -> None:
    def one(benchmark: str, size: int, **parameters: str) -> dict[str, Any]:
        return {"benchmark": benchmark, "message_size_bytes": size, "parameters": tuple(parameters.items())}

    asked = launch(
        "imb",
        "mpi",
        ping_pong(8),
        one("iallreduce", 64),
        one("iallreduce", 1024, compute="1"),
        one("ibcast", 64, root="rotating"),
        one("put_latency", 8, far_check="0"),
        one("get_latency", 4096),
        one("get_bandwidth", 65536),
        one("put_latency", 8),
        one("iallreduce", 24),
    )
    jobs = ADAPTERS.get("imb").commands(asked, CONTEXT)
    effort = "-iter 769,8 -time 0.615"
    of_rma = "-iter 769,8,769 -time 0.615"
    assert [" ".join(job.argv) for job in jobs] == [
        "/x/IMB-MPI1 PingPong -msgsize 8 -zero_size off -iter 1000000,1000000 -time 0.154",
        f"/x/IMB-NBC Iallreduce_pure -msglog 6:6 -zero_size off {effort}",
        f"/x/IMB-NBC Iallreduce -msglog 10:10 -zero_size off {effort}",
        f"/x/IMB-NBC Ibcast_pure -msglog 6:6 -zero_size off {effort} -root_shift on",
        f"/x/IMB-RMA Unidir_put -msglog 3:3 {of_rma} -aggregate_mode non_aggregate",
        f"/x/IMB-RMA Unidir_get -msglog 12:12 {of_rma} -aggregate_mode non_aggregate",
        f"/x/IMB-RMA Unidir_get -msglog 16:16 {of_rma} -aggregate_mode aggregate",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_is_not_here(name: str) -> None:
    layer = LAYERS.get(name, "tcp")
    cases = (ping_pong(64, tcp_nodelay=name != "qperf"), bandwidth(1024))
    with pytest.raises(ToolMissing):
        ADAPTERS.get(name).commands(launch(name, layer, *cases), AdapterContext(HOSTS, fabric=FABRIC, mpi=MPICH))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_started_where_no_case_can_be_measured(name: str) -> None:
    layer = LAYERS.get(name, "tcp")
    asked = launch(name, layer, {"benchmark": "empty", "message_size_bytes": 0})
    assert ADAPTERS.get(name).commands(asked, CONTEXT) == ()
    assert [result.status for result in ADAPTERS.get(name).parse(asked, []).results] == ["skipped"]


def test_perftest_has_a_server_and_a_client_for_each_case() -> None:
    """One end may have another device than the other one; what the case asks for comes before the fabric."""
    ports = {"a": RdmaPort("rxe0", gid_index=1), "b": RdmaPort("mlx5_0", hca_port=2, gid_index=3)}
    context = replace(CONTEXT, fabric=replace(FABRIC, transport="roce", rdma_ports=ports, traffic_class=96))
    asked = launch(
        "perftest",
        "verbs",
        ping_pong(64),
        {
            "benchmark": "write_bandwidth",
            "message_size_bytes": 65536,
            "parameters": (("queue_depth", "32"), ("ack_timeout", "18")),
        },
        {
            "benchmark": "fetch_add_latency",
            "message_size_bytes": 8,
            "parameters": (("gid_index", "0"), ("completion", "event")),
        },
    )
    commands = ADAPTERS.get("perftest").commands(asked, context)
    assert [f"{command.host}: {' '.join(command.argv)}" for command in commands] == [
        "b: stdbuf -oL /x/ib_send_lat -F -n 5000 -s 64 -p 18815 -d mlx5_0 -i 2 -x 3 --tclass 96",
        "a: /x/ib_send_lat -F -n 5000 -s 64 -p 18815 -d rxe0 -i 1 -x 1 --tclass 96 10.0.0.2",
        "b: stdbuf -oL /x/ib_write_bw -F -n 882 -s 65536 -t 32 -u 18 -p 18816 -d mlx5_0 -i 2 -x 3 --tclass 96",
        "a: /x/ib_write_bw -F -n 882 -s 65536 -t 32 -u 18 -p 18816 -d rxe0 -i 1 -x 1 --tclass 96 10.0.0.2",
        "b: stdbuf -oL /x/ib_atomic_lat -F -n 5000 -A FETCH_AND_ADD -x 0 -e -p 18817 -d mlx5_0 -i 2 --tclass 96",
        "a: /x/ib_atomic_lat -F -n 5000 -A FETCH_AND_ADD -x 0 -e -p 18817 -d rxe0 -i 1 --tclass 96 10.0.0.2",
    ]
    assert all(command.is_server == (command.host == "b") for command in commands)


def test_perftest_over_iwarp_connects_by_the_manager() -> None:
    ports = {name: RdmaPort("siw0") for name in ("a", "b")}
    context = replace(CONTEXT, fabric=replace(FABRIC, transport="iwarp", rdma_ports=ports))
    commands = ADAPTERS.get("perftest").commands(launch("perftest", "verbs", ping_pong(64)), context)
    assert all("-R" in command.argv for command in commands)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ((("queue_depth", "8"),), "ib_send_lat cannot set queue_depth"),
        ((("datatype", "float"),), "perftest cannot set datatype"),
    ],
)
def test_what_perftest_cannot_be_asked_for(parameters: tuple[tuple[str, str], ...], reason: str) -> None:
    asked = launch("perftest", "verbs", {**ping_pong(64), "parameters": parameters})
    (result,) = ADAPTERS.get("perftest").parse(asked, []).results
    assert (result.status, result.reason) == ("skipped", reason)


def test_what_the_mpi_library_says_between_rows_of_imb_ends_no_table() -> None:
    """As UCX does, whose warnings go to standard output."""
    text = (DATA / "imb" / "ping_pong.txt").read_text()
    rows = IMB.read(text).rows()
    (first, *_) = [
        line
        for line in text.splitlines(keepends=True)
        if line.split()[:1] == [str(rows[0].values["message_size_bytes"])]
    ]
    said = "[1795.120] [node1:77:0] sock.c:322 UCX WARN a connection was closed\n"
    with_a_warning = IMB.read(text.replace(first, first + said, 1)).rows()
    assert [row.values for row in with_a_warning] == [row.values for row in rows]
    assert len(rows) > 1
