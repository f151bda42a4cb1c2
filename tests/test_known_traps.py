"""Each known trap fires where it should and nowhere else, and is told by every command that shows the number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.needs import ROOT

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.known_traps import KnownTrap, known_traps
from fabriscope.cli import fabriscope
from fabriscope.model.trap_table import BELOW, BEYOND, DUPLEX, TRAPS, traps_of
from fabriscope.model.traps import Stated

MEBI, MEGA = "MB/s, a MB of 2^20 B", "MB/s, a MB of 10^6 B"
RATE, LATENCY, MEAN = "bandwidth_bytes_per_s", "latency_ns", "time_ns_mean"
TOTAL = "total_bytes"
Number = tuple[str, str, str, Mapping[str, Any]]
"""Program, test, column, and what else is stated."""


def binary(program: str, test: str, column: str = RATE) -> tuple[Number, Number]:
    return (program, test, column, {"printed_in": MEBI}), (program, test, column, {"printed_in": MEGA})


FIRES_AND_NOT: Mapping[str, tuple[Number, Number]] = {
    "perftest-mib": binary("perftest", "RDMA_Write BW Test"),
    "netpipe-2-20": binary("netpipe", "ping-pong"),
    "ucx-perftest-mib": binary("ucx_perftest", "tag match bandwidth"),
    "sockperf-mib": binary("sockperf", "throughput", "sent_bandwidth_bytes_per_s"),
    "dfsio-mib": binary("dfsio", "write", "total_bandwidth_bytes_per_s"),
    "gpcnet-mib": binary("gpcnet", "Isolated Network Tests", f"{RATE}_mean"),
    "imb-mebibytes": binary("imb", "Uniband"),
    "iperf-binary-bytes": binary("iperf2", "total", TOTAL),
    "iperf3-binary-bytes": binary("iperf3", "total", TOTAL),
    "osu-percentile-of-rank-means": (
        ("osu", "osu_allreduce", "time_ns_rank_mean_p99", {}),
        ("osu", "osu_latency", "latency_ns_p99", {}),
    ),
    "osu-p99-is-near-best": (("osu", "osu_bw", f"{RATE}_p99", {}), ("osu", "osu_bw", RATE, {})),
    "osu-percentile-of-few": (
        ("osu", "osu_latency", "latency_ns_p99", {"count": 20}),
        ("osu", "osu_latency", "latency_ns_p99", {"count": 1000}),
    ),
    "barrier-is-no-clock": (("imb", "Allreduce", MEAN, {}), ("imb", "Barrier", MEAN, {})),
    "osu-mean-over-pairs": (("osu", "osu_mbw_mr", "message_rate_per_s", {}), ("osu", "osu_bw", RATE, {})),
    "local-completion": (("osu", "osu_put_latency", LATENCY, {}), ("osu", "osu_get_latency", LATENCY, {})),
    "window-unsaid": (("osu", "osu_bibw", RATE, {}), ("osu", "osu_bibw", RATE, {"window": 64})),
    "imb-window-256": (
        ("imb", "Biband", RATE, {"version": "2021.7"}),
        ("imb", "Biband", RATE, {"version": "2019 Update 6"}),
    ),
    "osu-few-large-messages": (
        ("osu", "osu_bw", RATE, {"size_bytes": 65536}),
        ("osu", "osu_bw", RATE, {"size_bytes": 65536, "is_launched": True}),
    ),
    "osu-table-may-be-cut": (
        ("osu", "osu_latency", LATENCY, {"largest_size_bytes": 4096}),
        ("osu", "osu_latency", LATENCY, {"largest_size_bytes": 1 << 22}),
    ),
    "imb-one-warm-up": (("imb", "PingPong", "time_ns", {"count": 10}), ("imb", "PingPong", "time_ns", {"count": 20})),
    "imb-few-repetitions": (
        ("imb", "PingPong", "time_ns", {"count": 40, "size_bytes": 1 << 20}),
        ("imb", "PingPong", "time_ns", {"count": 40, "size_bytes": 64}),
    ),
    "imb-ping-ping": (("imb", "PingPing", "time_ns", {}), ("imb", "PingPong", "time_ns", {})),
    "sum-of-directions": (
        ("perftest", "Send Bidirectional BW Test", RATE, {}),
        ("perftest", "Send BW Test", RATE, {}),
    ),
    "bandwidth-of-one-message": (("imb", "PingPong", RATE, {}), ("imb", "Uniband", RATE, {})),
    "netpipe-least-of-three": (
        ("netpipe", "ping-pong", LATENCY, {"definition": "half of a round trip, the least of the means of three"}),
        ("netpipe", "ping-pong", LATENCY, {"definition": "half of a round trip, the mean over the trials"}),
    ),
    "perftest-half-or-whole": (
        ("perftest", "Send Latency Test", f"{LATENCY}_mean", {}),
        ("perftest", "Send BW Test", RATE, {}),
    ),
    "perftest-short": (
        ("perftest", "Send BW Test", RATE, {"count": 5000, "size_bytes": 65536, "value": 5e10}),
        ("perftest", "Send BW Test", RATE, {"count": 5000, "size_bytes": 65536, "value": 1e8}),
    ),
    "sockperf-half": (
        ("sockperf", "under-load", LATENCY, {}),
        ("sockperf", "ping-pong, whole round trips", "round_trip_ns", {}),
    ),
    "sent-is-not-arrived": (
        ("netperf", "UDP STREAM", f"sent_{RATE}", {}),
        ("netperf", "UDP STREAM", RATE, {}),
    ),
    "iperf3-one-thread": (
        ("iperf3", "total", RATE, {"version": "iperf 3.12", "said": {"stream_count": 4}}),
        ("iperf3", "total", RATE, {"version": "iperf 3.16", "said": {"stream_count": 4}}),
    ),
    "gpcnet-two-populations": (
        ("gpcnet", "Isolated Network Tests", f"{LATENCY}_p99_9", {}),
        ("gpcnet", "Isolated Network Tests", f"{LATENCY}_mean", {}),
    ),
    "gpcnet-low-end": (
        ("gpcnet", "Isolated Network Tests", f"{RATE}_p99", {}),
        ("gpcnet", "Isolated Network Tests", f"{LATENCY}_p99", {}),
    ),
    "gpcnet-few-hosts": (
        ("gpcnet", "Key Results", "congestion_impact_mean", {"said": {"host_count": 32}}),
        ("gpcnet", "Key Results", "congestion_impact_mean", {"said": {"host_count": 900}}),
    ),
    "linktest-no-warm-up": (
        ("linktest", "pairs", f"{LATENCY}_mean", {}),
        ("linktest", "pairs", "iteration", {}),
    ),
    "nccl-bus-bandwidth": (
        ("nccl", "all_reduce_perf", f"in_place_bus_{RATE}", {}),
        ("nccl", "all_reduce_perf", f"in_place_algorithm_{RATE}", {}),
    ),
    "nccl-one-loop": (
        ("nccl", "all_reduce_perf", "in_place_time_ns", {}),
        ("nccl", "all_reduce_perf", "in_place_wrong_count", {}),
    ),
    "ycsb-closed-loop": (
        ("ycsb", "operations", f"{LATENCY}_p99", {}),
        ("ycsb", "operations", "operation_count", {}),
    ),
    "dfsio-per-task": (("dfsio", "read", f"{RATE}_mean", {}), ("dfsio", "read", f"total_{RATE}", {})),
    "hpcg-unofficial": (
        ("hpcg", "HPCG", "rating_flop_per_s", {"time_s": 60.0}),
        ("hpcg", "HPCG", "rating_flop_per_s", {"time_s": 1800.0}),
    ),
}  # fmt: skip
OF_THE_WIRE = {DUPLEX, BEYOND, BELOW}


def test_every_trap_is_tried() -> None:
    assert set(FIRES_AND_NOT) | OF_THE_WIRE == set(TRAPS)


@pytest.mark.parametrize("name", FIRES_AND_NOT)
def test_a_trap_fires_where_it_should_and_not_beside(name: str) -> None:
    fires, silent = (Stated(program, test, column, **more) for program, test, column, more in FIRES_AND_NOT[name])
    assert name in traps_of(fires)
    assert name not in traps_of(silent)


def test_the_documentation_has_every_trap_by_its_name() -> None:
    page = (ROOT / "docs" / "traps.md").read_text()
    rows = [f"| `{trap.name}` | {', '.join(trap.programs) or 'any'} | {trap.sentence} | {trap.source} |" for trap in
            TRAPS.values()]  # fmt: skip
    assert [
        line for line in page.splitlines() if line.startswith("| `") and not line.startswith("| `fabriscope")
    ] == rows


def command(*words: object) -> Result:
    return CliRunner().invoke(fabriscope, [str(word) for word in words], catch_exceptions=False)


LOGS = ROOT / "tests" / "adapters" / "data"


def traps_in(log: Path) -> dict[str, set[str]]:
    """Return the traps that `read` finds in a log: name to the columns."""
    found: dict[str, set[str]] = {}
    for document in json.loads(command("read", "--json", log).stdout)["documents"]:
        for table in document["tables"]:
            for one in table["traps"]:
                assert one["text"] == TRAPS[one["name"]].sentence
                found.setdefault(one["name"], set()).add(one["column"])
    return found


def test_read_tells_them_of_logs() -> None:
    assert traps_in(LOGS / "perftest" / "write_bw.txt")["perftest-mib"] == {RATE, f"peak_{RATE}"}
    assert "perftest-mib" not in traps_in(LOGS / "perftest" / "write_bw_gigabits.txt")
    assert traps_in(LOGS / "netpipe" / "nptcp.txt") == {
        "netpipe-2-20": {RATE}, "netpipe-least-of-three": {LATENCY, RATE}, "bandwidth-of-one-message": {RATE},
    }  # fmt: skip
    assert set(traps_in(ROOT / "tests/readers/data/netpipe/five.txt")) == {"bandwidth-of-one-message"}
    tails = traps_in(ROOT / "tests/readers/data/osu/full_tail_validate.txt")
    assert {column[-3:] for column in tails["osu-percentile-of-rank-means"]} <= {"p50", "p90", "p99"}


def test_read_says_of_which_rows_a_trap_is() -> None:
    text = command("read", LOGS / "imb" / "ping_pong.txt").stdout
    assert "trap imb-few-repetitions: time, bandwidth of 1 row: IMB moves 40 MiB in a size" in text
    assert "imb-one-warm-up" not in text


def osu(title: str, head: str, values: Mapping[int, float]) -> str:
    return f"# OSU MPI {title} Test v7.4\n# Size   {head}\n" + "".join(
        f"{size:<10}{value:20.2f}\n" for size, value in values.items()
    )


BIBW, LAT = ("Bi-Directional Bandwidth", "Bandwidth (MB/s)"), ("Latency", "Latency (us)")


def known(run: Path) -> list[KnownTrap]:
    data = store.open_run(run).read()
    return known_traps(data, results_of(data).graded)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """One link of 1 Gb/s and 100 us, on two fabrics' names, with numbers that it allows and others."""
    for fabric in ("a", "b"):
        folder = tmp_path / "logs" / fabric
        folder.mkdir(parents=True)
        for number in range(3):
            more = 0.01 * number
            (folder / f"bibw{number}.log").write_text(
                osu(*BIBW, {8192: 90 + more, 16384: 200 + more, 32768: 400 + more})
            )
            (folder / f"latency{number}.log").write_text(osu(*LAT, {1: 60 + more, 2: 150 + more}))
    (tmp_path / "logs" / "labels.yaml").write_text("'a/*': {fabric: a}\n'b/*': {fabric: b}\n")
    told = "placement=inter,mpi=openmpi,rate=1Gb/s,delay=100us,mtu=1500,window=64"
    done = command("import", tmp_path / "logs", "-o", tmp_path / "run", "--label", told)
    assert done.exit_code == 0, done.output
    assert f"known trap {DUPLEX} (a · MPI (openmpi) by osu, bidirectional bandwidth, 16 KiB; b · " in done.stdout
    return tmp_path / "run"


