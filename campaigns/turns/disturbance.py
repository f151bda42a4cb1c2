"""Are numbers the same in a group as alone? One plan with and without turns, run after run.

python -m campaigns.turns.disturbance [--rounds 5] [--output FOLDER]

Groups of two, six and twelve entries over TCP, MPI and shared memory. For each entry and size it prints the median
launch in turns over that alone: the geometric mean over the rounds, each of which has both, and its 95 % interval
(Student's t).
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from campaigns.turns.runs import Point, load, measured, medians

from fabriscope.analysis.numbers.intervals import log_ratio

BASE: dict[str, Any] = {
    "hosts": "node[1-2]",
    "benchmarks": {"ping_pong": {"sizes": [8, 1024, 65536, 1 << 20]}, "bandwidth": {"sizes": [65536, 1 << 20]}},
    "floor": False,
}


def groups(mpi: str) -> dict[str, dict[str, Any]]:
    """Return the plans by the group that they make."""
    two = {"one": {"lab": "gige"}, "other": {"lab": "gige"}}
    one = {"one": {"lab": "gige"}}
    all_layers = {"layers": ["tcp", "mpi", "shm"], "mpi": [mpi], "placements": ["inter", "intra"], "floor": True}
    return {
        "2, TCP": {"fabrics": two, "layers": ["tcp"]},
        "2, MPI": {"fabrics": two, "layers": ["mpi"], "mpi": [mpi]},
        "2, one host": {"fabrics": one, "layers": ["tcp", "shm"], "placements": ["intra"]},
        "6": {"fabrics": one, **all_layers},
        "12": {"fabrics": {**two, "third": {"lab": "gige"}, "fourth": {"lab": "gige"}}, **all_layers},
    }  # fmt: skip


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--groups", default="2, TCP;2, MPI;2, one host;6;12", help="some of these")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--budget", type=float, default=6.0, help="seconds of measuring of a run; twelve have twice")
    parser.add_argument("--bind", default="auto")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    wanted = {name: plan for name, plan in groups(arguments.mpi).items() if name in arguments.groups.split(";")}
    ratios: dict[tuple[str, Point], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(arguments.rounds):
            for place, (name, of_group) in enumerate(wanted.items()):
                budget = arguments.budget * (2 if name == "12" else 1)
                plan = {**BASE, **of_group, "launches": arguments.launches, "budget": budget}
                ways = ("auto", "off") if number % 2 else ("off", "auto")
                plan |= {"bind": arguments.bind}
                names = {way: f"r{number}-{place}-{way}" for way in ways}
                both = {way: medians(measured({**plan, "turns": way}, folder, names[way])) for way in ways}
                sys.stderr.write(f"{number} {name} load {load()}\n")
                for point in both["off"].keys() & both["auto"].keys():
                    ratios[name, point].append(math.log(both["auto"][point] / both["off"][point]))
    sys.stdout.write("| group | what | size | in turns over alone | 95 % |\n|---|---|---|---|---|\n")
    for (name, (label, metric, size)), logs in sorted(ratios.items()):
        found = log_ratio(logs)
        interval = f"{math.exp(found.low):.3f} to {math.exp(found.high):.3f}" if len(logs) > 1 else "–"
        sys.stdout.write(f"| {name} | {label} {metric} | {size} | {math.exp(found.centre):.3f} | {interval} |\n")


if __name__ == "__main__":
    main()
