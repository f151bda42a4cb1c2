"""Noises that launches have, and made-up launch values under them: the truth behind each is known.

Every noise gives the logarithms of times, (runs, blocks, entries, sizes). The launches of a block follow each other in
a random order, as in a run; what a machine keeps from one launch to the next is kept in that order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl
import scipy
from numpy.typing import NDArray

from fabriscope.analysis.values.clock_steps import with_clock_steps
from fabriscope.analysis.values.kept_state import with_kept_state
from fabriscope.analysis.values.launch_values import SEEN_SCHEMA

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Shape = tuple[int, int, int, int]
Generator = np.random.Generator
LARGE = (200_000, 1, 2, 1)
"""Launches from which the truth is taken."""
BASE_NS = 20_000.0
OWN = 0.02


@dataclass(frozen=True)
class Noise:
    """A noise, and what is special about it."""

    name: str
    own: Callable[[Generator, Shape], Floats]
    """Of each launch."""
    step: float = 0.0
    """The step of the clock, as a share of the time; the truth is what a clock without steps would have shown."""
    state: Callable[[Generator, Shape], Floats] | None = None
    """What the launches of each run meet in the order of time, (runs, launches)."""

    def logs(self, noise: Generator, shape: Shape) -> Floats:
        """Return made-up logarithms."""
        return self.in_order(noise, shape)[0]

    def in_order(self, noise: Generator, shape: Shape) -> tuple[Floats, Places]:
        """Return made-up logarithms, and at which place of its block each launch was made, (runs, blocks, entries)."""
        if self.state is None:
            places = np.argsort(noise.spawn(1)[0].random(shape[:3]), axis=2)
            return self.own(noise, shape), places
        state = self.state(noise, shape)
        places = np.argsort(noise.random(shape[:3]), axis=2)
        met = np.take_along_axis(state.reshape(shape[:3]), places, axis=2)[..., None]
        return np.asarray(met + self.own(noise, shape)), places


def _normal(noise: Generator, shape: Shape, spread: float = OWN, shared: float = 0.5) -> Floats:
    """Return normal noise; a share of its variance is common to the sizes of a launch."""
    of_launch = noise.normal(0, spread * math.sqrt(shared), (*shape[:3], 1))
    return np.asarray(of_launch + noise.normal(0, spread * math.sqrt(1 - shared), shape))


def _modes(noise: Generator, shape: Shape, share: float, factor: float, spread: float = OWN) -> Floats:
    is_slow = noise.random((*shape[:3], 1)) < share
    return _normal(noise, shape, spread) + math.log(factor) * is_slow


def _persistent(noise: Generator, shape: Shape, kept: float) -> Floats:
    """Return a state of the machine, 10 %, that every launch finds as the one before left it, AR(1), over time."""
    runs, blocks, entries, _ = shape
    steps = noise.normal(0, 0.1 * math.sqrt(1 - kept**2), (runs, blocks * entries))
    steps[:, 0] = noise.normal(0, 0.1, runs)
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -kept], steps, axis=1))


def _heavy_side(noise: Generator, shape: Shape) -> Floats:
    """Return a second entry whose launches have a tail that falls as Student's with two degrees of freedom does."""
    logs = _normal(noise, shape)
    logs[:, :, 1::2] += 0.05 * np.abs(noise.standard_t(2, (*logs[:, :, 1::2].shape[:3], 1)))
    return logs


def _slow_side(noise: Generator, shape: Shape) -> Floats:
    """Return a second entry of whose launches one in ten takes twice the time."""
    logs = _normal(noise, shape)
    logs[:, :, 1::2] += math.log(2) * (noise.random((*logs[:, :, 1::2].shape[:3], 1)) < 0.1)
    return logs


def _levels(noise: Generator, shape: Shape) -> Floats:
    return _normal(noise, shape, 0.01) + 0.03 * noise.integers(0, 5, (*shape[:3], 1))


def _carry_over(noise: Generator, shape: Shape) -> Floats:
    """Return what launches have that leave two fifths of their luck to the next one, over time."""
    runs, blocks, entries, _ = shape
    own = noise.normal(0, 0.1, (runs, blocks * entries))
    own[:, 1:] += 0.4 * own[:, :-1]
    return own


def _drift(noise: Generator, shape: Shape) -> Floats:
    return np.asarray(noise.normal(0, 0.1, (shape[0], 1)) * np.linspace(-0.5, 0.5, shape[1] * shape[2]))


