"""About how long a launch takes, before it has run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath

from fabriscope.model.applications import HPL, INSTRUMENTS, KERNELS, hpl_operations, nas_problem
from fabriscope.model.benchmark_kind import APPLICATION, BESIDE, OF_STREAMS, SERVICE
from fabriscope.model.benchmarks import DEFAULTS, kind_of
from fabriscope.model.case import Case
from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import layer_of
from fabriscope.model.measurement import Launch
from fabriscope.model.stream_programs import STREAM_PROGRAMS

START_NS = 300_000_000
MPI_START_NS = 1_500_000_000
"""About how long a launch of two ranks takes beside measuring: process start, connections, payload check."""
AROUND_NS = 300_000_000
"""About what lies around that: the collectors of counters start and end, and what came of the launch is stored."""
RANK_START_NS = 250_000_000
"""About what each further rank adds where ranks share few cores, as in a lab: its start, and its clock's comparison."""
GUEST_START_NS = 4_000_000_000
"""About what a launch in guests takes longer: processes start slowly there, the readers of counters among them."""
JOB_NS = 2_000_000_000
"""About what a job of map tasks takes beside moving data."""
OPERATIONS_PER_S = 2000
"""About how many operations of a service a second, on hosts that share few cores."""
LOADING = "hbase_load"
"""What tells of the load, which is made once, whatever is run on it."""
HPL_PER_RANK = 4e9
"""About how many operations a second HPL does on a core."""
HPL_BYTES = 8.0
"""About how many bytes two hosts send each other for each element of the matrix."""
HPCC_BYTES = 1.5e9
"""About what hpcc sends beside HPL, whatever the order."""
_BITS_PER_BYTE = 8
_WIRE_FACTOR = 1.07
"""Wire bytes per payload byte of a full TCP segment at MTU 1500: 1538 / 1448, rounded up."""
CASE_NS = 4_000_000
"""What a case takes of the first round at least: its payload's check, a probe and a burst."""
BESIDE_NS = 300_000_000
"""About what a case of a victim takes of a round: a probe and a burst, each with an incast under way and ended."""
DELAYS_TO_START, MPI_DELAYS_TO_START, DELAYS_OF_CASE = 4, 24, 10
"""How often a link's delay passes until two ranks are connected, and in the first round of a case: with a delay of 1 s
one case took 14.3 s over TCP, four took 44.4 s; over Open MPI one took 37.4 s, three took 62.7 s."""
STREAM_END_MS = 100
"""About what is still on its way when the streams of many to one end."""
ROUNDS_TO_TELL = 4
"""And turns, where launches have these: the ratio of neighbouring turns is taken of three that differ."""
_OPERATIONS_PER_ROUND = 2
"""A burst is at least one warm-up operation and one measured."""
_FIRST_OPERATIONS = 5
"""Of each case in the first round at least: one checks its payload, two are a probe, and a burst."""


def expected_ns(launch: Launch, fabrics: Mapping[str, Fabric], guests: Collection[str] = ()) -> int:
    """Return about how long a launch takes: its start, its budget or what its first round takes, and what lies around.

    `guests` are the hosts that have a kernel of their own.
    """
    return AROUND_NS + _ns(launch, fabrics, guests, _FIRST_OPERATIONS)


def reckoned_ns(launch: Launch, fabrics: Mapping[str, Fabric], guests: Collection[str] = ()) -> int:
    """Return the least that a launch is reckoned with: its start, and its budget or one round without probes.

    Tunings choose by it what fits their budget: one that goes on comes to the same design.
    """
    return _ns(launch, fabrics, guests, _OPERATIONS_PER_ROUND)


def _ns(launch: Launch, fabrics: Mapping[str, Fabric], guests: Collection[str], operations: int) -> int:
    entry = launch.entry
    if layer_of(entry.layer).start_ns:
        running_ns = sum(_service_ns(case, fabrics) for case in launch.cases)
        return layer_of(entry.layer).start_ns + _loading_ns(launch.cases) + running_ns
    if entry.instrument in INSTRUMENTS:
        of_runs = (_application_ns(case, fabrics) for case in launch.cases)
        return start_ns(entry.layer, len(entry.hosts)) * len(launch.cases) + sum(of_runs)
    slow_start_ns = 0 if set(guests).isdisjoint(entry.hosts) else GUEST_START_NS
    delays = MPI_DELAYS_TO_START if entry.layer == "mpi" else DELAYS_TO_START
    slow_start_ns += delays * delay_ns(launch, fabrics)
    measuring_ns = max(launch.budget_ns, _round_ns(launch, fabrics, operations))
    return start_ns(entry.layer, len(entry.hosts)) + slow_start_ns + measuring_ns