def test_the_wire_tells_what_cannot_be_and_what_is_of_both_directions(run: Path) -> None:
    traps = known(run)
    of_a = {(one.name, one.metric_id): one.sizes_bytes for one in traps if one.curve.fabric == "a"}
    bibw, latency = "bidirectional_bandwidth_bytes_per_s", "latency_ns_separate_mean"
    assert of_a[DUPLEX, bibw] == (16384,)
    assert of_a[BEYOND, bibw] == (32768,)
    assert of_a[BELOW, latency] == (1,)
    assert of_a["sum-of-directions", bibw] == (8192, 16384, 32768)


def test_show_report_and_compare_tell_them_beside_the_numbers(run: Path) -> None:
    shown = " ".join(command("show", run).stdout.split())  # however wide a terminal is taken to be
    assert f"- {BELOW} (a · MPI (openmpi) by osu, mean latency, separate buffers, 1 B; b · " in shown
    assert command("report", run).exit_code == 0
    page = (run / "report" / "report.html").read_text()
    assert '<h2 id="traps">Known traps of these numbers</h2>' in page
    assert TRAPS[BEYOND].sentence in page
    notes = json.loads(command("compare", run, "--left", "a", "--right", "b", "--json").stdout)["notes"]
    told = [note for note in notes if note.startswith("known trap ")]
    assert any(note.startswith(f"known trap {DUPLEX} (a · ") for note in told)
    assert command("verify", run).exit_code == 0


