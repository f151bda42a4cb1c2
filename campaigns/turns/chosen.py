"""What does a run gain that chooses its number of blocks? `launches: auto` against five launches in like time.

python -m campaigns.turns.chosen [--rounds 8] [--seconds 30] [--output FOLDER]

Two Gigabit Ethernets of the lab over TCP, one with 15 us more delay, each way once in every round, in turn. The five
launches measure for as long as `--other-seconds` says: their starts come on top, which `launches: auto` counts. For
each size it prints half of the ratio's 95 % interval, the median over the runs, and how long launches took.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
from campaigns.turns.runs import load, measured

from fabriscope.analysis.results import Results
from fabriscope.running.block_planner import took_ns

PLAN: dict[str, Any] = {
    "hosts": "node[1-2]",
    "fabrics": {"near": {"lab": "gige"}, "far": {"lab": {"preset": "gige", "delay": "20us"}}},
    "layers": ["tcp"],
    "benchmarks": {"ping_pong": {"sizes": [1, 64, 1024, 16384]}},
    "floor": False,
}


def halves(frame: pl.DataFrame) -> dict[int, float]:
    """Return message size to half of the interval of the two fabrics' ratio, as a logarithm."""
    of_fabrics = frame.filter((pl.col("kind") == "fabric") & pl.col("low").is_not_null())
    rows = of_fabrics.select("message_size_bytes", "low", "high").iter_rows()
    return {size: math.log(high / low) / 2 for size, low, high in rows if low > 0}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30.0, help="of a run that chooses, in all")
    parser.add_argument("--other-seconds", type=float, default=25.5, help="of measuring, of a run of five launches")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    ways = {
        "auto": {"launches": "auto", "budget": arguments.seconds},
        "five": {"launches": 5, "budget": arguments.other_seconds},
    }
    widths: dict[tuple[str, int], list[float]] = defaultdict(list)
    times_s, blocks = defaultdict(list), defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.output or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(arguments.rounds):
            for way in list(ways)[:: -1 if number % 2 else 1]:
                run = measured({**PLAN, **ways[way]}, folder, f"r{number}-{way}")
                times_s[way].append(took_ns(run.journal) / 1e9)
                blocks[way].append(max(record.block for record in run.journal))
                for size, half in halves(Results(run).comparisons).items():
                    widths[way, size].append(half)
                sys.stderr.write(f"{number} {way}: {blocks[way][-1]} blocks, {times_s[way][-1]:.1f} s, load {load()}\n")
    for way in ways:
        took = f"{statistics.fmean(times_s[way]):.1f} s in launches, mean"
        sys.stdout.write(f"{way}: {min(blocks[way])} to {max(blocks[way])} blocks, {took}\n")
    for (way, size), of_runs in sorted(widths.items(), key=lambda item: (item[0][1], item[0][0])):
        shown = ", ".join(f"{math.expm1(half):.1%}" for half in sorted(of_runs))
        sys.stdout.write(f"{size} B, {way}: {math.expm1(statistics.median(of_runs)):.1%} ({shown})\n")


if __name__ == "__main__":
    main()