def _coarse(noise: Generator, shape: Shape) -> Floats:
    """Return times of 2 % of noise on a clock that shows steps of 5 %, of which each run meets another part."""
    part = noise.random((shape[0], 1, 1, 1))
    return np.asarray(np.log((np.rint(20 * np.exp(_normal(noise, shape)) + part) - part) / 20))


NOISES = {
    noise.name: noise
    for noise in (
        Noise("lognormal 10 %", lambda noise, shape: _normal(noise, shape, 0.1)),
        Noise("sizes alike", lambda noise, shape: _normal(noise, shape, 0.1, 0.9)),
        Noise("two modes", lambda noise, shape: _modes(noise, shape, 0.3, 1.12)),
        Noise("one in ten twice", lambda noise, shape: _modes(noise, shape, 0.1, 2.0)),
        Noise("five levels", _levels),
        Noise("kept, AR .8", _normal, state=lambda noise, shape: _persistent(noise, shape, 0.8)),
        Noise("kept, AR .95", _normal, state=lambda noise, shape: _persistent(noise, shape, 0.95)),
        Noise("carry-over", _normal, state=_carry_over),
        Noise("drift", _normal, state=_drift),
        Noise("one side slow launches", _slow_side),
        Noise("one side heavy-tailed", _heavy_side),
        Noise("clock of 5 %", _coarse, 0.05),
    )
}
EQUAL_MODES = Noise("equal modes", lambda noise, shape: _modes(noise, shape, 0.5, 1.12, 0.002))
"""Every other launch takes 12 % longer, and there is little noise besides: among the tables' noises by name alone."""
EQUAL_SIDES = tuple(name for name in NOISES if not name.startswith("one side"))


@cache
def true_logs(name: str) -> tuple[Floats, float]:
    """Return of each entry the median of the logarithm, and the mean of the ratio's, first over second."""
    noise = NOISES[name]
    if noise.step:  # without steps, the noise is symmetric
        return np.zeros(LARGE[2]), 0.0
    logs = noise.logs(np.random.default_rng(0), LARGE)[:, 0, :, 0]
    return np.median(logs, axis=0), float((logs[:, 1] - logs[:, 0]).mean())


def values_of(
    logs: Floats, sizes: tuple[int, ...], entries: tuple[tuple[str, str, str], ...], places: Places | None = None
) -> pl.DataFrame:
    """Return launch values, VALUE_SCHEMA, in which every made-up run has a series of its own, "0", "1" and so on.

    Each run has its own clock, whose step is looked for in that run alone, and its own machine, whose state is looked
    for in the order in which the launches were made.

    `entries` are each a fabric, a benchmark and the twin's mark; `places` those of the launches in their blocks, by
    default the entries' own.
    """
    runs, blocks, entry_count, _ = logs.shape
    run, block, entry, size = (grid.ravel() for grid in np.meshgrid(*map(np.arange, logs.shape), indexing="ij"))
    names = {
        "series": pl.Series(map(str, range(runs))).gather(run),
        "entry_id": pl.Series(map(str, range(entry_count))).gather(entry),
        **{
            name: pl.Series([one[place] for one in entries]).gather(entry)
            for place, name in enumerate(("fabric", "benchmark", "twin"))
        },
        "case_id": pl.Series(map(str, range(logs.size // blocks))).gather(
            (run * len(entries) + entry) * len(sizes) + size
        ),
    }
    numbers = {
        "launch_id": block * entry_count + (entry if places is None else places[run, block, entry]) + 1,
        "block": block + 1,
        "message_size_bytes": np.array(sizes)[size],
        "value": BASE_NS * np.exp(logs.ravel()),
    }
    fixed = {
        "placement": "inter", "layer": "tcp", "mpi": None, "instrument": "engine", "ranks": "",
        "rank_count": 2, "window_size": 1, "socket": "", "metric_id": "latency_ns", "limit": None,
        "impossible": False, "sample_count": 100, "burst_count": 10, "round": 0,
    }  # fmt: skip
    frame = pl.DataFrame({**names, **numbers}).with_columns(pl.lit(value).alias(name) for name, value in fixed.items())
    seen = frame.select(pl.col(name).cast(kind) for name, kind in SEEN_SCHEMA.items())
    order = {launch: (float(launch), str(launch)) for launch in range(1, blocks * entry_count + 1)}
    of_runs = seen.partition_by("series", maintain_order=True)
    return pl.concat(with_kept_state(with_clock_steps(of_run), order) for of_run in of_runs)
