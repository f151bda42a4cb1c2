"""fabriscope's engine against perftest over RDMA, launch for launch on the same two guests of the lab.

    python -m benchmarks.against_perftest --driver rxe -o out.json      # from the checkout's root; at most 10 minutes

For each point (benchmark, size), in an order drawn anew in each round, both programs are launched once, one right after
the other, in a random order too: a launch is the replicate, and short, so that both meet the same machine. Rounds go on
while there is time. Medians of latencies are compared (`t_typical` is perftest's), and mean rates of windows with mean
rates of streams: the median over the rounds of their ratio. The exit status is 0 if the promise holds at every point
(latency at most 1.03 of perftest's, bandwidth at least 0.98), 1 if not, and 3 if the machine was busy before the start:
then the numbers are shown, and nothing is claimed.

Like with like: each guest has a core of its own, and the switch the receiver's; perftest makes its operations without a
pause, so ours makes all of a launch in one burst (in bursts of 3 ms, its default, few operations are left between two
meetings of the ranks in guests as slow as these); a window is never longer than the send queue that both have; balls
of a ping-pong come from a second buffer; and nothing is verified but in the first round, before it is timed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import secrets
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._peers_report import MOST_LOAD, load
from benchmarks._peers_values import LEAST_BANDWIDTH_RATIO, MOST_LATENCY_RATIO, OURS, median_interval

from fabriscope import engine_binary, lab
from fabriscope.adapters.base import Adapter, AdapterContext
from fabriscope.adapters.perftest import ASSUMED_NS_PER_BYTE, ASSUMED_START_NS, LEAST_ITERATIONS
from fabriscope.lab import guests
from fabriscope.lab.presets import PRESETS
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.registry import discover

HOSTS = ("node1", "node2")
PERFTEST = "perftest"
BUSY_STATUS = 3
SPARE_S = 60.0
"""What a launch may take beyond twice its budget: guests share cores."""
METRICS = {
    "ping_pong": "latency_ns_separate",
    "write_latency": "put_latency_ns",
    "bandwidth": "stream_bandwidth_bytes_per_s",
    "write_bandwidth": "put_stream_bandwidth_bytes_per_s",
}
"""What perftest states of each benchmark, and ours is set beside."""
WINDOW_BYTES = 16 << 20
"""Long enough for the answer at its end, a round trip, to cost 0.2 % of it."""
STREAM_NS_PER_BYTE = 16
"""What a byte takes of both programs' streams between two guests on two cores."""
QUEUE_DEPTH = 128
"""The default of both programs' send queues, messages."""
MANY_OPERATIONS = 1_000_000
PIN_SCRIPT = """
pin() {
  taskset -pc "$core" "$1" >/dev/null || [ ! -e "/proc/$1" ] || exit 1
  for child in $(cat /proc/"$1"/task/*/children); do pin "$child"; done
}
core=$2
pin "$(cat "$1")"
"""
"""Pins a process and those that it has begun (a guest's kernel runs its programs in such): those to come inherit it."""
DRIVERS = {"rxe": "roce", "siw": "iwarp"}
PORT_SCRIPT = """
for device in /sys/class/infiniband/*; do
  echo "${device##*/} $(grep -l 0000:0000:0000:0000:0000:ffff: "$device"/ports/1/gids/* 2>/dev/null | head -n 1)"
done
"""
RESENDS = ("completer_retry_err", "rcvd_rnr_err")
"""Counters of rdma_rxe that grow where a sender begins again: a timeout alone costs 67 ms of a launch."""


@dataclass(frozen=True)
class Reading:
    """What one program said of one point in one round; no value: it failed, and why."""

    round: int
    benchmark: str
    message_size_bytes: int
    program: str
    value: float | None
    reason: str | None
    resends: dict[str, int] = field(default_factory=dict)
    """By how much `RESENDS` grew in both guests together; those that did not are left out, as are unknown ones."""


