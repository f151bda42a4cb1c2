"""Writes the table of the group-sequential t: how rare it is, by chance, that any look goes as far as one did.

python -m campaigns.statistics.boundaries [--runs 400000]    # some minutes; writes analysis/numbers/boundaries.csv

Student's t of values without a difference is the same sequence whatever their mean and variance, so that one table for
each number of looks holds for all data. Each made-up run has HORIZON values; from the third on somebody looks. A look's
p-value (one-sided) is divided by its weight, its share of all values; the table has quantiles of the least of a run.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from campaigns.statistics.asked import asked
from numpy.typing import NDArray
from scipy.special import stdtr

from fabriscope.analysis import numbers
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS

HORIZONS = (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100, 130, 160, 200, 300, 500, 1000)
CHANCES = (0.5, 0.25, 0.1, 0.05, 0.025, 0.0125, 0.006, 0.003, 0.0015, 0.0007, 0.00035)
MOST_NUMBERS = 4_000_000
"""Of one part of the runs: what fits into memory many times over."""
LONG = 100
"""Of more looks a part of the runs is made: the quantiles hardly differ from one horizon to the next."""
TABLE = Path(numbers.__file__ or "").with_name("boundaries.csv")


def least_weighted(noise: np.random.Generator, runs: int, horizon: int) -> NDArray[np.float64]:
    """Return the least of p-value over weight of each run, (runs,)."""
    counts = np.arange(1, horizon + 1)
    found = []
    for begin in range(0, runs, part := max(1, MOST_NUMBERS // horizon)):
        logs = noise.normal(size=(min(part, runs - begin), horizon))
        sums, squares = np.cumsum(logs, axis=1), np.cumsum(logs**2, axis=1)
        means = sums[:, LEAST_BLOCKS - 1 :] / counts[LEAST_BLOCKS - 1 :]
        rests = squares[:, LEAST_BLOCKS - 1 :] - counts[LEAST_BLOCKS - 1 :] * means**2
        looks = counts[LEAST_BLOCKS - 1 :]
        values = means * np.sqrt(looks * (looks - 1) / np.maximum(rests, 1e-300))
        found.append((stdtr(looks - 1.0, -values) / (looks / horizon)).min(axis=1))
    return np.concatenate(found)


def main() -> None:
    """Write the table."""
    run_count, noise = asked(__doc__, runs=400_000)
    lines = [["looks", *CHANCES]]
    for horizon in HORIZONS:
        runs = run_count if horizon <= LONG else run_count * LONG // horizon
        least = least_weighted(noise, runs, horizon)
        # Of three values there is one look, whose p-value is the chance itself.
        quantiles = np.quantile(least, CHANCES) if horizon > LEAST_BLOCKS else CHANCES
        lines.append([horizon, *(f"{value:.4g}" for value in quantiles)])
        sys.stdout.write(f"{lines[-1]}\n")
        sys.stdout.flush()
    TABLE.write_text("".join(f"{','.join(map(str, line))}\n" for line in lines))


if __name__ == "__main__":
    main()
