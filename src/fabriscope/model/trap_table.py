"""The table of all known traps; docs/traps.md has the same for readers of the documentation."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache

from fabriscope.model.traps import Stated, Trap, placed

_RATES = r".*: (?:\w+_)?bandwidth_bytes_per_s(?:_\w+)?"
_LATENCIES = r".*: (?:latency|round_trip)_ns(?:_\w+)?"
_OSU = "its source, version 7.4"
_SHORT_S = 0.05
"""A transfer that is over sooner says little of a link."""
_OFFICIAL_S = 1800
_FEW = 100
_LARGE_BYTES = 8192
_USUAL_LAST_BYTES = 1 << 20
"""Where the shortest of OSU's sweeps ends, without options."""


def _is_binary(stated: Stated) -> bool:
    return _has_power_of_2(stated.printed_in)


@cache
def _has_power_of_2(unit: str) -> bool:
    return re.search(r" of 2\^[1-9]", unit) is not None


def _year(stated: Stated) -> int:
    """Return the year in a version of IMB, 0 for none."""
    year = re.match(r"\d{4}", stated.version or "")
    return int(year[0]) if year else 0


def _is_window_unsaid(stated: Stated) -> bool:
    return stated.window is None


def _may_have_window_256(stated: Stated) -> bool:
    """Return whether it may be the newer usual window: what prints 2018 may be as new as 2021.3."""
    return stated.window is None and (_year(stated) in (0, 2018) or _year(stated) > 2020)


def _at_most(most: int, least_bytes: int = 0) -> Callable[[Stated], bool]:
    """Return the condition that a number is taken over so few operations, of messages of this size or more."""
    return lambda one: one.count is not None and one.count <= most and (one.size_bytes or 0) >= least_bytes


def _is_read_and_large(stated: Stated) -> bool:
    return not stated.is_launched and (stated.size_bytes or 0) > _LARGE_BYTES and stated.count is None


def _may_be_cut(stated: Stated) -> bool:
    return not stated.is_launched and 0 < (stated.largest_size_bytes or 0) < _USUAL_LAST_BYTES


def _is_short(stated: Stated) -> bool:
    moved = (stated.count or 0) * (stated.size_bytes or 0)
    return bool(stated.value) and 0 < moved / (stated.value or 1) < _SHORT_S


def _runs_streams_in_one_thread(stated: Stated) -> bool:
    version = re.search(r"3\.(\d{1,3})", stated.version or "")
    streams = stated.said.get("stream_count", 1)
    return version is not None and int(version[1]) < 16 and isinstance(streams, int | float) and streams > 1


def _is_small_machine(stated: Stated) -> bool:
    hosts = stated.said.get("host_count")
    return isinstance(hosts, int | float) and hosts <= 32


def _is_unofficial(stated: Stated) -> bool:
    return stated.time_s is not None and stated.time_s < _OFFICIAL_S


def _binary(name: str, program: str, word: str, columns: str, source: str) -> Trap:
    """Return the trap of a prefix that others print with powers of ten."""
    sentence = f"{word} stands for a power of 2, not of 10: as printed it is less than OSU or iperf3 print of one rate"
    return Trap(name, (program,), columns, f"{sentence}; here it is converted", source, _is_binary)


