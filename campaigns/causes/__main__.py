"""Plants faults whose cost is known by construction, and sets what `intervene` says of them beside the truth.

    python -m campaigns.causes --output FOLDER [--only NAME] [--launches 6]     # from the checkout's root, as root

Each case is a run of three hosts of a lab with a fault of its switch or of a host, and with others that cost nothing in
it: TCP without selective acknowledgements where nothing is lost, an output that pauses where none fills. The cause that
the run names first should be the planted one, and its interval should hold the true cost. The truth of a rate is the
share of the wire that is lost; of an MTU the share of a frame that is data; of a delay, and of cards that wait for
company, what comes on top of the way,
and the hosts' own time, of which is known only that it is below 0.4 ms: such a truth is a short range.
FOLDER/cases.jsonl gets a line for each case.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriscope import store
from fabriscope.analysis.results import Results
from fabriscope.reports.sections.causes import ranked

PLAN = """
name: {name}
hosts: node[1-3]
fabrics:
  wire: {{lab: {{preset: ethernet-100{more}, broken: {{{faults}}}}}}}
layers: [tcp]
benchmarks: {{{benchmark}}}
launches: {launches}
budget: {budget_s}s
intervene: true
floor: false
"""
LATENCY, BANDWIDTH = "ping_pong: {sizes: [8]}", "bandwidth: {sizes: [1MiB], window: 4}"
HARMLESS = "sack: node3"
SLOW_BITS_PER_S, FAR_MS, WAIT_MS, HOST_MS = 50e6, 20.0, 10.0, 0.4
HEADERS_BYTES, FRAME_BYTES = 52, 38
"""Of IP, TCP and its timestamps; of Ethernet, with preamble and gap."""
LONG_S = 900.0


@dataclass(frozen=True)
class Case:
    """One planted fault."""

    name: str
    fault: str
    setting: str
    """That ends it."""
    truth: tuple[float, float]
    benchmark: str
    more: str = ""

    def plan(self, launches: int) -> str:
        """Return the plan, in which something else is planted, too, that costs nothing there."""
        return PLAN.format(
            name=self.name, more=self.more, benchmark=self.benchmark, launches=launches,
            faults=f"{self.fault}, {HARMLESS}", budget_s=8 * launches,
        )  # fmt: skip


def slow(rate_mbit_per_s: float) -> Case:
    """Return the case of a wire that is slower than the plan says."""
    cost = 1 - SLOW_BITS_PER_S / (rate_mbit_per_s * 1e6)
    more = f", rate: {rate_mbit_per_s:g}Mb/s"
    return Case(f"rate-{rate_mbit_per_s:g}", "slow-wire: node2", "switch_rate", (cost, cost), BANDWIDTH, more=more)


def far(delay_ms: float, also: str = "") -> Case:
    """Return the case of a way that is longer than the plan says."""
    least, most = ((FAR_MS - delay_ms) / (delay_ms + own_ms) for own_ms in (HOST_MS, 0.0))
    name, fault = f"delay-{delay_ms:g}", f"far: node2{also}"
    return Case(name, fault, "switch_delay", (least, most), LATENCY, more=f", delay: {delay_ms:g}ms")


def waiting(delay_ms: float) -> Case:
    """Return the case of cards that let a frame wait for company, of which a ping-pong has none."""
    least, most = (WAIT_MS / (delay_ms + own_ms) for own_ms in (HOST_MS, 0.0))
    name, more = f"coalescing-at-{delay_ms:g}", f", delay: {delay_ms:g}ms"
    return Case(name, "coalescing: node2", "switch_coalesce", (least, most), LATENCY, more=more)


def small(rate_mbit_per_s: float, mtu_bytes: int, benchmark: str, also: str = "") -> Case:
    """Return the case of a host with an MTU of 600."""
    cost = 1 - data_share(600) / data_share(mtu_bytes)
    fault, more = f"small-mtu: node2{also}", f", rate: {rate_mbit_per_s:g}Mb/s, mtu: {mtu_bytes}"
    return Case(f"mtu-{mtu_bytes}-at-{rate_mbit_per_s:g}", fault, "mtu", (cost, cost), benchmark, more)


def data_share(mtu_bytes: int) -> float:
    """Return which share of a full frame on the wire is data of a program."""
    return (mtu_bytes - HEADERS_BYTES) / (mtu_bytes + FRAME_BYTES)


CASES = (
    slow(100), slow(62.5), slow(55), slow(80),
    far(10), far(16), far(18), waiting(10), waiting(20),
    small(100, 1500, BANDWIDTH), small(100, 4000, BANDWIDTH, ", pause: node2"),
    small(10, 1500, "bandwidth: {sizes: [256KiB], window: 2}"),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--launches", type=int, default=6)
    arguments = parser.parse_args()
    output: Path = arguments.output.absolute()
    (output / "state").mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ["XDG_STATE_HOME"] = str(output / "state")
    results = []
    for case in CASES:
        if arguments.only and case.name not in arguments.only:
            continue
        results.append(told(case, output, arguments.launches))
        with (output / "cases.jsonl").open("a") as stream:
            stream.write(json.dumps(results[-1]) + "\n")
        print(line(results[-1]), flush=True)
    print(
        f"{len(results)} faults: the right cause was first in {sum(one['is_first'] for one in results)}, "
        f"its interval held the truth in {sum(one['holds'] for one in results)}"
    )


def told(case: Case, output: Path, launches: int) -> dict[str, Any]:
    """Run a case, and return what was found of it."""
    plan, run = output / f"{case.name}.yaml", output / case.name
    plan.write_text(case.plan(launches))
    started_s = time.monotonic()
    argv = [sys.executable, "-m", "fabriscope", "run", str(plan), "-o", str(run), "-q"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LONG_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{case.name}: {done.stdout}{done.stderr}")
    causes = ranked(Results(store.open_run(run).read()))
    order = [setting for fabric, _ in causes for setting in fabric.knobs]
    costs = next((costs for fabric, costs in causes if case.setting in fabric.knobs), [])
    low, high = costs[0].ends if costs and costs[0].ends else (0.0, 0.0)
    return {
        "name": case.name,
        "order": order,
        "is_first": order[:1] == [case.setting] and low > 0,
        "truth": case.truth,
        "cost": costs[0].share if costs else None,
        "interval": (low, high),
        "holds": bool(costs) and low <= case.truth[1] and case.truth[0] <= high,
        "took_s": round(time.monotonic() - started_s, 1),
    }


def line(result: Mapping[str, Any]) -> str:
    """Return a case in one line."""
    cost = "unknown" if result["cost"] is None else f"{result['cost']:.1%}"
    truth = " to ".join(dict.fromkeys(f"{one:.1%}" for one in result["truth"]))
    low, high = result["interval"]
    first = "first" if result["is_first"] else f"not first: {_words(result['order'])}"
    return (
        f"{result['name']:22} {first}; truth {truth}, found {cost} ({low:.1%} to {high:.1%}), "
        f"{'holds' if result['holds'] else 'does not hold'}; {result['took_s']} s"
    )


def _words(order: Sequence[str]) -> str:
    return ", ".join(order) or "nothing"


if __name__ == "__main__":
    main()
