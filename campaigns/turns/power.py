"""What do turns and binding save? A true difference of 5 % between two fabrics of the lab, seen in four ways.

python -m campaigns.turns.power [--runs 30] [--minutes 40] [--busy 2] [--sizes 64,1KiB] [--output FOLDER]

The ways are neither turns nor binding (`off`), `turns: auto`, `bind: auto`, and both. Two fabrics are Gigabit Ethernets
that differ in their one-way delay alone. A calibrating run of each way and size, in which they are equal, tells the
latency of every launch; the second fabric's delay is then longer by what makes the geometric mean of 5 % more of them.

Then each way is run once in every round, in random order, so that all meet the same hour. A run has ten blocks (`off`
has `--off-launches`), and is looked at after each from the third on, by the rule of runs that go on until they are
decided. All blocks are made, since `until: decided` also ends when its budget is spent, and starting launches this
short costs more than they measure. What counts is the block at which such a run would have ended, and the time from
the start of the first launch to that block's end; building the lab comes on top, in every way alike.

It prints, for each way and size, how many runs told the truth, how long they took, and how long a plan that is looked
at once would take to see the difference with 90 %: reckoned from the deviation of a block, not measured. The same is
in `power.json`, written after every run, if there is a folder for it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from campaigns.statistics.control_runs import busy
from campaigns.turns.power_numbers import Calibrated, Outcome, Summary, added_delay_ns, latencies_ns, outcome_of, table
from campaigns.turns.runs import load, measured

WAYS = {
    "off": {"turns": "off", "bind": "none"},
    "turns": {"turns": "auto", "bind": "none"},
    "bind": {"turns": "off", "bind": "auto"},
    "both": {"turns": "auto", "bind": "auto"},
}
BASE_DELAY_NS = 25_000
"""Of the nearer fabric. With the preset's 5 us the switch is late for a frame: 1.5 us more changed nothing."""
Condition = tuple[str, str]
"""A way, and a message size as in a plan."""


@dataclass
class Found:
    """What there is so far."""

    calibrated: dict[Condition, Calibrated] = field(default_factory=dict)
    outcomes: dict[Condition, list[Outcome]] = field(default_factory=dict)
    failed: dict[Condition, int] = field(default_factory=dict)
    run_seconds: dict[Condition, list[float]] = field(default_factory=dict)
    """Of whole runs, with the lab's building, the calibrating ones too."""

    def summaries(self, share: float) -> list[Summary]:
        """Return what came of every way and size that has runs."""
        return [
            Summary(*condition, share, self.calibrated[condition], tuple(outcomes), self.failed.get(condition, 0))
            for condition, outcomes in self.outcomes.items()
        ]