def test_a_wire_that_nobody_states_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text(osu(*LAT, {1: 0.01, 2: 0.02}))
    assert command("import", tmp_path / "x.log", "-o", tmp_path / "run").exit_code == 0
    names = {one.name for one in known(tmp_path / "run")}
    assert not names & OF_THE_WIRE


def test_two_things_of_one_wire_are_refused(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / f"{name}.log").write_text(osu(*LAT, {1: 1.0, 2: 2.0}))
    (tmp_path / "labels.yaml").write_text("x.log: {rate: 1Gb/s}\ny.log: {rate: 10Gb/s}\n")
    done = CliRunner().invoke(fabriscope, ["import", str(tmp_path), "-o", str(tmp_path / "run")])
    assert "two things of the rate" in str(done.exception)
    (tmp_path / "labels.yaml").write_text("x.log: {delay: long}\n")
    done = CliRunner().invoke(fabriscope, ["import", str(tmp_path), "-o", str(tmp_path / "run")])
    assert "the label delay: 'long' is not a duration" in str(done.exception)
    assert not (tmp_path / "run").exists()


def test_reconcile_tells_those_of_what_is_set_side_by_side(tmp_path: Path) -> None:
    log = tmp_path / "osu.log"
    log.write_text(osu(*LAT, {1: 1.0, 2: 2.0}))
    told = "layer=mpi,placement=inter,mpi=openmpi,fabric=a"
    command("import", log, LOGS / "netpipe" / "npopenmpi.txt", "-o", tmp_path / "run", "--label", told)
    text = " ".join(command("reconcile", tmp_path / "run").stdout.split())
    assert "Known trap netpipe-least-of-three (a · MPI (openmpi) by netpipe, least mean latency" in text
    assert "netpipe-2-20" not in text, "that is of its bandwidth, which is not set beside anything"
