"""Does a grade say how far a number can be trusted? Made-up numbers under every noise, by their grades.

python -m campaigns.statistics.grades [--runs 100]

Runs of 3 to 16 blocks and 2, 4 or 6 entries under all noises (noises.py), at a spread of theirs and at a quarter of it.
A number is the first entry's, or the second's where that has the noise; its truth is the median launch of ever more
hours. Grades are by launches alone: what samples, counters and hosts say comes on top, and only lowers a grade.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import polars as pl
from campaigns.statistics.asked import asked
from campaigns.statistics.noises import BASE_NS, EQUAL_SIDES, NOISES, Noise, true_logs, values_of

from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.estimates import Estimate, estimates_of
from fabriscope.analysis.values.kept_state import kept_state
from fabriscope.analysis.values.launch_grades import GRADES, grade_of, of_launches

BLOCKS, ENTRIES, SCALES = (3, 4, 5, 8, 16), (2, 4, 6), (1.0, 0.25)
Outcome = tuple[str, str, bool, float]
"""Noise, grade, whether the interval covers, and the error as a share of the truth."""


def outcomes(
    noise: Noise, generator: np.random.Generator, runs: int, blocks: int, entries: int, scale: float
) -> Iterator[Outcome]:
    """Yield what came of each run; logarithms are `scale` times the noise's."""
    side = 0 if noise.name in EQUAL_SIDES else 1
    truth = BASE_NS * float(np.exp(scale * true_logs(noise.name)[0][side]))
    logs, places = noise.in_order(generator, (runs, blocks, entries, 1))
    names = tuple((chr(ord("a") + place), "ping_pong", "") for place in range(entries))
    order = {launch: (float(launch), str(launch)) for launch in range(1, blocks * entries + 1)}
    for of_run in values_of(scale * logs, (8,), names, places).partition_by("series", maintain_order=True):
        (row,) = rows_of(estimates_of(of_run.filter(pl.col("fabric") == names[side][0])), Estimate)
        grade = grade_of(of_launches(row, kept_state(of_run, order)))
        covers = row.low is not None and row.high is not None and row.low <= truth <= row.high
        yield noise.name, grade, covers, abs(row.value / truth - 1)


def line(name: str, some: list[Outcome], total: int) -> str:
    """Return the row of a table."""
    if not some:
        return f"| {name} | 0 | \N{EN DASH} | \N{EN DASH} | \N{EN DASH} |"
    errors = np.array([error for *_, error in some])
    covers = np.mean([covers for _, _, covers, _ in some])
    return (
        f"| {name} | {len(some)} ({len(some) / total:.0%}) | {covers:.1%} | {np.median(errors):.1%} "
        f"| {np.quantile(errors, 0.95):.1%} |"
    )


def main() -> None:
    """Print a row for each grade, and for grade A one for each noise."""
    runs, generator = asked(__doc__, runs=100)
    found = [
        outcome
        for noise in NOISES.values()
        for blocks in BLOCKS
        for entries in ENTRIES
        for scale in SCALES
        if scale == 1 or not noise.step
        for outcome in outcomes(noise, generator, runs, blocks, entries, scale)
    ]
    head = (
        "numbers | intervals that cover | error, median | error, of one in twenty more than |\n|---|---|---|---|---|\n"
    )
    sys.stdout.write(f"| grade | {head}")
    for grade in GRADES:
        sys.stdout.write(line(grade, [one for one in found if one[1] == grade], len(found)) + "\n")
    sys.stdout.write(f"\n| grade A, by noise | {head}")
    sound = [one for one in found if one[1] == GRADES[0]]
    for name in NOISES:
        sys.stdout.write(line(name, [one for one in sound if one[0] == name], len(sound)) + "\n")


if __name__ == "__main__":
    main()