@dataclass
class Place:
    """Two guests, the fabric between them, and what runs there."""

    hosts: dict[str, Host]
    fabric: Fabric
    engine: str
    programs: dict[str, str]
    adapters: dict[str, Adapter]
    launch_count: int = 0
    counted: dict[str, int] = field(default_factory=dict)
    """`RESENDS` of both guests together, after the last launch."""

    def measure(self, number: int, benchmark: str, size: int, program: str, budget_ns: int) -> Reading:
        """Launch one program once for one point, and count what was sent again meanwhile."""
        reading = self._launch(number, benchmark, size, program, budget_ns)
        before, self.counted = self.counted, self.resends()
        grown = {name: count - before.get(name, 0) for name, count in self.counted.items()}
        return dataclasses.replace(reading, resends={name: count for name, count in grown.items() if count})

    def resends(self) -> dict[str, int]:
        """Return `RESENDS` of both guests together; empty where the device has no such counters."""
        counts: dict[str, int] = {}
        for host in self.hosts.values():
            folder = f"/sys/class/infiniband/{self.fabric.rdma_ports[host.name].device}/ports/1/hw_counters"
            argv = [*host.access, "grep", "-s", ".", *(f"{folder}/{name}" for name in RESENDS)]
            said = subprocess.run(argv, capture_output=True, text=True, timeout=SPARE_S, check=False)
            for path, _, count in (line.partition(":") for line in said.stdout.splitlines()):
                name = path.rpartition("/")[2]
                counts[name] = counts.get(name, 0) + int(count)
        return counts

    def _launch(self, number: int, benchmark: str, size: int, program: str, budget_ns: int) -> Reading:
        instrument = "engine" if program == OURS else program
        entry = Entry("verbs", self.fabric.name, "inter", HOSTS, instrument=instrument)
        window = max(1, min(QUEUE_DEPTH, WINDOW_BYTES // size)) if _is_rate(benchmark) else 1
        buffers = (("buffers", "separate"),) if benchmark == "ping_pong" else ()
        case = Case(entry, benchmark, size, window, parameters=buffers)
        self.launch_count += 1
        launch = Launch(self.launch_count, number, entry, (case,), self.launch_count, budget_ns)
        context = AdapterContext(
            self.hosts,
            self.fabric,
            engine=self.engine,
            programs=self.programs,
            token=secrets.token_hex(16),
            burst_ns=budget_ns,
            max_burst_operations=MANY_OPERATIONS,
            verify=number == 1,
        )
        try:
            adapter = self.adapters[instrument]
            commands = adapter.commands(launch, context)
            outcomes = processes.run_commands(commands, self.hosts, timeout_s=2 * budget_ns / 1e9 + SPARE_S)
            parsed = adapter.parse(launch, outcomes)
        except FabriscopeError as error:
            return Reading(number, benchmark, size, program, None, str(error))
        value = our_value(case, parsed.blocks) if program == OURS else None
        if program != OURS:
            value = next((float(one.values[0]) for one in parsed.blocks if one.quantity == METRICS[benchmark]), None)
        return Reading(number, benchmark, size, program, value, parsed.results[0].reason)


def our_value(case: Case, blocks: Sequence[SampleBlock]) -> float | None:
    """Return our median half of a round trip in ns, or our mean rate in bytes per second; None without samples."""
    pairs = [
        (float(value), block.operations_per_sample)
        for block in blocks
        if block.phase == "measure"
        for value in block.values
    ]
    if not pairs:
        return None
    if not _is_rate(case.benchmark):
        return statistics.median(value / count for value, count in pairs) / 2
    operation_count = sum(count for _, count in pairs)
    return case.message_size_bytes * case.window_size * 1e9 * operation_count / sum(value for value, _ in pairs)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    wanted = _arguments(argv)
    load_before = load()
    try:
        built = lab.up(
            LabSpec(HOSTS, {wanted.preset: PRESETS[wanted.preset]}, guests=HOSTS, rdma={wanted.preset: wanted.driver})
        )
        try:
            _pin(built)
            readings = _measure(_place(built, wanted), wanted)
        finally:
            built.down()
    except FabriscopeError as error:
        print(f"against_perftest: {error}", file=sys.stderr)
        return error.exit_code
    rounds = max((one.round for one in readings), default=0)
    print(f"two guests, {wanted.driver}, {wanted.preset}, {rounds} rounds, load before {load_before:.2f}")
    holds = _print_rows(readings)
    if wanted.output:
        said = {"arguments": vars(wanted), "load_before": load_before}
        said["readings"] = [dataclasses.asdict(one) for one in readings]
        Path(wanted.output).write_text(json.dumps(said, indent=1) + "\n")
    if load_before > MOST_LOAD:
        print(f"the load was {load_before:.2f} before the start: this shows nothing")
        return BUSY_STATUS
    return 0 if holds else 1


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--preset", default="gige", choices=sorted(PRESETS), help="the switch between the guests (gige)"
    )
    parser.add_argument("--driver", default="rxe", choices=sorted(DRIVERS), help="Soft RoCE or software iWARP (rxe)")
    parser.add_argument("--latency-sizes", default="8,64,1024,4096", help="bytes (default 8,64,1024,4096)")
    parser.add_argument("--bandwidth-sizes", default="65536,1048576", help="bytes (default 65536,1048576)")
    parser.add_argument("--rounds", type=int, default=60, help="launches of each program at each point (60 at most)")
    parser.add_argument("--minutes", type=float, default=9.0, help="no round begins that would end later (default 9)")
    parser.add_argument("--seconds", type=float, default=0.6, help="measuring time of a launch (default 0.6)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default 1)")
    parser.add_argument("-o", "--output", help="write every reading as JSON")
    return parser.parse_args(argv)


def _pin(built: lab.Lab) -> None:
    """Give each guest a core of its own, and the switch that of the receiver.

    Left alone, guests move, and a launch shows whether they shared one; and a switch that stays on the sender's core
    interrupts it for each frame, which makes a stream three times slower. Raises FabriscopeError.
    """
    cores = sorted(os.sched_getaffinity(0))
    of_each = {name: cores[index % len(cores)] for index, name in enumerate(HOSTS)}
    paths = {name: guests.pid_file(built.state.folder, name) for name in HOSTS} | {"switch": built.switch_pid_file}
    for name, path in paths.items():
        core = of_each.get(name, of_each[HOSTS[-1]])
        argv = [*built.keeper_words, "sh", "-c", PIN_SCRIPT, "sh", str(path), str(core)]
        said = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        if said.returncode:
            raise FabriscopeError(f"{name} cannot be pinned to core {core}: {said.stderr.strip()}")


def _place(built: lab.Lab, wanted: argparse.Namespace) -> Place:
    hosts = {host.name: host for host in built.hosts}
    ports = {name: _port(host, wanted.driver) for name, host in hosts.items()}
    interfaces = dict.fromkeys(HOSTS, "eth0")
    fabric = Fabric(wanted.preset, interfaces, transport=DRIVERS[wanted.driver], rdma_ports=ports)
    names = ("ib_send_lat", "ib_write_lat", "ib_send_bw", "ib_write_bw")
    programs = {name: path for name in names if (path := shutil.which(name)) is not None}
    room = discover("adapters", "ADAPTER")
    adapters = {name: room.get(name) for name in ("engine", PERFTEST)}
    return Place(hosts, fabric, str(engine_binary.find_engine()), programs, adapters)


def _port(host: Host, driver: str) -> RdmaPort:
    """Return the guest's RDMA port with its IPv4 GID; raises FabriscopeError where there is none."""
    argv = [*host.access, "sh", "-c", PORT_SCRIPT]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    words = said.stdout.split()
    if not words or (driver == "rxe" and len(words) < 2):
        raise FabriscopeError(f"{host.name} has no RDMA port with an IPv4 address: {said.stdout} {said.stderr}")
    return RdmaPort(words[0], gid_index=int(words[1].rpartition("/")[2]) if driver == "rxe" else None)


def _measure(place: Place, wanted: argparse.Namespace) -> list[Reading]:
    order = random.Random(wanted.seed)  # noqa: S311 - an order, no secret
    points = [(one, int(size)) for one in ("ping_pong", "write_latency") for size in wanted.latency_sizes.split(",")]
    points += [
        (one, int(size)) for one in ("bandwidth", "write_bandwidth") for size in wanted.bandwidth_sizes.split(",")
    ]
    readings: list[Reading] = []
    place.counted = place.resends()
    began = time.monotonic()
    for number in range(1, wanted.rounds + 1):
        round_began = time.monotonic()
        for benchmark, size in order.sample(points, len(points)):
            budgets_ns = _budgets_ns(benchmark, size, round(wanted.seconds * 1e9))
            for program in order.sample([OURS, PERFTEST], 2):
                readings.append(place.measure(number, benchmark, size, program, budgets_ns[program]))
        now = time.monotonic()
        print(f"round {number}: {now - round_began:.0f} s, load {load():.2f}", file=sys.stderr, flush=True)
        if now - began + (now - round_began) > 60 * wanted.minutes:
            break
    return readings


def _budgets_ns(benchmark: str, size: int, wanted_ns: int) -> dict[str, int]:
    """Return the measuring time of each program's launch: ours is given at least as long as perftest's need.

    Of a stream perftest chooses them for a faster link than one of software (at 1 MiB 100, which take four seconds).
    """
    message_ns = ASSUMED_START_NS + ASSUMED_NS_PER_BYTE * size
    theirs_ns = max(wanted_ns, LEAST_ITERATIONS * message_ns)
    ours_ns = theirs_ns // message_ns * size * STREAM_NS_PER_BYTE if _is_rate(benchmark) else theirs_ns
    return {PERFTEST: theirs_ns, OURS: ours_ns}


def _is_rate(benchmark: str) -> bool:
    return benchmark.endswith("bandwidth")


def resends_per_launch(readings: Sequence[Reading], point: tuple[str, int], program: str) -> float:
    """Return how often a sender began again in a launch of this program at this point, the mean of its launches."""
    mine = [one for one in readings if (one.benchmark, one.message_size_bytes, one.program) == (*point, program)]
    return sum(sum(one.resends.values()) for one in mine) / len(mine)


def _print_rows(readings: Sequence[Reading]) -> bool:
    """Print a line for each point; return whether the promise holds at all of them."""
    known = {(one.benchmark, one.message_size_bytes, one.program, one.round): one.value for one in readings}
    all_hold = True
    what = "median ratio of launches side by side, its 95 % interval; ratio of the medians; resends in a launch of each"
    print(f"{'benchmark':<16}{'bytes':>9}{'ours':>12}{'perftest':>12}  {what}")
    for benchmark, size in sorted({(one.benchmark, one.message_size_bytes) for one in readings}):
        pairs = [
            (ours, theirs)
            for number in sorted({one.round for one in readings})
            if (ours := known.get((benchmark, size, OURS, number))) is not None
            and (theirs := known.get((benchmark, size, PERFTEST, number))) is not None
        ]
        if not pairs:
            reasons = {
                f"{one.program}: {one.reason}"
                for one in readings
                if (one.benchmark, one.message_size_bytes) == (benchmark, size) and one.value is None
            }
            print(f"{benchmark:<16}{size:>9}  no round has both: {'; '.join(sorted(reasons))}")
            all_hold = False
            continue
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratios = [mine / other for mine, other in pairs]
        ratio, (low, high) = statistics.median(ratios), median_interval(ratios)
        is_rate = _is_rate(benchmark)
        holds = ratio >= LEAST_BANDWIDTH_RATIO if is_rate else ratio <= MOST_LATENCY_RATIO
        all_hold = all_hold and holds
        resends = " and ".join(
            f"{resends_per_launch(readings, (benchmark, size), one):.1f}" for one in (OURS, PERFTEST)
        )
        unit, scale = ("MB/s", 1e6) if is_rate else ("us", 1e3)
        print(
            f"{benchmark:<16}{size:>9}{ours / scale:>7.1f} {unit:<4}{theirs / scale:>7.1f} {unit:<4}"
            f"  {ratio:.3f} ({low:.3f} to {high:.3f}, {len(pairs)} rounds); medians {ours / theirs:.3f}; {resends}"
            f"{'' if holds else '  not shown'}"
        )
    return all_hold


if __name__ == "__main__":
    sys.exit(main())
