"""Made-up runs: realistic numbers with known causes, written through the store.

python -m tests.analysis.made_up /tmp/run                 a small run, as the tests use it
python -m tests.analysis.made_up /tmp/run --like-demo     about 1,500 cases and 3 million samples
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fabriscope import store
from fabriscope.analysis.values.bounds import wire_bytes
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.fabric import Fabric
from fabriscope.model.lab import LabSpec, SwitchSpec
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.mpi import MpiStack

HOSTS = ("node1", "node2")
POWERS = tuple(2**power for power in range(21))
SPEEDS = {"ethernet-100": (10**8, 36_000), "gige": (10**9, 17_000)}
"""Line rate in bits per second, and one-way delay with the host's own work in ns."""


@dataclass(frozen=True)
class Shape:
    """What a made-up run consists of."""

    sizes: tuple[int, ...] = POWERS
    launch_count: int = 4
    samples_per_burst: int = 10
    burst_count: int = 4
    stacks: tuple[str, ...] = ("openmpi-5.0.11", "mpich-5.0.2")
    send_buffers: tuple[int | None, ...] = (None,)
    windows: tuple[int, ...] = (64,)
    launch_noise: float = 0.02
    seed: int = 7
    benchmarks: tuple[str, ...] = ("ping_pong", "bandwidth", "bidirectional_bandwidth")
    fabrics: tuple[str, ...] = ("ethernet-100", "gige")
    placements: tuple[str, ...] = ("inter", "intra")
    says_samples: bool = False
    """The raw output holds the samples, as the engine writes them."""
    failing: frozenset[tuple[int, int]] = field(default_factory=lambda: frozenset({(2, 3)}))
    """(block, index of the case in the first MPI launch of the block) that fail."""


DEMO = Shape(
    sizes=tuple(sorted({size + step for size in POWERS for step in (-3, 0, 3) if size + step > 0})),
    samples_per_burst=100,
    burst_count=5,
)


def write_run(path: Path, shape: Shape | None = None) -> store.RunFolder:
    """Write a run folder of that shape and return it."""
    shape = shape or Shape()
    random_order = random.Random(shape.seed)
    entries = list(_entries(shape))
    launches: list[Launch] = []
    for block in range(1, shape.launch_count + 1):
        for entry in random_order.sample(entries, len(entries)):
            cases = tuple(_cases(shape, entry))
            launches.append(Launch(len(launches) + 1, block, entry, cases, random_order.randrange(2**32), 10**9))
    folder = store.create(path, _manifest(shape, launches), "name: made-up\n# made up for tests\n")
    noise = np.random.default_rng(shape.seed)
    with folder.lock():
        for launch in launches:
            _append(folder, launch, shape, noise)
    return folder


def _entries(shape: Shape) -> Iterator[Entry]:
    if "inter" in shape.placements:
        for fabric in shape.fabrics:
            yield Entry("tcp", fabric, "inter", HOSTS)
            for stack in shape.stacks:
                yield Entry("mpi", fabric, "inter", HOSTS, stack)
    if "intra" in shape.placements:
        local = (HOSTS[0], HOSTS[0])
        yield Entry("tcp", None, "intra", local)
        yield Entry("shm", None, "intra", local)
        for stack in shape.stacks:
            yield Entry("mpi", None, "intra", local, stack)
    yield Entry("null", None, "intra", (HOSTS[0], HOSTS[0]))


