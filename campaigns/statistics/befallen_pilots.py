"""What does a run that chooses its number of blocks make of pilots of which something befell one?

python -m campaigns.statistics.befallen_pilots [--runs 2000] [--seed 1]

The made-up runs of chosen_blocks.py, at one size and at eight, with lognormal launches and as much noise inside a pilot
as between launches. In the second pilot something takes a part of the time (three start-ups of a block), and the noise
inside its launches has many times the variance: as seen, and in their values. Both of what pilots say are taken either
as the mean, or as `agreed` does. Widths are set beside those of runs whose pilots nothing befell, by the mean.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from campaigns.statistics.asked import asked
from campaigns.statistics.chosen_blocks import CYCLES, ENTRIES, LEVELS, SIZES, Setting

from fabriscope.analysis.numbers.block_counts import (
    NOISES_APART,
    STARTS_APART,
    agreed,
    freedom_of,
    narrowest,
    pooled,
)
from fabriscope.analysis.numbers.intervals import log_ratio
from fabriscope.model.blocks import MOST_CHOSEN_BLOCKS, PILOT_BLOCKS

TOOK = 3.0
"""Of a befallen pilot, in start-ups of a block."""
TIMES = (1.0, 10.0, 100.0)
"""How many times the variance inside its launches is."""
STARTS = (12.0, 25.0, 100.0)
Rule = Callable[[Sequence[float], float], float]


def _mean(said: Sequence[float], _most_apart: float) -> float:
    return float(np.mean(said))


def run_of(noise: np.random.Generator, setting: Setting, rule: Rule, took: float, times: float) -> tuple[int, float]:
    """Return how many blocks a run makes, and half of its intervals, the mean over its sizes."""
    launches = LEVELS[setting.levels][1](noise, (1, MOST_CHOSEN_BLOCKS, ENTRIES, setting.sizes))[0]
    levels, normal = launches[:, 0] - launches[:, 1], noise.normal(0, 1, (MOST_CHOSEN_BLOCKS, setting.sizes))
    inside = setting.noises.inside
    deviations = inside / math.sqrt(setting.pilot) * np.sqrt([[1.0], [times]])
    pilots = levels[:PILOT_BLOCKS] + normal[:PILOT_BLOCKS] * deviations
    seen = deviations**2 * noise.chisquare(CYCLES, (PILOT_BLOCKS, setting.sizes)) / CYCLES
    of_launches = [rule(list(column), NOISES_APART) for column in seen.T]
    found = pooled(pilots.var(axis=0, ddof=1), of_launches, freedom_of(ENTRIES, setting.sizes), setting.pilot)
    costs = replace(setting.costs, start_s=rule([1.0, 1.0 + took], STARTS_APART), left_s=setting.costs.left_s - took)
    chosen = narrowest(found, costs)
    if chosen is None:
        return PILOT_BLOCKS, math.nan
    later = slice(PILOT_BLOCKS, chosen.blocks)
    logs = np.concatenate([pilots, levels[later] + normal[later] * inside / math.sqrt(chosen.launch_s)])
    return chosen.blocks, float(np.mean([(one.high - one.low) / 2 for one in map(log_ratio, logs.T)]))


def main() -> None:
    """Print a table."""
    runs, noise = asked(__doc__, runs=2000)
    sys.stdout.write(
        "| sizes | time, in start-ups | variance in the befallen pilot | blocks by the mean: median, lowest tenth "
        "| as agreed | width by the mean | as agreed |\n|---|---|---|---|---|---|---|\n"
    )
    for sizes in SIZES:
        for starts in STARTS:
            setting = Setting("lognormal", sizes, starts, 1.0)
            usual = np.nanmean([run_of(noise, setting, _mean, 0.0, 1.0)[1] for _ in range(runs)])
            for took, times in ((0.0, 1.0), *((TOOK, times) for times in TIMES)):
                cells: list[list[str]] = [[], []]
                for rule in (_mean, agreed):
                    found = [run_of(noise, setting, rule, took, times) for _ in range(runs)]
                    blocks = [count for count, _ in found]
                    cells[0].append(f"{np.median(blocks):.0f}, {np.percentile(blocks, 10):.0f}")
                    cells[1].append(f"{np.nanmean([half for _, half in found]) / usual:.2f}")
                about = f"{times:g} times" if took else "nothing befell it"
                sys.stdout.write(f"| {sizes} | {starts:.0f} | {about} | {' | '.join([*cells[0], *cells[1]])} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
