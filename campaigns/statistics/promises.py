"""Are the promises of docs/statistics.md kept under every noise? Made-up launch values through what a run goes through.

python -m campaigns.statistics.promises [--runs 1000] [TABLE ...]

Tables: values, ratios, equal (runs with any false lead, of one size and of a curve), control, gate, leads (curves that
are equal in part), equivalent, looks. Without one, all. Sizes, blocks and runs are as many as the tables say.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl
from campaigns.statistics.noises import (
    BASE_NS,
    EQUAL_MODES,
    EQUAL_SIDES,
    NOISES,
    Floats,
    Generator,
    Noise,
    true_logs,
    values_of,
)

from fabriscope.analysis.comparing.compared import EQUIVALENT, LEADS, Compared, by_pair
from fabriscope.analysis.comparing.comparisons import KINDS, compared, families
from fabriscope.analysis.comparing.conditions import MET, answers, parse
from fabriscope.analysis.comparing.control import CONTROL, control_of
from fabriscope.analysis.comparing.crossovers import crossovers
from fabriscope.analysis.comparing.judging import Family
from fabriscope.analysis.comparing.ranges import ranges
from fabriscope.analysis.curve import AGAIN
from fabriscope.analysis.numbers.evidence import ANYTIME
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.stopping import ERROR_RATE, Rules

BLOCKS = (3, 4, 5, 8, 16)
CURVE = tuple(2**power for power in range(3, 11))
LONG = tuple(2**power for power in range(21))
EQUAL_TO_BYTES, BEYOND = 8192, 1.2
PAIR = (("a", "ping_pong", ""), ("b", "ping_pong", ""))
SIX = ("ping_pong", "bandwidth", "bidirectional_bandwidth", "allreduce", "bcast", "alltoall")
TWELVE = 12
LOOKS = 16
FIXED = Rules()
UNTIL = Rules(ANYTIME, error_rate=ERROR_RATE)


def per_run(rows: list[Compared]) -> list[list[Compared]]:
    """Return the comparisons of each made-up run."""
    return parts(rows, lambda row: row.pair.left_curve.series)


def pairs(logs: Floats, sizes: tuple[int, ...], rules: Rules = FIXED) -> list[list[Compared]]:
    """Return what came of two entries, for each made-up run."""
    return per_run(compared(values_of(logs, sizes, PAIR), KINDS["fabric"], rules))


def has_lead(rows: list[Compared]) -> bool:
    """Return whether one is said to lead anywhere."""
    return any(row.verdict in LEADS for row in rows)


def values_cover(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    """Return the share of intervals of one value that hold its median launch."""
    truth = BASE_NS * np.exp(true_logs(noise.name)[0])
    side = 1 if noise.name not in EQUAL_SIDES else 0
    logs, places = noise.in_order(generator, (runs, blocks, 2, 1))
    frame = estimates_of(values_of(logs, (8,), PAIR, places))
    frame = frame.filter(pl.col("fabric") == PAIR[side][0])
    return frame.filter(pl.lit(float(truth[side])).is_between("low", "high")).height / runs


def ratios_cover(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    """Return the share of intervals of a ratio that hold the geometric mean of ever more blocks."""
    truth = math.exp(true_logs(noise.name)[1])
    rows = [row for of_run in pairs(noise.logs(generator, (runs, blocks, 2, 1)), (8,)) for row in of_run]
    return sum(row.low is not None and row.high is not None and row.low <= truth <= row.high for row in rows) / runs


def false_leads(noise: Noise, generator: Generator, runs: int, blocks: int, sizes: tuple[int, ...]) -> float:
    """Return the share of runs of equal sides in which one is said to lead at any size."""
    logs = noise.logs(generator, (runs, blocks, 2, len(sizes)))
    return sum(map(has_lead, pairs(logs, sizes))) / runs


def false_alarms(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    """Return the share of runs in which the control over six benchmarks fails."""
    one = noise.logs(generator, (runs, blocks, 2, len(SIX) * 3)).reshape(runs, blocks, 2, len(SIX), 3)
    logs = one.reshape(runs, blocks, 2 * len(SIX), 3)
    entries = tuple(("a", name, twin) for twin in ("", AGAIN) for name in SIX)
    rows = judged_control(values_of(logs, (8, 64, 1024), entries))
    controls = [control_of(of_run) for of_run in rows]
    return sum(one is not None and one.is_failed for one in controls) / runs


def judged_control(values: pl.DataFrame) -> list[list[Compared]]:
    """Return the comparisons of the control, each made-up run by itself."""
    return [compared(part, KINDS[CONTROL]) for part in values.partition_by("series", maintain_order=True)]


def gate_fails(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    """Return the share of runs of equal sides in which `--fail-if different` is met, over twelve pairs of curves."""
    logs = noise.logs(generator, (runs * TWELVE, blocks, 2, 3))
    found = families(values_of(logs, (8, 64, 1024), PAIR), KINDS["fabric"])
    gates = parts(found, lambda one: int(one.pair.left_curve.series) // TWELVE)
    return sum(gate_is_met(gate) for gate in gates) / runs


def gate_is_met(gate: list[Family]) -> bool:
    """Return whether a gate over these pairs fails."""
    told = answers([parse("different")], [(one, one.rows(FIXED)) for one in gate], FIXED)
    return any(MET in of_pair for one in told for of_pair in one.values())


def in_part(noise: Noise, generator: Generator, runs: int, blocks: int) -> tuple[float, float]:
    """Return the shares of runs with a lead at a size that is equal, and with an invented crossover.

    Curves are equal up to 8 KiB, and 20 % apart beyond.
    """
    logs = noise.logs(generator, (runs, blocks, 2, len(LONG)))
    logs[:, :, 1] += math.log(BEYOND) * (np.array(LONG) > EQUAL_TO_BYTES)
    found = pairs(logs, LONG)
    leads = sum(has_lead([row for row in rows if row.message_size_bytes <= EQUAL_TO_BYTES]) for rows in found)
    crossed = sum(any(crossovers(one) for one in by_pair(ranges(rows))) for rows in found)
    return leads / runs, crossed / runs


def said_equivalent(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    """Return the share of runs that call the sides equivalent."""
    found = pairs(noise.logs(generator, (runs, blocks, 2, 1)), (8,))
    return sum(rows[0].verdict == EQUIVALENT for rows in found) / runs


def looked_at(noise: Noise, generator: Generator, runs: int, sizes: tuple[int, ...]) -> float:
    """Return the share of runs of equal sides with a lead at any look, after each of 3 to 16 blocks."""
    logs = noise.logs(generator, (runs, LOOKS, 2, len(sizes)))
    told = np.zeros(runs, dtype=bool)
    for blocks in range(3, LOOKS + 1):
        told |= [has_lead(rows) for rows in pairs(logs[:, :blocks], sizes, UNTIL)]
    return float(told.mean())


Cell = Callable[[Noise, Generator, int, int], float]


def by_blocks(cell: Cell, names: tuple[str, ...], runs: int, seed: int) -> Iterator[str]:
    """Yield the lines of a table: a noise each, a number of blocks in each column."""
    yield "| noise | " + " | ".join(f"{blocks} blocks" for blocks in BLOCKS) + " |"
    yield "|---" * (1 + len(BLOCKS)) + "|"
    for name in names:
        noise = NOISES.get(name, EQUAL_MODES)
        cells = [cell(noise, np.random.default_rng(seed), runs, blocks) for blocks in BLOCKS]
        yield f"| {name} | " + " | ".join(f"{one:.1%}" for one in cells) + " |"


def _leads(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    return in_part(noise, generator, runs, blocks)[0]


def _crossovers(noise: Noise, generator: Generator, runs: int, blocks: int) -> float:
    return in_part(noise, generator, runs, blocks)[1]


SOME = ("lognormal 10 %", "sizes alike", "two modes", "one in ten twice", "kept, AR .95", "clock of 5 %")
PARTLY = ("lognormal 10 %", "sizes alike", "two modes", "one in ten twice")
TABLES: dict[str, list[tuple[str, Cell, tuple[str, ...]]]] = {
    "values": [("Intervals of one value that cover", values_cover, tuple(NOISES))],
    "ratios": [("Intervals of a ratio that cover", ratios_cover, tuple(NOISES))],
    "equal": [
        ("Runs with a false lead, one size", partial(false_leads, sizes=(8,)), EQUAL_SIDES),
        ("Runs with a false lead, a curve of eight sizes", partial(false_leads, sizes=CURVE), EQUAL_SIDES),
    ],
    "control": [("Runs whose control over six benchmarks fails", false_alarms, SOME)],
    "gate": [("Runs that fail a gate over twelve pairs", gate_fails, (*SOME, EQUAL_MODES.name))],
    "leads": [
        ("Runs with a lead at a size that is equal", _leads, PARTLY),
        ("Runs with an invented crossover", _crossovers, PARTLY),
    ],
    "equivalent": [("Runs that say equivalent", said_equivalent, ("one side slow launches", "one side heavy-tailed"))],
}


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("tables", nargs="*", metavar="TABLE")
    asked = parser.parse_args()
    unknown = [name for name in asked.tables if name not in (*TABLES, "looks")]
    if unknown or asked.runs < 1:
        parser.error(f"there is no table {unknown[0]}" if unknown else "--runs: at least 1")
    for name, tables in TABLES.items():
        for title, cell, names in tables if not asked.tables or name in asked.tables else ():
            sys.stdout.write(f"\n{title}\n\n")
            for line in by_blocks(cell, names, asked.runs, asked.seed):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
    if not asked.tables or "looks" in asked.tables:
        sys.stdout.write(
            "\nRuns with a false lead at any look, until decided\n\n| noise | one size | a curve |\n|---|---|---|\n"
        )
        for name in SOME:
            cells = [
                looked_at(NOISES[name], np.random.default_rng(asked.seed), asked.runs, one) for one in ((8,), CURVE)
            ]
            sys.stdout.write(f"| {name} | " + " | ".join(f"{one:.1%}" for one in cells) + " |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
