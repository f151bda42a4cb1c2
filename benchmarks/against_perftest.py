"""fabriscope's engine against perftest over RDMA, launch for launch on the same two guests of the lab.

    python -m benchmarks.against_perftest --driver rxe -o out.json      # from the checkout's root

For each point (benchmark, size), in an order drawn anew in each round, both programs are launched once, in a random
order too: a launch is the replicate. Medians of latencies are compared (`t_typical` is perftest's), and mean rates of
windows with mean rates of streams. The exit status is 0 if the promise holds at every point (latency at most 1.03 of
perftest's, bandwidth at least 0.98), 1 if not, and 3 if the machine was busy before the start: then the numbers are
shown, and nothing is claimed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import secrets
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._peers_report import MOST_LOAD, load
from benchmarks._peers_values import LEAST_BANDWIDTH_RATIO, MOST_LATENCY_RATIO, OURS, ratio_interval

from fabriscope import engine_binary, lab
from fabriscope.adapters.base import Adapter, AdapterContext
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
    "ping_pong": "latency_ns",
    "write_latency": "put_latency_ns",
    "bandwidth": "stream_bandwidth_bytes_per_s",
    "write_bandwidth": "put_stream_bandwidth_bytes_per_s",
}
"""What perftest states of each benchmark, and ours is set beside."""
WINDOW_BYTES = 8 << 20
DRIVERS = {"rxe": "roce", "siw": "iwarp"}
PORT_SCRIPT = """
for device in /sys/class/infiniband/*; do
  echo "${device##*/} $(grep -l 0000:0000:0000:0000:0000:ffff: "$device"/ports/1/gids/* 2>/dev/null | head -n 1)"
done
"""


@dataclass(frozen=True)
class Reading:
    """What one program said of one point in one round; no value: it failed, and why."""

    round: int
    benchmark: str
    message_size_bytes: int
    program: str
    value: float | None
    reason: str | None


@dataclass
class Place:
    """Two guests, the fabric between them, and what runs there."""

    hosts: dict[str, Host]
    fabric: Fabric
    engine: str
    programs: dict[str, str]
    adapters: dict[str, Adapter]
    launch_count: int = 0

    def measure(self, number: int, benchmark: str, size: int, program: str, budget_ns: int) -> Reading:
        """Launch one program once for one point."""
        instrument = "engine" if program == OURS else program
        entry = Entry("verbs", self.fabric.name, "inter", HOSTS, instrument=instrument)
        window = max(1, min(64, WINDOW_BYTES // size)) if benchmark.endswith("bandwidth") else 1
        case = Case(entry, benchmark, size, window)
        self.launch_count += 1
        launch = Launch(self.launch_count, number, entry, (case,), self.launch_count, budget_ns)
        token = secrets.token_hex(16)
        context = AdapterContext(self.hosts, self.fabric, engine=self.engine, programs=self.programs, token=token)
        try:
            adapter = self.adapters[instrument]
            commands = adapter.commands(launch, context)
            outcomes = processes.run_commands(commands, self.hosts, timeout_s=2 * budget_ns / 1e9 + SPARE_S)
            parsed = adapter.parse(launch, outcomes)
        except FabriscopeError as error:
            return Reading(number, benchmark, size, program, None, str(error))
        metric_id = METRICS[benchmark]
        value = our_value(case, parsed.blocks) if program == OURS else None
        if program != OURS:
            value = next((float(one.values[0]) for one in parsed.blocks if one.quantity == metric_id), None)
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
    if not case.benchmark.endswith("bandwidth"):
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
            readings = _measure(_place(built, wanted), wanted)
        finally:
            built.down()
    except FabriscopeError as error:
        print(f"against_perftest: {error}", file=sys.stderr)
        return error.exit_code
    print(f"two guests, {wanted.driver}, {wanted.preset}, {wanted.rounds} rounds, load before {load_before:.2f}")
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
    parser.add_argument("--rounds", type=int, default=7, help="launches of each program at each point (default 7)")
    parser.add_argument("--seconds", type=float, default=1.0, help="measuring time of a launch (default 1)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default 1)")
    parser.add_argument("-o", "--output", help="write every reading as JSON")
    return parser.parse_args(argv)


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
    for number in range(1, wanted.rounds + 1):
        for benchmark, size in order.sample(points, len(points)):
            for program in order.sample([OURS, PERFTEST], 2):
                readings.append(place.measure(number, benchmark, size, program, round(wanted.seconds * 1e9)))
        print(f"round {number} of {wanted.rounds} is done, load {load():.2f}", file=sys.stderr, flush=True)
    return readings


def _print_rows(readings: Sequence[Reading]) -> bool:
    """Print a line for each point; return whether the promise holds at all of them."""
    known = {(one.benchmark, one.message_size_bytes, one.program, one.round): one.value for one in readings}
    all_hold = True
    print(f"{'benchmark':<16}{'bytes':>9}{'ours':>12}{'perftest':>12}  ratio of medians, 95 % interval over rounds")
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
        low, high = ratio_interval([mine / other for mine, other in pairs])
        ratio = ours / theirs
        is_rate = benchmark.endswith("bandwidth")
        holds = ratio >= LEAST_BANDWIDTH_RATIO if is_rate else ratio <= MOST_LATENCY_RATIO
        all_hold = all_hold and holds
        unit, scale = ("MB/s", 1e6) if is_rate else ("us", 1e3)
        print(
            f"{benchmark:<16}{size:>9}{ours / scale:>7.1f} {unit:<4}{theirs / scale:>7.1f} {unit:<4}"
            f"  {ratio:.3f} ({low:.3f} to {high:.3f}, {len(pairs)} rounds){'' if holds else '  not shown'}"
        )
    return all_hold


if __name__ == "__main__":
    sys.exit(main())
