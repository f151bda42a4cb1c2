"""A made-up run of many ranks: collectives on the common clock and after a barrier, overlap, and pairs.

python -m tests.analysis.made_up_groups /tmp/run
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import RANK_OPERATION, RANK_START, Launch, SampleBlock
from fabriscope.model.ranks import Layout

HOSTS = ("node1", "node2", "node3", "node4")
FABRICS = {"ethernet-100": (10**8, 60_000), "gige": (10**9, 25_000)}
"""Line rate in bits per second, and the time of one step of an algorithm in ns."""
LAYOUTS = (Layout(4, 1), Layout(8, 2), Layout(8, 2, "cyclic"))
SIZES = (8, 512, 4096, 65536)
SLOW_RANK = 3
CLOCK_ERROR_NS = 1_200
OVERLAP = 0.6


def write_run(path: Path, launch_count: int = 3, fabrics: tuple[str, ...] = tuple(FABRICS)) -> store.RunFolder:
    """Write the run folder and return it."""
    entries = [Entry("mpi", name, "inter", one.hosts(HOSTS), "mpich") for name in fabrics for one in LAYOUTS]
    entries += [Entry("mpi", name, "inter", Layout(2 * n, n).hosts(HOSTS), "mpich") for name in fabrics for n in (1, 4)]
    launches: list[Launch] = []
    for block in range(1, launch_count + 1):
        for entry in entries:
            launches.append(Launch(len(launches) + 1, block, entry, tuple(_cases(entry)), 7, 10**9))
    every = [Fabric(name, dict.fromkeys(HOSTS, "eth0"), "tcp", FABRICS[name][0], 1500) for name in fabrics]
    contents = {**store.describe((), launches, every), "name": "ranks", "created_unix_ns": 1_760_000_000_000_000_000}
    folder = store.create(path, contents, "name: ranks\n")
    noise = np.random.default_rng(7)
    with folder.lock():
        for launch in launches:
            _append(folder, launch, noise)
    return folder


def _cases(entry: Entry) -> Iterator[Case]:
    if len(set(entry.hosts)) == 2:
        for size in SIZES[:2]:
            yield Case(entry, "multi_pair_latency", size)
            yield Case(entry, "message_rate", size, 16)
        return
    yield Case(entry, "barrier", 0)
    for size in SIZES:
        yield Case(entry, "allreduce", size)
        yield Case(entry, "allreduce", size, parameters=(("timing", "barrier"),))
        yield Case(entry, "ibcast", size, parameters=(("compute", "1"),))


def operation_ns(case: Case) -> float:
    """Return the time of an operation without noise."""
    rate, step_ns = FABRICS[str(case.entry.fabric)]
    ranks, wire_ns = len(case.entry.hosts), case.message_size_bytes * 8e9 / rate
    if case.benchmark == "multi_pair_latency":
        return 2 * (step_ns + wire_ns * ranks / 2)
    if case.benchmark == "message_rate":
        return step_ns + 1.1 * wire_ns * case.window_size * ranks / 2
    steps = math.log2(ranks) * (1.2 if case.entry.ranks.endswith("cyclic") else 1.0)
    pure_ns = steps * (step_ns + wire_ns)
    if case.parameter_map.get("timing") == "barrier":
        return 0.8 * pure_ns
    return (2 - OVERLAP) * pure_ns if "compute" in case.parameter_map else pure_ns


def _append(folder: store.RunFolder, launch: Launch, noise: np.random.Generator) -> None:
    blocks: list[SampleBlock] = []
    groups: dict[str, Any] = {}
    for burst, case in enumerate(launch.cases):
        least_ns, ranks = operation_ns(case), len(case.entry.hosts)
        samples = np.rint(least_ns * math.exp(noise.normal(0, 0.01)) * (1 + noise.gamma(1.5, 0.01, 6)))
        blocks.append(SampleBlock(case.case_id, samples.tolist(), burst=burst))
        for rank in range(ranks):
            inside = samples * (1.0 if rank == SLOW_RANK else 0.9)
            blocks.append(SampleBlock(case.case_id, inside.tolist(), RANK_OPERATION, burst=burst, rank=rank))
            blocks.append(SampleBlock(case.case_id, [rank] * 6, RANK_START, burst=burst, rank=rank))
        is_clocked = case.benchmark not in ("multi_pair_latency", "message_rate") and "timing" not in case.parameter_map
        groups[case.case_id] = {
            "timing": "common_clock" if is_clocked else "barrier",
            "operation_count": 6,
            "late_operation_count": 2 if is_clocked else 0,
            "clock_error_ns": CLOCK_ERROR_NS if is_clocked else None,
            "slowest_ranks": {str(min(SLOW_RANK, ranks - 1)): 5, "0": 1},
        }
        if "compute" in case.parameter_map:
            pure_ns = least_ns / (2 - OVERLAP)
            groups[case.case_id] |= {"pure_ns": pure_ns, "compute_ns": pure_ns}
    results = {case.case_id: {"status": "ok", "reason": None} for case in launch.cases}
    head = {"launch_id": launch.launch_id, "block": launch.block, "entry_id": launch.entry.entry_id}
    record = {"status": "ok", "reason": None, "results": results, "started_unix_ns": 1, "elapsed_ns": 10**9}
    folder.append({**head, **record, "details": {"groups": groups}, "fabric_counters": {}}, blocks)


if __name__ == "__main__":
    sys.stdout.write(f"{write_run(Path(sys.argv[1])).path}\n")
