"""Many to one over Soft RoCE and TCP, through a switch that drops and one that pauses: goodput, losses, retries.

    python -m campaigns.congestion -o congestion.json --picture docs/images/congestion    # in the checkout

One guest asks 1 to 4 others for a block each, again and again (the engine's `incast`), over two fabrics that differ in
`on_full` alone. Every launch is a replicate; each round launches every point once, in an order drawn anew. Before and
after each launch the guests' hardware counters of RDMA and their TCP counters are read, and the switch's own. The exit
status is 3 if the machine was busy before the start: then the shapes are shown, and no number is claimed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import re
import secrets
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._peers_report import MOST_LOAD, load
from campaigns.congestion import figure

from fabriscope import engine_binary, lab
from fabriscope.adapters.base import Adapter, AdapterContext
from fabriscope.lab.presets import PRESETS
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.metrics import metric_value
from fabriscope.model.units import parse_rate_bits_per_s, parse_size_bytes
from fabriscope.registry import discover
from fabriscope.running import rdma_ports

BUSY_STATUS = 3
SPARE_S = 60.0
"""What a launch may take beyond twice its budget: guests share cores, and lost blocks wait for timers."""
MODES = ("drop", "pause")
LAYERS = ("verbs", "tcp")
SWITCH_COUNTERS = ("dropped_frames", "dropped_bytes", "pauses", "paused_ns", "maximum_queue_bytes")
READ_COUNTERS = "cat /proc/net/snmp /proc/net/netstat; grep -H . /sys/class/infiniband/*/ports/1/hw_counters/*"
HW_COUNTER = re.compile(r"/sys/class/infiniband/(\w+)/ports/1/hw_counters/(\w+):(\d+)")
PROTOCOLS = ("Tcp:", "TcpExt:")


@dataclass(frozen=True)
class Reading:
    """What one launch brought."""

    round: int
    mode: str
    layer: str
    sender_count: int
    round_ns: tuple[float, ...] = ()
    """How long each measured round of questions and answers took."""
    goodput_bytes_per_s: float | None = None
    receiver: Mapping[str, int] = field(default_factory=dict)
    """By how much the counters of the guest that asks grew over the launch, those that grew."""
    senders: Mapping[str, int] = field(default_factory=dict)
    """Likewise of all others together."""
    switch: Mapping[str, int] = field(default_factory=dict)
    """Of the port to the guest that asks; `pauses` and `paused_ns` of all ports together."""
    reason: str | None = None
    """Why there is no goodput."""


@dataclass
class Place:
    """The guests, the two fabrics between them, and what runs there."""

    built: lab.Lab
    hosts: dict[str, Host]
    fabrics: dict[str, Fabric]
    engine: str
    adapter: Adapter
    block_bytes: int
    budget_ns: int
    ack_timeout: int
    launch_count: int = 0

    def measure(self, number: int, mode: str, layer: str, sender_count: int) -> Reading:
        """Launch one point once."""
        names = tuple(self.hosts)[: sender_count + 1]
        entry = Entry(layer, mode, "inter", names)
        # A guest that polls would take from the others the processor that they share.
        asleep = (("completion", "event"), ("ack_timeout", str(self.ack_timeout))) if layer == "verbs" else ()
        case = Case(entry, "incast", self.block_bytes, parameters=asleep)
        self.launch_count += 1
        launch = Launch(self.launch_count, number, entry, (case,), self.launch_count, self.budget_ns)
        context = AdapterContext(self.hosts, self.fabrics[mode], engine=self.engine, token=secrets.token_hex(16))
        before = self._counters(names)
        self.built.ask_switch("reset")
        try:
            commands = self.adapter.commands(launch, context)
            outcomes = processes.run_commands(commands, self.hosts, timeout_s=2 * self.budget_ns / 1e9 + SPARE_S)
            parsed = self.adapter.parse(launch, outcomes)
        except FabriscopeError as error:
            return Reading(number, mode, layer, sender_count, reason=str(error))
        ports = [port for port in self.built.counters()["ports"] if port["fabric"] == mode]
        after = self._counters(names)
        grown = [_grown(after[name], before[name], self.fabrics[mode]) for name in names]
        round_ns = tuple(_rounds(parsed.blocks))
        value = (
            metric_value("goodput_bytes_per_s", statistics.fmean(round_ns), self.block_bytes, 1, 1, sender_count)
            if round_ns
            else None
        )
        return Reading(
            number, mode, layer, sender_count, round_ns, value, grown[0], _sum(grown[1:]),
            _switch_counters(ports, names[0]), parsed.results[0].reason,
        )  # fmt: skip

    def _counters(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        with ThreadPoolExecutor(len(names)) as pool:
            return dict(zip(names, pool.map(self._read, names), strict=True))

    def _read(self, name: str) -> dict[str, int]:
        argv = [*self.hosts[name].access, "sh", "-c", READ_COUNTERS]
        said = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
        return counters_in(said.stdout)


def counters_in(text: str) -> dict[str, int]:
    """Return what READ_COUNTERS tells: `rxe0.sent_pkts`, `Tcp.RetransSegs` ..."""
    found = {f"{device}.{name}": int(value) for device, name, value in HW_COUNTER.findall(text)}
    lines = [line.split() for line in text.splitlines() if line.startswith(PROTOCOLS)]
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        pairs = zip(names[1:], values[1:], strict=True)
        found |= {f"{names[0][:-1]}.{name}": int(value) for name, value in pairs}
    return found


def _rounds(blocks: Sequence[SampleBlock]) -> list[float]:
    return [
        float(value) / block.operations_per_sample
        for block in blocks
        if block.phase == "measure" and block.quantity == "operation_ns"
        for value in block.values
    ]


def _grown(after: Mapping[str, int], before: Mapping[str, int], fabric: Fabric) -> dict[str, int]:
    """Return what grew, of the fabric's own device and of TCP."""
    devices = {port.device for port in fabric.rdma_ports.values()}
    found = {}
    for name, value in after.items():
        head, _, tail = name.partition(".")
        if value != before.get(name, 0) and (head in devices or head in ("Tcp", "TcpExt")):
            found[tail if head in devices else name] = value - before.get(name, 0)
    return found