def _cases(shape: Shape, entry: Entry) -> Iterator[Case]:
    if entry.layer == "null":
        yield Case(entry, "empty", 0)
        yield Case(entry, "ping_pong", 1)
        return
    buffers = shape.send_buffers if entry.layer == "tcp" else (None,)
    for benchmark in shape.benchmarks:
        for buffer in buffers:
            windows = shape.windows if benchmark != "ping_pong" else (1,)
            for window in windows:
                socket = SocketOptions(send_buffer_bytes=buffer)
                labels = [socket.label() if len(buffers) > 1 else "", f"window {window}" if len(windows) > 1 else ""]
                series = ", ".join(label for label in labels if label)
                for size in shape.sizes:
                    cut = max(1, min(window, 4 * 2**20 // size))
                    yield Case(entry, benchmark, size, cut, series, socket)


def operation_ns(case: Case) -> float:
    """Return the time that an operation of this case takes without noise."""
    entry, size = case.entry, case.message_size_bytes
    if entry.layer == "null":
        return 21.0 if case.benchmark == "empty" else 48.0
    if entry.fabric is not None:
        rate, base_ns = SPEEDS[entry.fabric]
        ns_per_byte, per_wire = 0.25, 8e9 / rate
        wire_ns = wire_bytes(size * case.window_size, 1500) * per_wire * 1.012
    else:
        base_ns = {"tcp": 5_200, "shm": 450, "mpi": 620}[entry.layer]
        ns_per_byte = {"tcp": 0.35, "shm": 0.09, "mpi": 0.14}[entry.layer]
        wire_ns = 0.0
    cost = 1.0
    if entry.mpi is not None and entry.fabric is not None:
        base_ns += 2_300 if "openmpi" in entry.mpi else 900
        cost = 1.05 + (0.12 if size >= 65536 and "openmpi" in entry.mpi else 0)
    if case.benchmark == "ping_pong":
        return 2 * (base_ns + size * ns_per_byte + cost * wire_bytes(size, 1500) * per_wire_of(entry))
    per_message_ns = base_ns * 0.05 + size * ns_per_byte
    both_ways = 1.15 if case.benchmark == "bidirectional_bandwidth" else 1.0
    return base_ns + both_ways * max(cost * wire_ns, case.window_size * per_message_ns)


def per_wire_of(entry: Entry) -> float:
    """Return nanoseconds per byte on the wire, with 1.2 % lost; 0 inside a host."""
    return 0.0 if entry.fabric is None else 8e9 / SPEEDS[entry.fabric][0] * 1.012


def _append(folder: store.RunFolder, launch: Launch, shape: Shape, noise: np.random.Generator) -> None:
    blocks: list[SampleBlock] = []
    results: dict[str, Any] = {}
    launch_factor = math.exp(noise.normal(0, shape.launch_noise))
    is_first_stack = launch.entry.mpi == shape.stacks[0] if shape.stacks else False
    clock_ns = 0
    for index, case in enumerate(launch.cases):
        fails = is_first_stack and launch.entry.placement == "inter" and (launch.block, index) in shape.failing
        results[case.case_id] = {
            "status": "failed" if fails else "ok",
            "reason": "no progress for 10 s: rank 1 waits for a message that rank 0 has sent" if fails else None,
        }
        if fails:
            continue
        least_ns = operation_ns(case)
        wobble = math.exp(noise.normal(0, shape.launch_noise / 4))
        for burst in range(shape.burst_count):
            jitter = noise.gamma(1.5, 0.02, shape.samples_per_burst)
            # Only what is above the wire's time varies: no launch may beat the wire.
            values = np.rint(least_ns * max(1.0, launch_factor * wobble) * (1 + jitter)).astype(np.int64)
            phase = "warmup" if burst == 0 else "measure"
            values = values * 3 if burst == 0 else values
            blocks.append(
                SampleBlock(
                    case.case_id, values.tolist(), phase=phase, round=burst, burst=len(blocks), start_ns=clock_ns
                )
            )
            clock_ns += int(values.sum())
    said = Outcome(
        Command(("fabriscope-engine", "--transport", launch.entry.layer), HOSTS[0]), 0,
        stream(blocks) if shape.says_samples else b"{}\n", b"", 1, clock_ns,
    )  # fmt: skip
    record = {
        "launch_id": launch.launch_id,
        "block": launch.block,
        "entry_id": launch.entry.entry_id,
        "status": "ok",
        "reason": None,
        "results": results,
        "started_unix_ns": 1_760_000_000_000_000_000 + launch.launch_id * 10**9,
        "elapsed_ns": clock_ns,
        "details": {"header": {"clock": {"name": "tsc", "cost_ns": 11.2}}, "footer": {"status": "ok"}},
        "fabric_counters": {},
    }
    folder.append(record, blocks, [said])


def stream(blocks: list[SampleBlock]) -> bytes:
    """Return the blocks as the engine writes them (docs/engine-output.md)."""
    lines: list[dict[str, Any]] = [{"type": "header", "format": "fabriscope-engine", "version": 1, "ranks": []}]
    for one in blocks:
        phase = {"warmup": "warmup", "measure": "measured"}[one.phase]
        lines.append(
            {
                "type": "block", "case": one.case_id, "round": one.round, "burst": one.burst, "phase": phase,
                "start_ns": one.start_ns, "operations_per_sample": 1, "durations_ns": list(one.values),
            }
        )  # fmt: skip
    lines.append({"type": "footer", "status": "ok"})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _manifest(shape: Shape, launches: list[Launch]) -> dict[str, Any]:
    fabrics = [
        Fabric(name, dict.fromkeys(HOSTS, f"eth{index}"), "tcp", SPEEDS[name][0], 1500, {"delay": "5 us"})
        for index, name in enumerate(shape.fabrics)
    ]
    stacks = [
        MpiStack(name, name.split("-")[0], name.split("-")[1], f"/opt/{name}/bin/mpirun", f"/opt/{name}/bin/mpicxx")
        for name in shape.stacks
    ]
    switches = {name: SwitchSpec(name, SPEEDS[name][0], 5_000, 131_072, 18_000, 8) for name in shape.fabrics}
    facts = {
        "cpu.model": "AMD Opteron 246",
        "cpu.core_count": 2,
        "memory.total_bytes": 2 * 2**30,
        "kernel.release": "6.1.0-18",
    }
    return {
        **store.describe((), launches, fabrics, stacks),
        "run_id": "5eed",
        "created_unix_ns": 1_760_000_000_000_000_000,
        "name": "made-up",
        "seed": shape.seed,
        "plan": {"name": "made-up", "description": "Two Ethernets, made up for tests.", "launches": shape.launch_count},
        "lab": LabSpec(HOSTS, switches).__dict__ | {"fabrics": {name: vars(spec) for name, spec in switches.items()}},
        "hosts": {
            host: {
                "facts": [{"name": name, "value": value, "unknown_because": None} for name, value in facts.items()]
                + [{"name": "cpu.governor", "value": None, "unknown_because": "no cpufreq in this guest"}]
            }
            for host in HOSTS
        },
        "versions": {"fabriscope": "0.1.0", "engine": "0.1.0"},
    }


if __name__ == "__main__":
    written = write_run(Path(sys.argv[1]), DEMO if "--like-demo" in sys.argv else None)
    sys.stdout.write(f"{written.path}\n")
