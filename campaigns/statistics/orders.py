"""What the order of launches in blocks does to false leads: drawn for each block, or balanced as `plan/orders.py` does.

python -m campaigns.statistics.orders [--runs 20000]

Runs of equal entries, of which the first two are compared by Student's t as a plan of so many blocks does. "next" turns
every second block round, next to the one that was drawn.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import scipy
from campaigns.statistics.asked import asked
from campaigns.statistics.noises import NOISES, OWN, Floats, Generator, Places

BLOCKS = (3, 4, 5, 8, 16)
ENTRIES = (2, 6)
LATER = 0.1
"""What the last place of a block costs more than the first, a share of the time."""
ERROR_RATE = 0.045
Shape = tuple[int, int, int]


def _later(noise: Generator, shape: Shape) -> Floats:
    return np.asarray(noise.normal(0, OWN, shape) + LATER * np.linspace(0, 1, shape[2]))


def _first(noise: Generator, shape: Shape) -> Floats:
    return np.asarray(noise.normal(0, OWN, shape) + LATER * (np.arange(shape[2]) == 0))


def _state(name: str) -> Callable[[Generator, Shape], Floats]:
    def met(noise: Generator, shape: Shape) -> Floats:
        logs, at = NOISES[name].in_order(noise, (*shape, 1))
        return np.take_along_axis(logs[..., 0], np.argsort(at, axis=2), axis=2)

    return met


MET: dict[str, Callable[[Generator, Shape], Floats]] = {
    "the later, the slower": _later,
    "the first of a block is slower": _first,
    "none": lambda noise, shape: np.asarray(noise.normal(0, 0.1, shape)),
    **{name: _state(name) for name in ("carry-over", "drift", "kept, AR .8", "kept, AR .95")},
}
"""Name to what launches meet in the order of time, (runs, blocks, places)."""
WAYS = {"drawn": (1, 1), "balanced": (4, 2), "next": (2, 1)}
"""Name to how many blocks belong together, and how many of them are drawn."""


def places(noise: Generator, shape: Shape, way: str) -> Places:
    """Return the place of each entry in each block."""
    of, drawn = WAYS[way]
    found = np.argsort(noise.random(shape), axis=2)
    for block in range(shape[1]):
        if block % of >= drawn:
            found[:, block] = shape[2] - 1 - found[:, block - drawn]
    return found


def false_leads(noise: Generator, shape: Shape, name: str, way: str) -> float:
    """Return the share of runs in which the first entry leads the second, or is led by it."""
    at = places(noise, shape, way)
    logs = np.take_along_axis(MET[name](noise, shape), at, axis=2)
    apart = logs[..., 0] - logs[..., 1]
    error = apart.std(axis=1, ddof=1) / math.sqrt(shape[1])
    p_values = 2 * scipy.special.stdtr(shape[1] - 1, -np.abs(apart.mean(axis=1)) / error)
    return float((p_values < ERROR_RATE).mean())


def main() -> None:
    """Print the table."""
    runs, noise = asked(__doc__, runs=20_000)
    sys.stdout.write("| launches meet | entries | " + " | ".join(f"{blocks} blocks" for blocks in BLOCKS) + " |\n")
    sys.stdout.write("|---" * (2 + len(BLOCKS)) + "|\n")
    for name in MET:
        for entries in ENTRIES:
            cells = [
                ", ".join(f"{100 * false_leads(noise, (runs, blocks, entries), name, way):.1f}" for way in WAYS)
                for blocks in BLOCKS
            ]
            sys.stdout.write(f"| {name} | {entries} | " + " | ".join(cells) + " |\n")


if __name__ == "__main__":
    main()
