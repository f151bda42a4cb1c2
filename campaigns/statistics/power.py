"""What does it take to see a true difference of 5 % under 10 % of launch noise?

python -m campaigns.statistics.power [--runs 1000]

Two ways at the same error rate of 5 %: the papers' way (runs of A, then runs of B, their averages compared by a
two-sample t test) and ours (A and B in every block, log ratios, a group-sequential t that ends the run). Machine
time is counted in launches of both together. `shared` is how much of the launch noise's variance the two launches of a
block have in common: what the machine is going through at the time.
"""

from __future__ import annotations

import bisect
import math
import sys

import numpy as np
from campaigns.statistics.asked import asked
from scipy.stats import nct, t

from fabriscope.analysis.numbers.evidence import SEQUENTIAL, half_width

TRUE_RATIO, NOISE, ERROR, POWER = 1.05, 0.10, 0.05, 0.9
SHARED = (0.0, 0.5, 0.8, 0.9, 0.95)
MARGIN = 0.03
HORIZONS = (20, 50, 130)
MOST_BLOCKS = 1000
PAPERS_RUNS = 10


def papers_power(runs: int) -> float:
    """Return the chance that the two-sample t test tells the difference after a number of runs of each."""
    freedom = 2 * runs - 2
    shift = math.log(TRUE_RATIO) / (NOISE * math.sqrt(2 / runs))
    edge = t.ppf(1 - ERROR / 2, freedom)
    return float(nct.sf(edge, freedom, shift) + nct.cdf(-edge, freedom, shift))


def blocks_for_power(effect: float) -> int:
    """Return how many blocks a plan needs that is looked at once, at its end, by the paired t test.

    `effect` is the true log ratio over the standard deviation of a block's; raises ValueError unless it is positive.
    """
    if not effect > 0:
        raise ValueError(f"no number of blocks tells an effect of {effect:g}")

    def suffices(count: int) -> bool:
        edge = t.ppf(1 - ERROR / 2, count - 1)
        return bool(nct.sf(edge, count - 1, effect * math.sqrt(count)) >= POWER)

    most = 2
    while not suffices(most):
        most *= 2
    return 2 + bisect.bisect_left(range(2, most), True, key=suffices)


def fixed_blocks(shared: float) -> int:
    """Return the same for launches that share so much of their noise's variance."""
    return blocks_for_power(math.log(TRUE_RATIO) / (NOISE * math.sqrt(2 * (1 - shared))))


def blocks_until_decided(noise: np.random.Generator, runs: int, shared: float, most: int) -> tuple[np.ndarray, int]:
    """Return after how many of at most `most` blocks each run was decided (NaN if it was not), and how many wrongly."""
    spread = NOISE * math.sqrt(2 * (1 - shared))
    logs = math.log(TRUE_RATIO) + noise.normal(0, spread, (runs, most))
    counts = np.arange(1, most + 1)
    means = np.cumsum(logs, axis=1) / counts
    squares = np.maximum(np.cumsum(logs**2, axis=1) - counts * means**2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spreads = np.sqrt(squares / (counts - 1))
    # Two one-sided tests for "equivalent", each at 5 %: half of an interval of 90 %.
    halves, inner = (
        np.array([half_width(int(count), 1.0, SEQUENTIAL, confidence, most) for count in counts]) * spreads
        for confidence in (1 - ERROR, 1 - 2 * ERROR)
    )
    with np.errstate(invalid="ignore"):
        equivalent = np.abs(means) + inner < math.log1p(MARGIN)
        different = np.abs(means) > halves
    decided = different | equivalent
    first = decided.argmax(axis=1)
    rows = np.arange(runs)
    wrong = decided[rows, first] & (equivalent[rows, first] | (means[rows, first] < 0))
    return np.where(decided.any(axis=1), first + 1, np.nan), int(wrong.sum())


def least_launches(noise: np.random.Generator, runs: int, shared: float) -> int:
    """Return the least `launches` of a plan with `until: decided` of which 90 % of the runs are decided rightly."""

    def suffices(most: int) -> bool:
        blocks, wrong = blocks_until_decided(noise, runs, shared, most)
        return bool(np.count_nonzero(~np.isnan(blocks)) - wrong >= POWER * runs)

    fixed = fixed_blocks(shared)
    return fixed + bisect.bisect_left(range(fixed, 2 * fixed), True, key=suffices)


def main() -> None:
    """Print two tables: launches that are needed, ours and the papers' way, and what a plan has to allow."""
    run_count, noise = asked(__doc__)
    needed = next(runs for runs in range(2, MOST_BLOCKS) if papers_power(runs) >= POWER)
    sys.stdout.write(
        f"The papers' way: {PAPERS_RUNS} runs of each see it in {papers_power(PAPERS_RUNS):.0%}; "
        f"{POWER:.0%} take {needed} runs of each.\n\n"
        "| shared | a fixed plan for 90 % | at most | decided | blocks, mean | of the fixed plan | blocks for 90 % "
        "| of the fixed plan | of the papers' machine time, mean | wrong |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n"
    )
    for shared in SHARED:
        fixed = fixed_blocks(shared)
        for most in HORIZONS:
            blocks, wrong = blocks_until_decided(noise, run_count, shared, most)
            mean = np.where(np.isnan(blocks), most, blocks).mean()
            share = float(np.mean(~np.isnan(blocks)))
            late = float(np.quantile(np.where(np.isnan(blocks), most, blocks), POWER, method="higher"))
            for_most = (f"{late:.0f}", f"{late / fixed:.2f}") if share >= POWER else ("\N{EN DASH}", "\N{EN DASH}")
            sys.stdout.write(
                f"| {shared:.0%} | {fixed} | {most} | {share:.0%} | {mean:.0f} | {mean / fixed:.2f} | {for_most[0]} "
                f"| {for_most[1]} | {mean / needed:.0%} | {wrong / run_count:.1%} |\n"
            )
            sys.stdout.flush()
    sys.stdout.write(
        "\n| shared | a fixed plan for 90 % | the least `launches` for 90 %, until decided | of the fixed plan "
        "| blocks, mean | of the fixed plan |\n|---|---|---|---|---|---|\n"
    )
    for shared in SHARED:
        fixed, least = fixed_blocks(shared), least_launches(noise, run_count, shared)
        blocks, _ = blocks_until_decided(noise, run_count, shared, least)
        mean = np.where(np.isnan(blocks), least, blocks).mean()
        sys.stdout.write(
            f"| {shared:.0%} | {fixed} | {least} | {least / fixed:.2f} | {mean:.0f} | {mean / fixed:.2f} |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
