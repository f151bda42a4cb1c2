"""How many blocks make an interval narrowest in a time: more blocks that start anew, or longer launches in fewer.

A block's log ratio has two noises: `between`, by which launches differ however long they measure, and `inside`, which
falls as measuring goes on. Every block costs its start-up, so that of a time T the n blocks leave T - n S to measure:

    half width = t(n - 1) E[s] / sqrt(n),   s^2 = between^2 + inside^2 / B,   n (S + entries B) = T

The two noises are told by pilots: what two blocks differ by is of both, what a launch's bursts differ by of the second.
One difference is one degree of freedom, by which the ratio of the two is hardly known, so that it is drawn towards one
that suits most machines (`pooled`); a wrong number of blocks makes an interval wider, and never false.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabriscope.analysis.numbers.evidence import Floats, half_width
from fabriscope.model.blocks import LEAST_BLOCKS, MOST_CHOSEN_BLOCKS, PILOT_BLOCKS

PRIOR_RATIO, PRIOR_FREEDOM = 5.0, 2.0
"""What the variance of a pilot block is taken to be, in those inside its launches, as if that many differences said so:
launches that differ by twice of what their bursts leave open."""
MOST_RATIO = 50.0
"""Of one comparison: where launches measure long enough to be nothing but their own level, more says no more."""
STARTS_APART, NOISES_APART = 2.0, 4.0
"""Where one pilot says so many times as much of a start-up, or of a variance inside launches, as the other, something
befell it, and the other counts."""
SHARED = 0.25
"""By how much squares of two sizes of a launch are alike, where half of their variance is the launch's own."""


@dataclass(frozen=True)
class Noises:
    """Standard deviations of a block's log ratio."""

    between: float
    """What launches differ by, however long they measure."""
    inside: float
    """What is left of the noise inside launches after a second of measuring; it falls with the root of the time."""

    def of_block(self, launch_s: float) -> float:
        """Return the variance of a block whose launches measure for a time."""
        return self.between**2 + self.inside**2 / launch_s


@dataclass(frozen=True)
class Costs:
    """What blocks cost, in seconds; the pilots are over."""

    start_s: float
    """Of a block beside measuring."""
    least_s: tuple[float, ...]
    """What each launch of a block measures at least."""
    pilot_s: float
    """For how long a pilot's launches measured."""
    left_s: float
    """What is left for further blocks."""

    def launch_s(self, blocks: int) -> float | None:
        """Return how long the launches of as many further blocks measure; None where there is no time for them.

        A launch that needs longer has what it needs, and what others get is what that leaves.
        """
        measuring_s = self.left_s / blocks - self.start_s
        rising = sorted(self.least_s)
        for count in range(len(rising), 0, -1):
            length_s = (measuring_s - sum(rising[count:])) / count
            if length_s >= rising[count - 1]:
                return length_s
        return None

    def most_blocks(self, most: int) -> int:
        """Return how many blocks there is time for, the pilots among them: no more than `most`."""
        counts = range(most, PILOT_BLOCKS, -1)
        return next((one for one in counts if self.launch_s(one - PILOT_BLOCKS) is not None), PILOT_BLOCKS)


@dataclass(frozen=True)
class BlockPlan:
    """How many blocks, and how long their launches measure."""

    blocks: int
    """The pilots among them."""
    launch_s: float
    """Of the blocks after the pilots."""
    half_width: float
    """Half of the interval of a log ratio that is to be expected."""


def expected_half_width(noises: Noises, blocks: int, launch_s: float, pilot_s: float) -> float:
    """Return half of the 95 % interval that blocks after the pilots give together with these, on average."""
    later = blocks - PILOT_BLOCKS
    variance = (PILOT_BLOCKS * noises.of_block(pilot_s) + later * noises.of_block(launch_s)) / blocks
    freedom = blocks - 1
    mean_of_s = math.sqrt(2 / freedom) * math.exp(math.lgamma(blocks / 2) - math.lgamma(freedom / 2))
    return half_width(blocks, mean_of_s * math.sqrt(variance))


def planned(noises: Noises, costs: Costs, blocks: int) -> BlockPlan | None:
    """Return what a number of blocks comes to; None where there is no time for it."""
    launch_s = costs.launch_s(blocks - PILOT_BLOCKS)
    if launch_s is None:
        return None
    return BlockPlan(blocks, launch_s, expected_half_width(noises, blocks, launch_s, costs.pilot_s))


def narrowest(noises: Noises, costs: Costs) -> BlockPlan | None:
    """Return the number of blocks of which the narrowest interval is expected; None where there is time for none."""
    found = (planned(noises, costs, blocks) for blocks in range(LEAST_BLOCKS, MOST_CHOSEN_BLOCKS + 1))
    return min((one for one in found if one is not None), key=lambda one: one.half_width, default=None)


def pooled(
    of_blocks: Sequence[float] | Floats, of_launches: Sequence[float] | Floats, freedom: float, pilot_s: float
) -> Noises:
    """Return both noises from the pilots' comparisons.

    `of_blocks` are the variances of their log ratios between the blocks, `of_launches` what of it is seen inside the
    launches, none of them 0; together the comparisons tell as much as `freedom` independent ones.
    """
    ratios = np.minimum(np.asarray(of_blocks) / np.asarray(of_launches), MOST_RATIO)
    ratio = (PRIOR_FREEDOM * PRIOR_RATIO + freedom * float(ratios.mean())) / (PRIOR_FREEDOM + freedom)
    inside = float(np.median(of_launches))
    return Noises(math.sqrt(max(0.0, ratio - 1) * inside), math.sqrt(inside * pilot_s))


def agreed(said: Sequence[float], most_apart: float) -> float:
    """Return the mean of what each pilot says of one thing, without those that say many times as much as another.

    A rank that was stopped for a second, or a page that came from a disk, makes a start-up longer and bursts noisier,
    never the other way about.
    """
    least = min((one for one in said if one > 0), default=0.0)
    return float(np.mean([one for one in said if one <= most_apart * least]))


def freedom_of(entries: int, comparisons: int) -> float:
    """Return how many independent comparisons all of them tell as much as, of which each entry has its share.

    Of k entries k - 1 differences are independent, and sizes of one launch share its luck.
    """
    independent = max(1, entries - 1)
    sizes = max(1.0, comparisons / (entries * (entries - 1) / 2)) if entries > 1 else float(max(1, comparisons))
    return independent * sizes / (1 + (sizes - 1) * SHARED)