_IN_LOGS = (
    _binary("perftest-mib", "perftest", "perftest's MB/sec", _RATES, "perftest_parameters.c: format_factor 0x100000"),
    _binary("netpipe-2-20", "netpipe", "the Mbps of NetPIPE 3", _RATES, "its rows: size, time and rate agree so alone"),
    _binary("ucx-perftest-mib", "ucx_perftest", "ucx_perftest's MB/s", _RATES, "its rows: rate of messages times size"),
    _binary("sockperf-mib", "sockperf", "sockperf's MBps", _RATES, "its own Mbps beside it"),
    _binary("dfsio-mib", "dfsio", "TestDFSIO's mb/sec", _RATES, "TestDFSIO.java: MEGA = 0x100000"),
    _binary("gpcnet-mib", "gpcnet", "GPCNeT's MiB/s/rank", _RATES, "its tables"),
    _binary("imb-mebibytes", "imb", "the Mbytes/sec of IMB before 2018", _RATES, "its rows: time and rate agree so"),
    _binary("iperf-binary-bytes", "iperf2", "iperf's KBytes and MBytes", r".*: total_bytes",
            "its rows; bits are decimal"),
    _binary("iperf3-binary-bytes", "iperf3", "iperf3's KBytes and MBytes", r".*: total_bytes",
            "its rows; bits are decimal"),
    Trap(
        "osu-percentile-of-rank-means", ("osu",), r".*: time_ns_rank_mean_p\d\w*",
        "OSU takes a collective's percentiles of the mean over all ranks: a rank that is 100 times as slow among 1,000 "
        "moves it by a tenth", f"{_OSU}: omb_get_stats in osu_util_mpi.c",
    ),
    Trap(
        "osu-p99-is-near-best", ("osu",), r".*: bandwidth_bytes_per_s_p\d\w*",
        "OSU sorts bandwidths as it sorts times: its P99 is near the best of the iterations, not the worst hundredth",
        f"{_OSU}: osu_bw.c",
    ),
    Trap(
        "osu-percentile-of-few", ("osu",), r".*: \w+_p\d\w*",
        f"a percentile is one of the iterations, number n p / 100 rounded: of under {_FEW} the 99th is the largest",
        f"{_OSU}: omb_calculate_tail_lat", _at_most(_FEW - 1),
    ),
    Trap(
        "barrier-is-no-clock", ("osu", "imb"),
        r"(?:osu_i?(?!barrier|ibarrier)(?:all|bcast|gather|scatter|reduce)\w*|I?(?:All|all|Bcast|bcast|Gather|gather|"
        r"Scatter|scatter|Reduce|reduce)\w*)(?: \S+)?: time_ns_(?:mean|most|least|pure|rank)\w*",
        "ranks leave the barrier before a collective at different moments, and each times its own call by its own "
        "clock: that is part of the number", "Hunold and Carpen-Amarie, TPDS 27(12), 2016",
    ),
    Trap(
        "osu-mean-over-pairs", ("osu",), r"osu_mbw_mr: (?:bandwidth_bytes_per_s|message_rate_per_s)",
        "osu_mbw_mr divides all pairs' messages by the mean of the pairs' times: where pairs take turns, it is more "
        "than passes the wire", f"{_OSU}: osu_mbw_mr.c",
    ),
    Trap(
        "local-completion", ("osu", "imb"),
        r"(?:osu_(?:put|acc)_\w+|(?:Unidir|Bidir)_put\S* NON-AGGREGATE|Accumulate NON-AGGREGATE): \w+",
        "a put is over once its origin is told so: whether the data have arrived in the other memory is not asked",
        "MPI-4.1, 12.5.4, MPI_Win_flush",
    ),
    Trap(
        "window-unsaid", ("osu",), r"osu_(?:bi)?bw(?:_\w+)?: bandwidth_bytes_per_s",
        "the log does not say how many messages were in flight (64 without -W): the label `window` does",
        f"{_OSU}: WINDOW_SIZE_DEFAULT", _is_window_unsaid,
    ),
    Trap(
        "imb-window-256", ("imb",), r"(?:Multi-)?(?:Uni|Bi)band: \w+_per_s",
        "the log does not say how many messages were in flight: 256 since IMB 2021.2, 64 before and in OSU",
        "ReadMe_IMB.txt, What's New; MPI1_suite.cpp", _may_have_window_256,
    ),
    Trap(
        "osu-few-large-messages", ("osu",), r"osu_(?:bi)?bw: bandwidth_bytes_per_s",
        "above 8 KiB OSU makes 20 windows after 2 that warm up, unless told otherwise, which the log does not say",
        f"{_OSU}: osu_util.h", _is_read_and_large,
    ),
    Trap(
        "osu-table-may-be-cut", ("osu",), r".*: (?!message_size)\w+_(?:ns|per_s)(?:_mean)?",
        "a cancelled job leaves a short table that looks whole: this one ends before 1 MiB, where OSU's sweeps go on",
        "logs of cancelled jobs", _may_be_cut,
    ),
    Trap(
        "imb-one-warm-up", ("imb",), r".*: (?!message_size|repetition)\w+",
        "IMB warms up with a tenth of its repetitions (until May 2026): of fewer than 20 that is one operation at most",
        "mpi-benchmarks, commit 46e8757", _at_most(19),
    ),
    Trap(
        "imb-few-repetitions", ("imb",), r".*: (?!message_size|repetition)\w+",
        "IMB moves 40 MiB in a size: 40 operations at 1 MiB, 10 at 4 MiB, few for a mean on a noisy machine",
        "IMB_settings.h: OVERALL_VOL", _at_most(40, 1 << 20),
    ),
    Trap(
        "imb-ping-ping", ("imb",), r"(?:Multi-)?PingPing: \w+",
        "PingPing is not what Sendrecv of two ranks prints, though IMB's guide calls them alike: one counts one "
        "message, the other two", "mpi-benchmarks, issue 71",
    ),
    Trap(
        "sum-of-directions", ("osu", "imb", "perftest"),
        r"(?:osu_(?:put_)?bibw(?:_\w+)?|(?:Multi-)?(?:Biband|Sendrecv|Exchange)|.*[Bb]idirectional(?!.* results).*): "
        r"(?:peak_)?(?:bandwidth_bytes|message_rate)_per_s",
        "the rate is the sum of both directions (of Exchange of four messages): one direction has half of it, or less",
        "osu_bibw.c; IMB's guide; perftest -b",
    ),
    Trap(
        "bandwidth-of-one-message", ("imb", "netpipe", "hpcc"),
        r"(?:(?:Multi-)?PingP[io]ng|ping-pong): bandwidth_bytes_per_s|.*: ping_pong_bandwidth_bytes_per_s\w*",
        "one message is in flight: this bandwidth is the size over the latency, and says less than osu_bw's windows do",
        "aws-parallelcluster, issue 5995",
    ),
    Trap(
        "netpipe-least-of-three", ("netpipe",), r"ping-pong: (?:latency_ns|bandwidth_bytes_per_s)",
        "NetPIPE 3 prints the least of the means of three trials, not a mean: stalls do not show", "netpipe.c of 3.7.2",
        lambda stated: "least of the means" in stated.definition or _is_binary(stated),
    ),
    Trap(
        "perftest-half-or-whole", ("perftest",), _LATENCIES,
        "of sends and writes a latency is half of a round trip, of reads and atomics the whole operation",
        "perftest's README, section 3",
    ),
    Trap(
        "perftest-short", ("perftest",), r".*: (?:peak_)?bandwidth_bytes_per_s",
        "all its messages passed in less than 50 ms: what a link does for longer is not seen (use -D)",
        "perftest, issue 318", _is_short,
    ),
    Trap(
        "sockperf-half", ("sockperf",), r"(?:ping-pong|under-load): latency_ns(?:_\w+)?",
        "a latency is half of a round trip, under load too, where the two ways differ; --full-rtt prints the whole",
        "sockperf's manual",
    ),
    Trap(
        "sent-is-not-arrived", ("sockperf", "netperf"), r".*: sent_bandwidth_bytes_per_s",
        "it counts what the sender's system took, whether it arrived or not", "sockperf's manual; netperf's UDP_STREAM",
    ),
    Trap(
        "iperf3-one-thread", ("iperf3",), r".*: bandwidth_bytes_per_s",
        "before 3.16 all streams of iperf3 run in one thread, which may be the limit and not the network",
        "iperf's RELNOTES.md", _runs_streams_in_one_thread,
    ),
    Trap(
        "gpcnet-two-populations", ("gpcnet",),
        r".*: (?:latency_ns|bandwidth_bytes_per_s)_(?:p99|p99_9|least_mean|most_mean)",
        "GPCNeT takes percentiles of single iterations, and Min, Max and Avg of means over iterations: its 99.9% may "
        "lie outside Min and Max", "GPCNET, issue 8; summarize_performance in utils.c",
    ),
    Trap(
        "gpcnet-low-end", ("gpcnet",), r".*: bandwidth_bytes_per_s_p99\w*",
        "the 99% of a bandwidth is its low end: 99 % of the iterations did better", "GPCNeT's from_min",
    ),
    Trap(
        "gpcnet-few-hosts", ("gpcnet",), r".*: congestion_impact_\w+",
        "of 32 hosts or fewer GPCNeT has never shown congestion: a factor of 1 says little", "GPCNET, issue 5",
        _is_small_machine,
    ),
    Trap(
        "linktest-no-warm-up", ("linktest",), r".*: (?:latency_ns|bandwidth_bytes_per_s)_\w+",
        "LinkTest makes three messages of a pair without any that warms up, unless it is told otherwise",
        "LinkTest's README, 2015",
    ),
    Trap(
        "nccl-bus-bandwidth", ("nccl",), r".*: (?:in|out_of)_place_bus_bandwidth_bytes_per_s",
        "the bus bandwidth is computed, the algorithm bandwidth times a factor of the collective and the ranks: no "
        "port has to carry it", "nccl-tests, doc/PERFORMANCE.md",
    ),
    Trap(
        "nccl-one-loop", ("nccl",), r".*: (?:in|out_of)_place_time_ns",
        "it is the mean of one timed loop, of 20 operations after one that warms up unless told otherwise: no spread "
        "is known", "nccl-tests, common.cu",
    ),
    Trap(
        "ycsb-closed-loop", ("ycsb",), r".*: latency_ns_\w+",
        "a client that waits for a slow answer asks nothing meanwhile: without -target and intended times the "
        "latencies of what was not asked are missing (coordinated omission)", "YCSB, core/CHANGES.md",
    ),
    Trap(
        "dfsio-per-task", ("dfsio",), r".*: bandwidth_bytes_per_s\w*",
        "Throughput and IO rate are those of one map task, bytes over the sum of the tasks' times: the cluster's is "
        "another number", "TestDFSIO.java: analyzeResult",
    ),
    Trap(
        "hpcg-unofficial", ("hpcg",), r".*: \w*flop_per_s",
        "VALID is printed after a fraction of a second too: an official result takes 1800 s, and this one took less",
        "HPCG's rules", _is_unofficial,
    ),
)  # fmt: skip
DUPLEX, BEYOND, BELOW = "duplex-above-one-direction", "beyond-the-wire", "below-propagation"
_OF_THE_WIRE = (
    Trap(
        DUPLEX, (), "",
        "it is above what one direction of the wire carries: it is the sum of both, which no single message saw",
        "the wire's rate",
    ),
    Trap(
        BEYOND, (), "",
        "it is above what the wire carries: its bytes went elsewhere, or its time is not that of its bytes",
        "the wire's rate; daqiri, pull request 162",
    ),
    Trap(
        BELOW, (), "",
        "it is below the time that a signal takes on the way: the other end is not where it is said to be",
        "the wire's delay",
    ),
)  # fmt: skip
TRAPS = {trap.name: trap for trap in (*_IN_LOGS, *_OF_THE_WIRE)}


def traps_of(stated: Stated) -> tuple[str, ...]:
    """Return the names of the traps of a printed number, as far as its log tells."""
    return tuple(trap.name for trap in known_of(stated.program, stated.test, stated.column) if trap.when(stated))


@lru_cache(maxsize=1024)
def known_of(program: str, test: str, column: str) -> tuple[Trap, ...]:
    """Return the traps that numbers of a column may have."""
    return placed(program, test, column, _IN_LOGS)
