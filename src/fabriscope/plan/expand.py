"""From a plan to launches: which entries, which cases, in which order, and about how long it takes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import Launch
from fabriscope.plan.carriers import carriers
from fabriscope.plan.load import Plan
from fabriscope.plan.schema import BenchmarkSection, SocketSection

START_NS = 300_000_000
MPI_START_NS = 1_500_000_000
"""About how long a launch takes beside measuring: process start, connections, payload check."""
FLOOR_BUDGET_NS = 200_000_000
_BITS_PER_BYTE = 8
_WIRE_FACTOR = 1.07
"""Wire bytes per payload byte of a full TCP segment at MTU 1500: 1538 / 1448, rounded up."""
_OPERATIONS_PER_ROUND = 2
"""A burst is at least one warm-up operation and one measured."""


@dataclass(frozen=True)
class Schedule:
    """What a run will do, in order."""

    launches: tuple[Launch, ...]
    entries: tuple[Entry, ...]

    @property
    def cases(self) -> dict[str, Case]:
        """Return every case of the run by its id."""
        return {case.case_id: case for launch in self.launches for case in launch.cases}


def expand(plan: Plan, fabrics: Mapping[str, Fabric]) -> Schedule:
    """Return the schedule: every block launches every entry once, in its own seeded random order."""
    entries = tuple(_entries(plan))
    order = random.Random(plan.section.seed)  # noqa: S311 - an order of visits, no secret
    measured = [entry for entry in entries if entry.layer != "null"]
    launch_budget_ns = plan.section.budget // max(1, len(measured) * plan.section.launches)
    launches: list[Launch] = []
    for block in range(1, plan.section.launches + 1):
        for entry in order.sample(entries, len(entries)):
            cases = tuple(_cases(plan, entry, fabrics))
            seed = order.randrange(1 << 32)
            budget_ns = FLOOR_BUDGET_NS if entry.layer == "null" else launch_budget_ns
            launches.append(Launch(len(launches) + 1, block, entry, cases, seed, budget_ns))
    return Schedule(tuple(launches), entries)


def expected_ns(launch: Launch, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long a launch takes: its start, and its budget or the least that one round takes."""
    start_ns = MPI_START_NS if launch.entry.layer == "mpi" else START_NS
    return start_ns + max(launch.budget_ns, round_ns(launch, fabrics))


def round_ns(launch: Launch, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long the wire needs for one round over all cases; 0 where its rate is unknown."""
    rate = fabrics[launch.entry.fabric].line_rate_bits_per_s if launch.entry.fabric else None
    if not rate:
        return 0
    wire_bytes = sum(_bytes_per_operation(case) for case in launch.cases) * _WIRE_FACTOR
    return round(wire_bytes * _BITS_PER_BYTE * 1e9 / rate) * _OPERATIONS_PER_ROUND


def _bytes_per_operation(case: Case) -> int:
    if case.benchmark == "ping_pong":
        return 2 * case.message_size_bytes
    return case.message_size_bytes * case.window_size


def _entries(plan: Plan) -> Iterator[Entry]:
    section, hosts = plan.section, plan.hosts
    pair = hosts[:2]
    for placement, layer, instrument in itertools.product(section.placements, section.layers, section.instruments):
        ranks_on = pair if placement == "inter" else (hosts[0], hosts[0])
        if layer == "shm" and placement == "inter":
            continue
        for fabric, stack in carriers(section, placement, layer):
            yield Entry(layer, fabric, placement, ranks_on, stack, instrument)
    if section.floor and "engine" in section.instruments:
        yield Entry("null", None, "intra", (hosts[0], hosts[0]))


def _cases(plan: Plan, entry: Entry, fabrics: Mapping[str, Fabric]) -> Iterator[Case]:
    if entry.layer == "null":
        yield Case(entry, "empty", 0)
        yield Case(entry, "ping_pong", 1)
        return
    for name, benchmark in plan.section.benchmarks.items():
        has_sockets = entry.layer == "tcp" and entry.placement in benchmark.socket.placements
        sockets = list(_sockets(benchmark.socket, entry, fabrics)) if has_sockets else [SocketOptions()]
        windows = benchmark.window if name not in ("ping_pong", "empty") else (1,)
        for socket, window, size in itertools.product(sockets, windows, benchmark.sizes):
            if size == 0 and entry.layer == "tcp":
                continue
            labels = [socket.label() if len(sockets) > 1 else "", f"window {window}" if len(windows) > 1 else ""]
            series = ", ".join(label for label in labels if label)
            yield Case(entry, name, size, _cut_window(window, size, benchmark), series, socket)


def _cut_window(window: int, size: int, benchmark: BenchmarkSection) -> int:
    return max(1, min(window, benchmark.in_flight_limit // max(1, size)))


def _sockets(section: SocketSection, entry: Entry, fabrics: Mapping[str, Fabric]) -> Iterator[SocketOptions]:
    interface = None
    if section.bind_to_interface and entry.fabric is not None:
        interface = fabrics[entry.fabric].interfaces[entry.hosts[0]]
    for send, receive, nodelay, poll, control in itertools.product(
        section.send_buffer,
        section.receive_buffer,
        section.tcp_nodelay,
        section.busy_poll_us,
        section.congestion_control,
    ):
        yield SocketOptions(send, receive, nodelay, poll, control, interface)