def around_ns(launch: Launch, fabrics: Mapping[str, Fabric], guests: Collection[str] = ()) -> int:
    """Return about how long a launch takes beside measuring: its start, and what lies around."""
    still = replace(launch, cases=launch.cases if layer_of(launch.entry.layer).start_ns else (), budget_ns=0)
    if launch.entry.instrument in INSTRUMENTS:
        return AROUND_NS + start_ns(launch.entry.layer, len(launch.entry.hosts)) * len(launch.cases)
    return expected_ns(still, fabrics, guests) - sum(timed_ns(case, fabrics) for case in still.cases)


def timed_ns(case: Case, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long a case takes in a launch, whatever the budget: streams, applications, services; else 0."""
    pattern = kind_of(case.benchmark).pattern
    of_pattern = {APPLICATION: _application_ns, SERVICE: _service_ns}
    return of_pattern[pattern](case, fabrics) if pattern in of_pattern else _sending_ns(case)


def delay_ns(launch: Launch, fabrics: Mapping[str, Fabric]) -> int:
    """Return the delay of a link of the lab from host to host; 0 where it is not known."""
    fabric = fabrics[launch.entry.fabric] if launch.entry.fabric else None
    return int(fabric.settings.get("delay_ns", "0")) if fabric is not None else 0


def _service_ns(case: Case, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long all runs of a case take: a job's start and end, and its files over the client's link."""
    told = case.parameter_map
    if "operations" in told:
        rate_per_s = min(int(told["target"]) or OPERATIONS_PER_S, OPERATIONS_PER_S)
        runs = 0 if case.benchmark == LOADING else 1 + int(told["runs"])
        return round(int(told["operations"]) * 1e9 / rate_per_s * runs)
    rate = fabrics[case.entry.fabric].line_rate_bits_per_s if case.entry.fabric else None
    sent_bytes = int(told.get("files", "1")) * case.message_size_bytes * _WIRE_FACTOR
    sent_ns = sent_bytes * _BITS_PER_BYTE * 1e9 / rate if rate else 0
    return round((JOB_NS + sent_ns) * (1 + int(told.get("runs", "1"))))


def _loading_ns(cases: Iterable[Case]) -> int:
    """Return about how long it takes to load the records of a service: each size of them once, whatever asks for it."""
    records = {case.message_size_bytes: int(case.parameter_map.get("records", "0")) for case in cases}
    return round(sum(records.values()) * 1e9 / OPERATIONS_PER_S)


def _application_ns(case: Case, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long a run of an application takes: no more than its time limit, at which it is ended."""
    return round(min(application_s(case, fabrics), float(case.parameter_map["time_limit_s"])) * 1e9)


def application_s(case: Case, fabrics: Mapping[str, Fabric]) -> float:
    """Return about how many seconds an application runs to its end: computing, and what it sends over its wire.

    HPL without a named program is reckoned as hpcc's.
    """
    told, ranks = case.parameter_map, len(case.entry.hosts)
    if case.entry.instrument == HPL:
        operations, sent_bytes = hpl_operations(int(told["n"])), HPL_BYTES * int(told["n"]) ** 2
        sent_bytes += 0 if PurePosixPath(told.get("program", "")).name.startswith("xhpl") else HPCC_BYTES
        computing_s = operations / (ranks * HPL_PER_RANK)
    else:
        name, problem_class = nas_problem(case.benchmark)
        operations = KERNELS[name].operations(problem_class) * int(told.get("repeats", "1"))
        computing_s = operations / (ranks * KERNELS[name].per_rank * 1e6)
        sent_bytes = operations * KERNELS[name].sent_bytes
    rate = fabrics[case.entry.fabric].line_rate_bits_per_s if case.entry.fabric else None
    sending_s = sent_bytes * _WIRE_FACTOR * _BITS_PER_BYTE / rate if rate else 0.0
    return computing_s + sending_s


def told_ns(launch: Launch, fabrics: Mapping[str, Fabric], turn_ns: int | None) -> int:
    """Return about how long a launch measures at least to tell the noise inside it: every case in ROUNDS_TO_TELL.

    Small cases take a burst each, however long the wire needs for large ones.
    """
    operations = (_FIRST_OPERATIONS, *[_OPERATIONS_PER_ROUND] * (ROUNDS_TO_TELL - 1))
    alone = [replace(launch, cases=(case,)) for case in launch.cases]
    rounds_ns = sum(_round_ns(one, fabrics, count) for one in alone for count in operations)
    return max(rounds_ns, ROUNDS_TO_TELL * (turn_ns or 0))


def expected_by_launch(
    launches: Iterable[Launch], fabrics: Mapping[str, Fabric], guests: Collection[str] = ()
) -> dict[int, int]:
    """Return `expected_ns` of every launch by its id; of an entry that is launched often it is worked out once."""
    known: dict[tuple[int, int], int] = {}
    found = {}
    for launch in launches:
        key = (id(launch.cases), launch.budget_ns)
        if key not in known:
            known[key] = expected_ns(launch, fabrics, guests)
        found[launch.launch_id] = known[key]
    return found


def start_ns(layer: str, rank_count: int) -> int:
    """Return about how long it takes to start the ranks of a layer."""
    return (MPI_START_NS if layer == "mpi" else START_NS) + RANK_START_NS * (rank_count - 2)


def _round_ns(launch: Launch, fabrics: Mapping[str, Fabric], operations: int) -> int:
    """Return about how long a round over all cases takes: bursts, or the wire's time for some operations of each."""
    bursts_ns = (CASE_NS + DELAYS_OF_CASE * delay_ns(launch, fabrics)) * len(launch.cases)
    bursts_ns += sum(map(_sending_ns, launch.cases))
    return max(bursts_ns, _wire_ns(launch.cases, fabrics, operations))


def least_ns(case: Case, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long a case takes at least, which is once: a burst, or what the wire needs.

    0 for what takes the time that the plan names, whatever the budget: streams, applications and services.
    """
    is_timed = kind_of(case.benchmark).pattern in (*OF_STREAMS, BESIDE, APPLICATION, SERVICE)
    return 0 if is_timed else max(CASE_NS, _wire_ns((case,), fabrics, _OPERATIONS_PER_ROUND))


def _wire_ns(of_entry: Sequence[Case], fabrics: Mapping[str, Fabric], operations: int) -> int:
    """Return what the wire needs for some operations of each of an entry's cases; 0 where its rate is not known."""
    fabric = of_entry[0].entry.fabric if of_entry else None
    rate = fabrics[fabric].line_rate_bits_per_s if fabric else None
    wire_bytes = sum(map(bytes_of_operation, of_entry)) * _WIRE_FACTOR
    return round(wire_bytes * _BITS_PER_BYTE * 1e9 / rate) * operations if rate else 0


def _sending_ns(case: Case) -> int:
    """Return how long the streams of a case take in one round: once for warm-up, once measured; of others all of it."""
    pattern = kind_of(case.benchmark).pattern
    if pattern not in OF_STREAMS:
        return BESIDE_NS if pattern == BESIDE else 0
    if (program := STREAM_PROGRAMS.get(case.entry.instrument)) is not None:
        return round(program.case_s(case.parameter_map) * 1e9)
    duration_ms = int(case.parameter_map.get("duration_ms", DEFAULTS["duration_ms"]))
    return _OPERATIONS_PER_ROUND * (duration_ms + STREAM_END_MS) * 1_000_000


def bytes_of_operation(case: Case) -> int:
    """Return about how many bytes pass the busiest host's port one after the other in one operation.

    For collectives that is what a common algorithm needs (trees for broadcast and reduction, every block to its owner
    otherwise): the right order of magnitude for an estimate of time, no bound.
    """
    ranks, size = len(case.entry.hosts), case.message_size_bytes
    steps = math.ceil(math.log2(ranks))
    per_host = _ranks_per_host(case.entry.hosts)
    factors = {
        "ping_pong": 2,
        "multi_pair_latency": 2 * (ranks // 2),
        "message_rate": (ranks // 2) * case.window_size,
        **dict.fromkeys(("incast", "one_to_many"), (ranks - 1) * case.window_size),
        "sendrecv": per_host,
        "exchange": 2 * per_host,
        "barrier": 0,
        **dict.fromkeys(("bcast", "reduce", "reduce_scatter"), steps),
        "allreduce": 2 * steps,
        **dict.fromkeys(("gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv"), ranks),
        **dict.fromkeys(("alltoall", "alltoallv"), per_host * ranks),
    }
    name = case.benchmark if case.benchmark in factors else case.benchmark.removeprefix("i")
    return factors.get(name, case.window_size) * size


@lru_cache(maxsize=8)
def _ranks_per_host(hosts: tuple[str, ...]) -> int:
    return max(Counter(hosts).values())
