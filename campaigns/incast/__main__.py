"""Many to one with parameters drawn at random, in the lab: is an aggregate ever above what the wire allows, and is what
the receiver counted what the switch carried?

    python -m campaigns.incast --points 200 --seed 2026 --output FOLDER     # from the checkout's root

A plan has three fabrics whose rate, buffer, MTU, delay and behaviour when full are drawn at random, and so are streams,
sizes, window and duration; each number of streams of a fabric is a launch, each size of it a point. FOLDER/points.jsonl
gets a line for each point. The same command goes on where it was interrupted. Nothing asserts on speed.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml
from campaigns.faults.kinds import seeded
from campaigns.incast.windows import bytes_in_windows

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData

FRAME_HEADERS_BYTES = 14 + 20 + 32
"""Ethernet, IPv4, and TCP with its time stamps, of every frame that the switch counts."""
MOST_APART = 0.01
SIZES = ("1", "100", "1KiB", "8KiB", "64KiB", "100KB", "1MB")
EXIT_PROBLEMS = 1
LONG_S = 3600.0
"""For a plan: nine launches, each of which fabriscope ends after some two minutes."""


@dataclass(frozen=True)
class Point:
    """One number of streams at one size, and the bytes of its launch."""

    plan: int
    entry_id: str
    size_bytes: int
    streams: int
    state: str
    share: float | None
    """Aggregate over what the wire allows; None where the streams did not overlap, or the value was impossible."""
    was_impossible: bool
    sent_bytes: int | None
    """Payload to the receiver in the whole launch, by the engine; None where it or the switch could not tell."""
    carried_bytes: int
    """What the switch delivered to the receiver in that time, less the headers of its frames."""
    again_bytes: int
    """What TCP sent again: where the switch had dropped it, or for nothing, and then it was carried twice."""
    windows_arrived_bytes: int = 0
    """Payload of this size's windows in all, by the engine: from each one's begin to that of the next, as far as that
    was measured or there is none, and the switch dropped nothing in it."""
    windows_carried_bytes: int = 0
    """What the switch delivered to the receiver in the same windows, by its periods, less the headers of its frames."""

    @property
    def apart(self) -> float | None:
        """Return by how much the switch's bytes differ from the engine's, as a share of the engine's; None: untold."""
        if self.sent_bytes is None:
            return None
        expected = min(max(self.sent_bytes, self.carried_bytes - self.again_bytes), self.carried_bytes)
        return abs(expected - self.sent_bytes) / self.sent_bytes if self.sent_bytes else math.inf

    @property
    def windows_apart(self) -> float | None:
        """Return by how much the switch's bytes in the windows differ from the engine's; None where there are none."""
        arrived, carried = self.windows_arrived_bytes, self.windows_carried_bytes
        once = min(max(arrived, carried - self.again_bytes), carried)
        return abs(once - arrived) / arrived if arrived else None

    def problems(self) -> Iterator[str]:
        """Yield what may not be."""
        if self.was_impossible:
            yield "its aggregate was above what the wire allows"
        if self.apart is not None and self.apart > MOST_APART:
            yield f"the switch carried {self.carried_bytes} bytes and {self.sent_bytes} were sent"
        if self.windows_apart is not None and self.windows_apart > MOST_APART:
            yield f"in windows it carried {self.windows_carried_bytes} bytes and {self.windows_arrived_bytes} arrived"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--points", type=int, default=200, help="at least so many")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    lines = arguments.output / "points.jsonl"
    points = [Point(**json.loads(line)) for line in lines.read_text().splitlines()] if lines.exists() else []
    number = max((point.plan for point in points), default=0)
    while len(points) < arguments.points:
        number += 1
        measured = list(_points(number, _run(number, arguments.seed, arguments.output)))
        if not measured:
            raise SystemExit(f"plan {number} measured nothing: see {arguments.output / f'run-{number}'}")
        with lines.open("a") as stream:
            stream.writelines(json.dumps(asdict(point)) + "\n" for point in measured)
        points += measured
        print(f"plan {number}: {len(measured)} points, {len(points)} in all", flush=True)
    raise SystemExit(_told(points))


