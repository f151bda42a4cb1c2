"""How many real runs call a thing different from itself? One fabric of the lab, entered twice, run after run.

python -m campaigns.statistics.control_runs [--runs 40] [--keep FOLDER]

Each run has eight blocks of two entries that are the same. It is looked at after every block from the third on, by the
rule of runs that go on until they are decided, as somebody would who waits for an answer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from fabriscope import store
from fabriscope.analysis.comparing.comparisons import KINDS, compare
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import UNTIL_DECIDED, rules_of

PLAN = """
name: control
hosts: node[1-2]
fabrics: {{gige: {{lab: gige}}}}
benchmarks:
  ping_pong: {{sizes: [64, 4KiB, 64KiB]}}
launches: {blocks}
budget: 8s
control: true
floor: false
seed: {seed}
"""
BLOCKS = 8
TIMEOUT_S = 600


def measured(folder: Path, seed: int) -> Path:
    """Return the folder of a new run of BLOCKS blocks."""
    plan = folder / f"plan-{seed}.yaml"
    plan.write_text(PLAN.format(blocks=BLOCKS, seed=seed))
    path = folder / f"run-{seed}"
    words = [sys.executable, "-m", "fabriscope", "run", str(plan), "-o", str(path), "-q"]
    subprocess.run(words, check=True, capture_output=True, timeout=TIMEOUT_S)
    return path


def looks(path: Path) -> list[Counter[str]]:
    """Return how many sizes had each verdict, looked at after each block from the third on."""
    run = store.open_run(path).read()
    plan = replace(run.manifest.plan, until=UNTIL_DECIDED)
    run = replace(run, manifest=replace(run.manifest, plan=plan))
    found = []
    for blocks in range(3, BLOCKS + 1):
        early = replace(run, journal=tuple(one for one in run.journal if one.block <= blocks))
        frame = compare(launch_values(early), KINDS[CONTROL], rules_of(early))
        found.append(Counter(frame["verdict"].to_list()))
    return found


def main() -> None:
    """Print one line a run, and how many had a false verdict at any look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="folder for the runs; otherwise they are removed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        false = 0
        for seed in range(1, arguments.runs + 1):
            seen = looks(measured(folder, seed))
            is_false = any(look["faster"] or look["slower"] for look in seen)
            false += is_false
            sys.stdout.write(f"run {seed}: at the end {dict(seen[-1])}{', FALSE at some look' if is_false else ''}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{false} of {arguments.runs} runs had a false verdict at any look\n")


if __name__ == "__main__":
    main()
