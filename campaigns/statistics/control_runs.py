"""How many real runs call a thing different from itself? One entry of the lab, made twice in each block, run after run.

python -m campaigns.statistics.control_runs [--runs 40] [--layers tcp,mpi,shm] [--turns auto] [--bind auto] [--busy 2]

Each run has eight blocks of two entries that are the same, of one layer after the other. It is looked at after every
block from the third on, by the rule of runs that go on until they are decided, as somebody would who waits for an
answer. With `--busy 2` two loops compute beside every run.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from campaigns.turns.runs import load, measured

from fabriscope.analysis.comparing.comparisons import KINDS, compare
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import UNTIL_DECIDED, rules_of
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.model.run_data import RunData

BLOCKS = 8
ENTRIES = {"tcp": "gige.tcp.inter", "mpi": "gige.mpi.openmpi.inter", "shm": "shm.intra"}
"""What is entered twice, by layer."""
_LOOP = "while True: pass"


def plan_of(layer: str, turns: str, bind: str, budget: str, seed: int) -> dict[str, Any]:
    """Return a plan of two equal entries, as YAML has it."""
    return {
        "hosts": "node[1-2]",
        "fabrics": {"gige": {"lab": "gige"}},
        "layers": [layer],
        "placements": ["intra" if layer == "shm" else "inter"],
        **({"mpi": ["openmpi"]} if layer == "mpi" else {}),
        "benchmarks": {"ping_pong": {"sizes": [64, "4KiB", "64KiB"]}},
        "launches": BLOCKS,
        "budget": budget,
        "control": ENTRIES[layer],
        "floor": False,
        "turns": turns,
        "bind": bind,
        "seed": seed,
    }


def looks(run: RunData) -> list[Counter[str]]:
    """Return how many sizes had each verdict, looked at after each block from the third on."""
    plan = replace(run.manifest.plan, until=UNTIL_DECIDED)
    run = replace(run, manifest=replace(run.manifest, plan=plan))
    found = []
    for blocks in range(3, BLOCKS + 1):
        early = replace(run, journal=tuple(one for one in run.journal if one.block <= blocks))
        frame = compare(launch_values(early), KINDS[CONTROL], rules_of(early), turn_series(early))
        found.append(Counter(frame["verdict"].to_list()))
    return found


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Let so many loops compute while the block lasts."""
    loops = [subprocess.Popen([sys.executable, "-I", "-S", "-c", _LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main() -> None:
    """Print one line a run, how many had a false verdict at any look, and what the last looks said of all sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--layers", default="tcp", help="of tcp, mpi and shm; a run has one, in turn")
    parser.add_argument("--turns", default="off", help="as in a plan")
    parser.add_argument("--bind", default="none", help="as in a plan: none or auto")
    parser.add_argument("--budget", default="8s", help="of measuring, of a run")
    parser.add_argument("--busy", type=int, default=0, help="loops that compute beside every run")
    parser.add_argument("--keep", type=Path, help="folder for the runs; otherwise they are removed")
    arguments = parser.parse_args()
    layers = arguments.layers.split(",")
    false, ends = 0, Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        sys.stdout.write(f"load before the first run: {load()}\n")
        for seed in range(1, arguments.runs + 1):
            layer = layers[(seed - 1) % len(layers)]
            with busy(arguments.busy):
                plan = plan_of(layer, arguments.turns, arguments.bind, arguments.budget, seed)
                run = measured(plan, folder, f"control-{layer}-{seed}")
            seen = looks(run)
            is_false = any(look["faster"] or look["slower"] for look in seen)
            false += is_false
            ends += seen[-1]
            words = ", FALSE at some look" if is_false else ""
            sys.stdout.write(f"run {seed}, {layer}: at the end {dict(seen[-1])}{words}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{false} of {arguments.runs} runs had a false verdict at any look; at the end {dict(ends)}\n")


if __name__ == "__main__":
    main()