class Campaign:
    """Runs, one after the other, and what they come to."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self._arguments = arguments
        self._folder = folder
        self._noise = np.random.default_rng(arguments.seed)
        self._ends_s = time.monotonic() + 60 * arguments.minutes
        self._loads = [load()]
        self._begun = time.strftime("%Y-%m-%d %H:%M:%S")
        self.found = Found()

    def go(self) -> None:
        """Calibrate every way and size, then run them round by round until the runs or the minutes are spent."""
        conditions = [
            (way, size) for size in self._arguments.sizes.split(",") for way in self._arguments.ways.split(",")
        ]
        for number in count(0):
            order = [conditions[place] for place in self._noise.permutation(len(conditions))]
            for condition in order if number <= self._arguments.runs else []:
                if number and condition not in self.found.calibrated:
                    continue
                if time.monotonic() > self._ends_s:
                    sys.stderr.write("the minutes are spent\n")
                    return
                self._step(number, condition)
            if number >= self._arguments.runs:
                return

    def _step(self, number: int, condition: Condition) -> None:
        """Make one run, the calibrating one in round 0; one that fails is counted."""
        begun_s = time.monotonic()
        try:
            words = self._calibrate(condition) if number == 0 else self._measure(number, condition)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            self.found.failed[condition] = self.found.failed.get(condition, 0) + 1
            said = (error.stderr or b"").decode(errors="replace").strip().splitlines()
            words = f"failed: {said[-1] if said else error}"
        took_s = time.monotonic() - begun_s
        self.found.run_seconds.setdefault(condition, []).append(took_s)
        self._loads.append(load())
        way, size = condition
        sys.stderr.write(f"round {number} {way} {size}: {words}; {took_s:.1f} s, load {self._loads[-1]}\n")
        self.write()

    def _calibrate(self, condition: Condition) -> str:
        plan = self.plan(condition, BASE_DELAY_NS, self._arguments.launches, 1)
        base = latencies_ns(measured(plan, self._folder, f"calibrating-{'-'.join(condition)}"))
        added_ns = added_delay_ns(base, self._arguments.share)
        made = Calibrated(tuple(base), added_ns)
        self.found.calibrated[condition] = made
        return f"latency {made.middle_ns / 1000:.2f} us, {added_ns / 1000:.2f} us of delay are added"

    def _measure(self, number: int, condition: Condition) -> str:
        way, _ = condition
        arguments = self._arguments
        launches = arguments.off_launches if way == "off" else arguments.launches
        delay_ns = BASE_DELAY_NS + self.found.calibrated[condition].added_ns
        plan = self.plan(condition, delay_ns, launches, number + 1)
        outcome = outcome_of(measured(plan, self._folder, f"round-{number}-{'-'.join(condition)}"))
        self.found.outcomes.setdefault(condition, []).append(outcome)
        return outcome.words()

    def plan(self, condition: Condition, delay_ns: int, launches: int, seed: int) -> dict[str, Any]:
        """Return the plan of a run, as YAML has it."""
        way, size = condition
        far = {"preset": "gige", "delay": f"{delay_ns}ns"}
        return {
            "hosts": "node[1-2]",
            "fabrics": {"near": {"lab": {"preset": "gige", "delay": f"{BASE_DELAY_NS}ns"}}, "far": {"lab": far}},
            "layers": ["tcp"],
            "placements": ["inter"],
            "benchmarks": {"ping_pong": {"sizes": [int(size) if size.isdigit() else size]}},
            "launches": launches,
            "budget": f"{round(2e3 * launches * self._arguments.budget)}ms",
            "floor": False,
            "seed": self._arguments.seed * 1000 + seed,
            **WAYS[way],
        }

    def text(self) -> str:
        """Return the loads and the table."""
        loads = f"begun {self._begun}; load before {self._loads[0]}, after {self._loads[-1]}"
        return f"{loads}\n\n{table(self.found.summaries(self._arguments.share), self._arguments.launches)}"

    def write(self) -> None:
        """Write `power.json`."""
        found, limit = self.found, self._arguments.launches
        document = {
            "begun": self._begun,
            "asked": {name: str(value) for name, value in vars(self._arguments).items()},
            "loads": self._loads,
            "run_seconds": {" ".join(condition): seconds for condition, seconds in found.run_seconds.items()},
            "calibrated": {" ".join(condition): asdict(one) for condition, one in found.calibrated.items()},
            "outcomes": {
                " ".join(condition): [asdict(one) for one in some] for condition, some in found.outcomes.items()
            },
            "summaries": [one.document(limit) for one in found.summaries(self._arguments.share)],
        }
        (self._folder / "power.json").write_text(json.dumps(document, indent=1) + "\n")


def parsed(words: list[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30, help="of each way and size")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which no run is begun")
    parser.add_argument("--ways", default=",".join(WAYS), help="some of off,turns,bind,both")
    parser.add_argument("--sizes", default="64", help="message sizes; each has runs of its own")
    parser.add_argument("--launches", type=int, default=10, help="blocks of a run at most")
    parser.add_argument("--off-launches", type=int, help="the same of `off`; as many as of the others unless given")
    parser.add_argument("--budget", type=float, default=0.3, help="seconds that a launch measures")
    parser.add_argument("--share", type=float, default=0.05, help="the difference that is planted, of the latency")
    parser.add_argument("--busy", type=int, default=0, help="loops that compute all the while")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, help="folder for the runs and power.json; otherwise they are removed")
    arguments = parser.parse_args(words)
    arguments.off_launches = arguments.off_launches or arguments.launches
    if unknown := set(arguments.ways.split(",")) - set(WAYS):
        parser.error(f"--ways: {', '.join(sorted(unknown))} is none of {', '.join(WAYS)}")
    return arguments


def main() -> None:
    """Print a table."""
    arguments = parsed()
    with tempfile.TemporaryDirectory() as scratch, busy(arguments.busy):
        folder = arguments.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        campaign = Campaign(arguments, folder)
        campaign.go()
        sys.stdout.write(campaign.text())


if __name__ == "__main__":
    main()
