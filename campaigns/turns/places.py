"""Where should ranks and the lab's switch run? One Gigabit Ethernet against itself, bound in several ways.

python -m campaigns.turns.places [--rounds 3] [--launches 6] [--output FOLDER]

Ways are made in turn, a run each, so that they meet the same hour. For each way, layer and size it prints the median
launch against that of ranks bound to nothing, and the deviation between blocks of the log ratio of the thing with
itself, of launches one after the other and in turns.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from campaigns.turns.runs import Point, control_spreads, load, measured, medians

PLAN: dict[str, Any] = {
    "hosts": "node[1-2]",
    "fabrics": {"gige": {"lab": "gige"}},
    "placements": ["inter", "intra"],
    "benchmarks": {"ping_pong": {"sizes": [8, 1024, 65536, 1 << 20]}, "bandwidth": {"sizes": [65536, 1 << 20]}},
    "floor": False,
}
WAYS = {"none": "none", "a core each": "core", "all on one": [0, 0], "the other way round": [1, 0]}
"""Of two processors: the switch has what no rank has, so it runs where it likes but for `all on one`."""
CONTROLS = ("gige.tcp.inter", "gige.mpi.{mpi}.inter", "shm.intra")
WORDS = ("turns", "alone")


def plans(mpi: str, launches: int, budget_s: float) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return a plan for each layer, way and whether it is in turns."""
    found = {}
    for control in CONTROLS:
        name = control.format(mpi=mpi)
        layer = "mpi" if ".mpi." in name else name.split(".")[-2]
        for way, bind in WAYS.items():
            for in_turns in WORDS:
                plan = {**PLAN, "layers": [layer], "control": name, "bind": bind, "launches": launches}
                plan |= {"placements": ["intra" if name.endswith("intra") else "inter"], "budget": budget_s}
                plan |= {"mpi": [mpi]} if layer == "mpi" else {}
                found[layer, way, in_turns] = {**plan, "turns": "auto" if in_turns == "turns" else "off"}
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--launches", type=int, default=6)
    parser.add_argument("--budget", type=float, default=8.0, help="seconds of measuring of a run")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    values: dict[tuple[str, Point], list[float]] = defaultdict(list)
    spreads: dict[tuple[str, str, Point], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(arguments.rounds):
            planned = plans(arguments.mpi, arguments.launches, arguments.budget)
            for place, ((_, way, in_turns), plan) in enumerate(planned.items()):
                run = measured(plan, folder, f"round-{number}-{place}")
                sys.stderr.write(f"{number} {plan['control']} {way} {in_turns} load {load()}\n")
                for point, value in medians(run).items():
                    values[way, point].append(value)
                for point, (of_launches, of_turns) in control_spreads(run).items():
                    spreads[way, "launches, " + in_turns, point].append(of_launches)
                    if in_turns == "turns":
                        spreads[way, "turns", point].append(of_turns)
    _print(values, spreads)


def _print(values: dict[tuple[str, Point], list[float]], spreads: dict[tuple[str, str, Point], list[float]]) -> None:
    columns = ("launches, alone", "launches, turns", "turns")
    titles = (
        *("what", "size", "way", "median against none", "deviation: one after the other", "in turns, of launches"),
        "in turns, of neighbouring turns",
    )
    sys.stdout.write(f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|\n")
    for way, point in values:
        label, metric, size = point
        if "again" in label or (way, columns[0], point) not in spreads:
            continue
        ratio = _mean(values[way, point]) / _mean(values["none", point])
        cells = [f"{_root_mean_square(spreads[way, name, point]):.2%}" for name in columns]
        sys.stdout.write(f"| {label} {metric} | {size} | {way} | {ratio:.3f} | " + " | ".join(cells) + " |\n")


def _mean(numbers: list[float]) -> float:
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def _root_mean_square(numbers: list[float]) -> float:
    return math.sqrt(sum(number**2 for number in numbers) / len(numbers))


if __name__ == "__main__":
    main()