def _sum(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = sorted({name for part in parts for name in part})
    return {name: sum(part.get(name, 0) for part in parts) for name in names}


def _switch_counters(ports: Sequence[Mapping[str, Any]], receiver: str) -> dict[str, int]:
    (own,) = [port for port in ports if port["host"] == receiver]
    found = {name: int(own[name]) for name in SWITCH_COUNTERS} | {"delivered_frames": int(own["down"]["frames"])}
    return found | {name: sum(int(port[name]) for port in ports) for name in ("pauses", "paused_ns")}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, draw, and return the exit status."""
    wanted = _arguments(argv)
    if wanted.read:
        said = json.loads(Path(wanted.read).read_text())
    else:
        load_before = load()
        try:
            measured = _in_a_lab(wanted)
        except FabriscopeError as error:
            print(f"congestion: {error}", file=sys.stderr)
            return error.exit_code
        said = {"arguments": vars(wanted), "load_before": load_before}
        said["readings"] = [dataclasses.asdict(one) for one in measured]
    if wanted.output:
        Path(wanted.output).write_text(json.dumps(said, indent=1) + "\n")
    print(_table([Reading(**one) for one in said["readings"]]))
    if wanted.picture:
        figure.write(said, Path(wanted.picture))
    if said["load_before"] > MOST_LOAD:
        print(f"the load was {said['load_before']:.2f} before the start: take the shapes, and none of the numbers")
        return BUSY_STATUS
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rate", type=parse_rate_bits_per_s, default="100Mb/s", help="of every port (100Mb/s)")
    parser.add_argument("--buffer", type=parse_size_bytes, default="32KiB", help="of every port (32KiB)")
    parser.add_argument("--block", type=parse_size_bytes, default="64KiB", help="what a sender answers (64KiB)")
    parser.add_argument("--ack-timeout", type=int, default=14, help="RoCE's timer, 4.096 us times 2^n (14, 67 ms)")
    parser.add_argument("--senders", type=int, default=4, help="the most senders (4)")
    parser.add_argument("--rounds", type=int, default=7, help="launches of each point (7)")
    parser.add_argument("--seconds", type=float, default=3.0, help="measuring time of a launch (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (1)")
    parser.add_argument("-o", "--output", help="write every reading as JSON")
    parser.add_argument("--read", metavar="FILE", help="measure nothing: print and draw what --output wrote")
    parser.add_argument("--picture", help="draw, into this file name with .png and .svg")
    return parser.parse_args(argv)


def _in_a_lab(wanted: argparse.Namespace) -> list[Reading]:
    names = tuple(f"g{number}" for number in range(1, wanted.senders + 2))
    base = dataclasses.replace(PRESETS["ethernet-100"], rate_bits_per_s=wanted.rate, buffer_bytes=wanted.buffer)
    switches = {mode: dataclasses.replace(base, on_full=mode) for mode in MODES}
    built = lab.up(LabSpec(names, switches, guests=names, rdma=dict.fromkeys(MODES, "rxe")))
    try:
        hosts = {host.name: host for host in built.hosts}
        fabrics = {
            mode: Fabric(
                mode, dict.fromkeys(names, f"eth{index}"), "roce",
                line_rate_bits_per_s=wanted.rate, mtu_bytes=base.mtu_bytes,
            )
            for index, mode in enumerate(MODES)
        }  # fmt: skip
        place = Place(
            built, hosts, rdma_ports.found(fabrics, hosts), str(engine_binary.find_engine()),
            discover("adapters", "ADAPTER").get("engine"), wanted.block, round(wanted.seconds * 1e9),
            wanted.ack_timeout,
        )  # fmt: skip
        return _measure(place, wanted)
    finally:
        built.down()


def _measure(place: Place, wanted: argparse.Namespace) -> list[Reading]:
    order = random.Random(wanted.seed)  # noqa: S311 - an order, no secret
    counts = range(1, wanted.senders + 1)
    points = [(mode, layer, count) for mode in MODES for layer in LAYERS for count in counts]
    readings: list[Reading] = []
    for number in range(1, wanted.rounds + 1):
        readings += [place.measure(number, *point) for point in order.sample(points, len(points))]
        print(f"round {number} of {wanted.rounds} is done, load {load():.2f}", file=sys.stderr, flush=True)
    return readings


def _table(readings: Sequence[Reading]) -> str:
    """Return a line for each point: medians over launches, the range of the goodput, counts per 1000 frames."""
    lines = [
        f"{'layer':<6}{'switch':<7}{'senders':>7}{'goodput Mb/s':>14}{'least, most':>16}{'round ms':>10}{'longest':>9}"
        f"{'dropped':>9}{'gaps':>7}{'timers':>8}{'pauses':>8}  (of 1000 frames)"
    ]
    for layer, mode, count in sorted({(one.layer, one.mode, one.sender_count) for one in readings}):
        launches = [one for one in readings if (one.layer, one.mode, one.sender_count) == (layer, mode, count)]
        good = [one for one in launches if one.goodput_bytes_per_s is not None]
        if not good:
            lines.append(f"{layer:<6}{mode:<7}{count:>7}  {'; '.join(sorted({str(one.reason) for one in launches}))}")
            continue
        rates = [8e-6 * one.goodput_bytes_per_s for one in good if one.goodput_bytes_per_s is not None]
        all_ns = np.concatenate([one.round_ns for one in good]) * 1e-6
        counts = [figure.median_of(good, of, name) for of, name in figure.SHOWN[layer]]
        lines.append(
            f"{layer:<6}{mode:<7}{count:>7}{statistics.median(rates):>14.1f}{min(rates):>9.1f} -{max(rates):>5.1f}"
            f"{np.median(all_ns):>10.1f}{all_ns.max():>9.1f}{counts[0]:>9.2f}{counts[1]:>7.2f}{counts[2]:>8.2f}"
            f"{counts[3]:>8.2f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