def drawn(number: int, seed: int) -> dict[str, Any]:
    """Return a plan; the same for the same numbers."""
    chance = seeded(seed, number)
    sources = chance.randint(1, 4)
    fabrics = {}
    for name in ("a", "b", "c"):
        mtu = chance.choice((1500, 4500, 9000))
        buffer = chance.choice((16, 32, 64, 256, 1024)) * 1024
        fabrics[name] = {
            "lab": {
                "preset": "gige", "rate": f"{chance.choice((5, 20, 50, 100))}Mb/s", "mtu": mtu,
                "buffer": max(buffer, 4 * mtu), "delay": f"{chance.choice((1, 5, 100))}us",
                "on_full": chance.choice(("drop", "pause")),
            }
        }  # fmt: skip
    return {
        "name": "incast-campaign",
        "hosts": f"node[1-{sources + 1}]",
        "fabrics": fabrics,
        "many_to_one": {"streams": sorted(chance.sample(range(1, 9), 3))},
        "benchmarks": {
            "many_to_one": {
                "sizes": chance.sample(SIZES, 2), "mode": chance.choice(("streams", "rounds")),
                "window": chance.choice((1, 4, 64)), "in_flight_limit": "1MB",
                "duration": f"{chance.choice((50, 100, 300))}ms",
            }
        },
        "launches": 1, "budget": "1s", "case_timeout": "60s", "floor": False, "seed": number,
    }  # fmt: skip


def _run(number: int, seed: int, output: Path) -> RunData:
    plan, folder = output / f"plan-{number}.yaml", output / f"run-{number}"
    plan.write_text(yaml.safe_dump(drawn(number, seed), sort_keys=False))
    words = ["run", "--resume", str(folder)] if folder.exists() else ["run", str(plan), "-o", str(folder)]
    argv = [sys.executable, "-m", "fabriscope", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONG_S)
    if done.returncode:
        print(f"plan {number} ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}", flush=True)
    return store.open_run(folder).read()


def _points(number: int, run: RunData) -> Iterator[Point]:
    results = results_of(run)
    bytes_of = dict(_bytes_by_entry(run))
    windows = bytes_in_windows(run)
    impossible = {row.case_id for row in results.graded if row.impossible}
    for curve in results.incast_curves:
        for point in curve.points:
            entry = run.manifest.cases[point.case_id].entry
            yield Point(
                number, entry.entry_id, curve.message_size_bytes, point.stream_count, curve.state, point.share_of_limit,
                point.case_id in impossible, *bytes_of[entry.entry_id], *windows.get(point.case_id, (0, 0)),
            )  # fmt: skip


def _bytes_by_entry(run: RunData) -> Iterator[tuple[str, tuple[int | None, int, int]]]:
    """Yield entry and payload to its receiver: by the engine, None if untold, by the switch, and sent again.

    The switch's counters go on from launch to launch; of a launch in which it was started again nothing can be told,
    nor of one after a launch that was ended: what waited in the switch by then was carried after its end.
    """
    before: dict[tuple[str, str], int] = {}
    ended: set[str] = set()
    """Fabrics whose last launch was ended before its engine could tell its bytes."""
    for record in sorted((line for line in run.lines if isinstance(line, LaunchRecord)), key=lambda one: one.launch_id):
        entry = run.manifest.cases[next(iter(record.results))].entry
        carried = _carried(record.fabric_counters, entry.fabric or "", entry.hosts[0])
        place = entry.fabric or "", entry.hosts[0]
        again = sum(
            connection.retransmitted_bytes or 0
            for watch in run.watches(record).values()
            for reading in watch.readings
            for connection in reading.connections
            if connection.is_closed
        )
        told = record.details.sent_payload_bytes
        sent = None if told is None else sum(count for (_, to), count in told.items() if to == 0)
        grown = carried - before.get(place, 0)
        is_told = grown >= 0 and entry.fabric not in ended
        yield entry.entry_id, (sent if is_told else None, max(grown, 0), again)
        before[place] = carried
        ended.discard(entry.fabric or "")
        if told is None:
            ended.add(entry.fabric or "")


def _carried(counters: Mapping[str, object] | None, fabric: str, host: str) -> int:
    match counters:
        case {"ports": [*ports]}:
            for port in ports:
                match port:
                    case {"fabric": name, "host": to, "down": {"bytes": int() as size, "frames": int() as frames}}:
                        if (name, to) == (fabric, host):
                            return size - FRAME_HEADERS_BYTES * frames
    return 0


def _told(points: list[Point]) -> int:
    shares = [point.share for point in points if point.share is not None]
    print(f"{len(points)} points of {len({(point.plan, point.entry_id) for point in points})} launches")
    without = len(points) - len(shares)
    print(f"aggregate over what the wire allows: at most {max(shares, default=0):.4f}; {without} points without")
    apart = [point.apart for point in points if point.apart is not None]
    in_windows = [point.windows_apart for point in points if point.windows_apart is not None]
    print(f"in {len(in_windows)} points' own windows by at most {max(in_windows, default=0):.3%}")
    untold = len(points) - len(apart)
    print(f"the switch's bytes and the engine's differ by at most {max(apart, default=0):.3%}; {untold} points untold")
    wrong = [(point, problem) for point in points for problem in point.problems()]
    for point, problem in wrong:
        print(f"plan {point.plan}, {point.entry_id}, {point.size_bytes} B: {problem}")
    return EXIT_PROBLEMS if wrong else 0


if __name__ == "__main__":
    main()
