"""What the instrument itself costs: the clock, a recorded sample, an empty operation, and memory.

    python -m benchmarks.floor -o out          # from the checkout's root

Promises: recording an operation costs less than 30 ns (a sample may hold several operations, so that it stays below
that), and samples never take more memory than they were given. The exit status is 0 if both hold, else 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import secrets
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks._peers_report import cpu, load

from fabriscope import engine_binary
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.engine import ADAPTER
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch, ParsedLaunch

HOST = "here"
ENTRY = Entry("null", None, "intra", (HOST, HOST))
CASES = (
    *(Case(ENTRY, "empty", size) for size in (0, 1 << 20)),
    *(Case(ENTRY, "ping_pong", size) for size in (0, 8, 1 << 20)),
)
TCP_ENTRY = Entry("tcp", "loopback", "intra", (HOST, HOST))
MANY_CASES = tuple(Case(TCP_ENTRY, "ping_pong", size) for size in range(1, 257))
"""Their first round alone records several times more samples than the memory holds."""
MOST_RECORDING_NS = 30.0
BURST_OPERATIONS = 1_000_000
"""Over null an operation takes less than a nanosecond, and a usual burst of 1000 would be nothing but its own start."""
SAMPLE_MEMORY_BYTES = 64 << 10
OTHER_MEMORY_BYTES = 12 << 20
"""The program itself: libraries, threads, and what it keeps of each case."""
ACCESS = ("/bin/sh", "-c", 'eval "$0"; exit "$?"')
"""A fork in between: the kernel counts the memory of the process that calls exec() as the peak of what it becomes."""


@dataclasses.dataclass(frozen=True)
class Memory:
    """What one launch of many cases took."""

    sample_bytes: int
    """Of all samples that were recorded, at 8 bytes each."""
    peak_sample_bytes: int
    peak_rss_bytes: int

    @property
    def allowed_rss_bytes(self) -> int:
        """Return what docs/engine-output.md allows a rank that checks no payload."""
        return SAMPLE_MEMORY_BYTES + 2 * max(case.message_size_bytes for case in MANY_CASES) + OTHER_MEMORY_BYTES


@dataclasses.dataclass(frozen=True)
class Floor:
    """What one launch said."""

    clock: str
    clock_cost_ns: float
    record_cost_ns: float
    """One sample of nothing by the measuring loop: a clock read and two stores."""
    operation_ns: Mapping[str, float]
    """Median time of an operation, batches taken into account, by benchmark and size."""
    operations_per_sample: Mapping[str, int]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--launches", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="measuring time of a launch")
    parser.add_argument("-o", "--output", help="write OUTPUT.json")
    wanted = parser.parse_args(argv)
    load_before, budget_ns = load(), round(wanted.seconds * 1e9)
    try:
        floors = [_floor(_launched(CASES, number, budget_ns)) for number in range(1, wanted.launches + 1)]
        memory = _memory(_launched(MANY_CASES, 0, budget_ns))
    except FabriscopeError as error:
        print(f"floor: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{cpu()}; load before {load_before:.2f}, after {load():.2f}; {len(floors)} launches")
    print("\n".join(_lines(floors, memory)))
    promises = _promises(floors, memory)
    print("\n".join(f"{'kept' if kept else 'BROKEN'}: {promise}" for promise, kept in promises.items()))
    if wanted.output:
        known = {"cpu": cpu(), "load_before": load_before, "promises": promises, "memory": dataclasses.asdict(memory)}
        content = {**known, "launches": [dataclasses.asdict(one) for one in floors]}
        Path(wanted.output + ".json").write_text(json.dumps(content, indent=1) + "\n")
    return 0 if all(promises.values()) else 1


def _launched(cases: Sequence[Case], number: int, budget_ns: int) -> ParsedLaunch:
    """Launch the engine once; raises LaunchError if it did not end well."""
    context = AdapterContext(
        {HOST: Host(HOST, ACCESS, {"lo": "127.0.0.1"})},
        Fabric("loopback", {HOST: "lo"}),
        engine=str(engine_binary.find_engine()),
        token=secrets.token_hex(16),
        max_burst_operations=BURST_OPERATIONS if cases is CASES else 1000,
        sample_memory_bytes=SAMPLE_MEMORY_BYTES,
        verify=False,
    )
    launch = Launch(number, number, cases[0].entry, tuple(cases), number, budget_ns)
    outcomes = processes.run_commands(ADAPTER.commands(launch, context), context.hosts, timeout_s=budget_ns / 1e9 + 30)
    parsed = ADAPTER.parse(launch, outcomes)
    problem = next((one.reason for one in parsed.results if one.status != "ok"), None)
    if problem is not None:
        raise LaunchError(problem, where=f"launch {number}")
    return parsed


def _memory(parsed: ParsedLaunch) -> Memory:
    footer = _object(parsed.details["footer"])
    sample_bytes = 8 * sum(len(one.values) for one in parsed.blocks)
    return Memory(sample_bytes, footer["peak_sample_bytes"], footer["peak_rss_bytes"])


def _floor(parsed: ParsedLaunch) -> Floor:
    header = _object(parsed.details["header"])
    times: dict[str, float] = {}
    batches: dict[str, int] = {}
    for case in CASES:
        name = f"{case.benchmark} {case.message_size_bytes} B"
        blocks = [one for one in parsed.blocks if one.case_id == case.case_id and one.phase == "measure"]
        times[name] = statistics.median(value / one.operations_per_sample for one in blocks for value in one.values)
        batches[name] = statistics.mode(one.operations_per_sample for one in blocks)
    return Floor(
        clock=header["clock"]["name"],
        clock_cost_ns=header["clock"]["cost_ns"],
        record_cost_ns=header["record_cost_ns"],
        operation_ns=times,
        operations_per_sample=batches,
    )


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise LaunchError("the engine wrote no header or no footer")
    return value


def _lines(floors: Sequence[Floor], memory: Memory) -> list[str]:
    """Return each quantity as median, least and most over launches."""
    lines = [f"clock {floors[0].clock}"]
    for title, values in (
        ("a clock read", [one.clock_cost_ns for one in floors]),
        ("a recorded sample", [one.record_cost_ns for one in floors]),
    ):
        lines.append(_line(title, values))
    for name in floors[0].operation_ns:
        batch = floors[0].operations_per_sample[name]
        lines.append(_line(f"{name}, {batch} a sample", [one.operation_ns[name] for one in floors]))
    held, all_of_them = memory.peak_sample_bytes, memory.sample_bytes
    lines.append(f"samples held {held} of {SAMPLE_MEMORY_BYTES} B at most while {all_of_them} B were recorded")
    lines.append(f"the whole process of rank 0 held {memory.peak_rss_bytes} B at most")
    return lines


def _line(title: str, values: Sequence[float]) -> str:
    return f"{title:34} {statistics.median(values):8.2f} ns   ({min(values):.2f} to {max(values):.2f})"


def _promises(floors: Sequence[Floor], memory: Memory) -> dict[str, bool]:
    recording_ns = statistics.median(one.record_cost_ns for one in floors)
    allowed = memory.allowed_rss_bytes
    filled = memory.sample_bytes > 2 * SAMPLE_MEMORY_BYTES
    return {
        f"recording costs less than {MOST_RECORDING_NS:.0f} ns an operation": recording_ns < MOST_RECORDING_NS,
        "samples stay in their memory": filled and memory.peak_sample_bytes <= SAMPLE_MEMORY_BYTES,
        f"the process stays below {allowed} B": memory.peak_rss_bytes <= allowed,
    }


if __name__ == "__main__":
    sys.exit(main())
