"""What does it take to see a true difference of 5 % under 10 % of launch noise?

python -m campaigns.statistics.power [--runs 1000]

Two ways at the same error rate of 5 %: the papers' way (runs of A, then runs of B, their averages compared by a
two-sample t test) and ours (A and B in every block, log ratios, an anytime-valid verdict that ends the run). Machine
time is counted in launches of both together. `shared` is how much of the launch noise's variance the two launches of a
block have in common: what the machine is going through at the time.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from campaigns.statistics.asked import asked
from scipy.stats import nct, t

from fabriscope.analysis.numbers.evidence import ANYTIME, half_width

TRUE_RATIO, NOISE, ERROR, POWER = 1.05, 0.10, 0.05, 0.9
SHARED = (0.0, 0.5, 0.8, 0.9, 0.95)
MOST_BLOCKS = 1000
PAPERS_RUNS = 10


def papers_power(runs: int) -> float:
    """Return the chance that the two-sample t test tells the difference after a number of runs of each."""
    freedom = 2 * runs - 2
    shift = math.log(TRUE_RATIO) / (NOISE * math.sqrt(2 / runs))
    edge = t.ppf(1 - ERROR / 2, freedom)
    return float(nct.sf(edge, freedom, shift) + nct.cdf(-edge, freedom, shift))


def blocks_until_decided(noise: np.random.Generator, runs: int, shared: float) -> tuple[np.ndarray, int]:
    """Return after how many blocks each run was decided (MOST_BLOCKS if it was not), and how many decided wrongly."""
    spread = NOISE * math.sqrt(2 * (1 - shared))
    logs = math.log(TRUE_RATIO) + noise.normal(0, spread, (runs, MOST_BLOCKS))
    counts = np.arange(1, MOST_BLOCKS + 1)
    means = np.cumsum(logs, axis=1) / counts
    squares = np.maximum(np.cumsum(logs**2, axis=1) - counts * means**2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spreads = np.sqrt(squares / (counts - 1))
    halves = np.array([half_width(int(count), 1.0, ANYTIME) for count in counts]) * spreads
    edge = math.log1p(0.03)
    equivalent = np.abs(means) + halves < edge
    different = np.abs(means) > halves
    decided = (different | equivalent)[:, 1:]
    first = np.where(decided.any(axis=1), decided.argmax(axis=1) + 1, MOST_BLOCKS - 1)
    rows = np.arange(runs)
    wrong = decided[rows, first - 1] & (equivalent[rows, first] | (means[rows, first] < 0))
    return first + 1, int(wrong.sum())


def main() -> None:
    """Print a table: launches that are needed, ours and the papers' way."""
    run_count, noise = asked(__doc__)
    needed = next(runs for runs in range(2, MOST_BLOCKS) if papers_power(runs) >= POWER)
    sys.stdout.write(
        f"The papers' way: {PAPERS_RUNS} runs of each see it in {papers_power(PAPERS_RUNS):.0%}; "
        f"{POWER:.0%} take {needed} runs of each.\n\n"
        "| shared | blocks, mean | blocks for 90 % | of the papers' machine time, mean | for 90 % "
        "| decided in 10 blocks | wrong |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    for shared in SHARED:
        blocks, wrong = blocks_until_decided(noise, run_count, shared)
        most = float(np.quantile(blocks, POWER, method="higher"))
        sys.stdout.write(
            f"| {shared:.0%} | {blocks.mean():.0f} | {most:.0f} | {blocks.mean() / needed:.0%} | {most / needed:.0%} "
            f"| {np.mean(blocks <= PAPERS_RUNS):.0%} | {wrong / run_count:.1%} |\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
