"""Do ratios from neighbouring turns keep what is promised of intervals, and what do they gain? Made-up groups.

python -m campaigns.statistics.in_turns [--runs 1000] [--seed 1]

Three entries take turns in cycles of random order: two that are compared, whose times differ by 5 %, and a third one
that leaves the cache cold. A case is measured in one cycle of two, of each entry in others. Launches have 1 % of their
own, blocks 10 %, bursts 2 %.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from campaigns.statistics.asked import asked
from numpy.typing import NDArray

from fabriscope.analysis.numbers.intervals import log_ratio
from fabriscope.analysis.numbers.neighbours import Series, gained

BLOCKS = (3, 5, 10, 16)
CYCLES, VISITS, MEMBERS = 60, 0.5, 3
TRUTH = math.log(1.05)
OF_LAUNCH, OF_BLOCK, OF_BURST = 0.01, 0.1, 0.02
BASE_NS = 20_000.0

Floats = NDArray[np.float64]
Generator = np.random.Generator
Machine = Callable[[Generator, NDArray[np.int64]], Floats]
"""From the place of every member in every cycle, (CYCLES, MEMBERS), to what its turn has of the machine, in logs."""


def _levels(noise: Generator, places: NDArray[np.int64]) -> Floats:
    """Return levels 20 % apart, each of which lasts for four cycles on average."""
    changes = noise.random(places.size) < 1 / (4 * MEMBERS)
    level = 0.2 * noise.integers(0, 3, places.size)[np.maximum.accumulate(np.where(changes, np.arange(places.size), 0))]
    return np.asarray(np.take_along_axis(level.reshape(places.shape), places, axis=1))


def _drift(noise: Generator, places: NDArray[np.int64]) -> Floats:
    instants = np.arange(CYCLES)[:, None] + places / MEMBERS
    return np.asarray(noise.normal(0, 0.2) * instants / CYCLES)


def _carry_over(_: Generator, places: NDArray[np.int64]) -> Floats:
    """Return 10 % more for a turn that follows the third member's."""
    follows = places == (places[:, MEMBERS - 1 :] + 1)
    follows[1:] |= (places[1:] == 0) & (places[:-1, MEMBERS - 1 :] == MEMBERS - 1)
    return np.asarray(0.1 * follows)


def _stalls(noise: Generator, places: NDArray[np.int64]) -> Floats:
    """Return turns of which one in a hundred takes five times as long."""
    return np.asarray(math.log(5) * (noise.random(places.shape) < 0.01))


def _busy(noise: Generator, places: NDArray[np.int64]) -> Floats:
    """Return turns of which one in three is disturbed by others, and takes up to three times as long."""
    return np.asarray(math.log(3) * noise.random(places.shape) * (noise.random(places.shape) < 1 / 3))


MACHINES: dict[str, Machine] = {
    "quiet": lambda _, places: np.zeros(places.shape),
    "levels 20 % apart": _levels,
    "drift": _drift,
    "carry-over": _carry_over,
    "levels and carry-over": lambda noise, places: _levels(noise, places) + _carry_over(noise, places),
    "stalls": _stalls,
    "busy": _busy,
}


def series(noise: Generator, logs: Floats) -> Series:
    """Return what one launch has of its turns' logarithms, (CYCLES,), in the cycles that it was measured in."""
    cycles = np.flatnonzero(noise.random(CYCLES) < VISITS)
    times = logs[cycles] + noise.normal(0, OF_BURST, len(cycles))
    means = BASE_NS * np.exp(times)
    return Series(cycles, times + math.log(BASE_NS), means, float(np.median(times)), float(np.log(means.mean())))


def block_of(noise: Generator, machine: Machine) -> tuple[Series, Series]:
    """Return both launches of a block."""
    places = np.argsort(noise.random((CYCLES, MEMBERS)), axis=1)
    of_machine = machine(noise, places) + noise.normal(0, OF_BLOCK)
    left, right = (of_machine[:, member] + noise.normal(0, OF_LAUNCH) for member in (0, 1))
    return series(noise, left + TRUTH), series(noise, right)


def ratios(noise: Generator, machine: Machine, blocks: int, *, of_means: bool) -> tuple[Floats, Floats]:
    """Return the log ratios of a run's blocks: of neighbouring turns, and of the launches."""
    both = [block_of(noise, machine) for _ in range(blocks)]
    if of_means:
        apart = np.array([left.mean_log - right.mean_log for left, right in both])
    else:
        apart = np.array([left.median_log - right.median_log for left, right in both])
    return apart + np.array([gained(*pair, of_means=of_means) for pair in both]), apart


def covered(
    noise: Generator, machine: Machine, runs: int, blocks: int, *, of_means: bool
) -> tuple[float, float, float]:
    """Return the share of intervals that hold the truth, of turns and of launches, and the ratio of their widths."""
    counts, widths = [0, 0], [0.0, 0.0]
    for _ in range(runs):
        for way, values in enumerate(ratios(noise, machine, blocks, of_means=of_means)):
            found = log_ratio(values)
            counts[way] += bool(found.low <= TRUTH <= found.high)
            widths[way] += found.high - found.low
    return counts[0] / runs, counts[1] / runs, widths[0] / widths[1]


def main() -> None:
    """Print a table for times and one for rates."""
    runs, noise = asked(__doc__)
    for name, of_means in (("times", False), ("rates", True)):
        sys.stdout.write(f"{name}: intervals that hold the truth, turns (launches), width\n\n")
        sys.stdout.write(
            "| machine | " + " | ".join(f"{blocks} blocks" for blocks in BLOCKS) + " |\n|---|" + "---|" * 4
        )
        for label, machine in MACHINES.items():
            cells = [covered(noise, machine, runs, blocks, of_means=of_means) for blocks in BLOCKS]
            texts = [f"{turns:.1%} ({launches:.1%}), {width:.2f}" for turns, launches, width in cells]
            sys.stdout.write(f"\n| {label} | " + " | ".join(texts) + " |")
            sys.stdout.flush()
        sys.stdout.write("\n\n")


if __name__ == "__main__":
    main()
