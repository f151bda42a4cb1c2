"""How much of the noise between launches turns took out of comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from fabriscope.analysis.comparing.comparisons import KINDS, Key, curves_of, families, series_of, takes_means
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.numbers.neighbours import variance
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import NO_TURNS, SeriesOf
from fabriscope.analysis.words import significant

MOSTLY = 0.5


@dataclass(frozen=True)
class SharedNoise:
    """Variances of log ratios between blocks, summed over comparisons whose launches measured in turns."""

    point_count: int
    apart: float
    """What launches would have that share nothing: the variance of the one side and of the other."""
    of_launches: float
    """Of the ratios of the launches of a block."""
    of_turns: float
    """Of the ratios of neighbouring turns."""
    inside: float
    """What of it is seen from cycle to cycle already, which longer launches would make less."""

    @property
    def removed_share(self) -> float:
        """Return which share of the noise between launches the ratios no longer have; below 0 where there is more."""
        return 1 - self.of_turns / self.apart

    def sentence(self) -> str:
        """Return it in words."""
        turns, launches = self.of_turns / self.apart, self.of_launches / self.apart
        inside = min(1.0, self.inside / self.of_turns) if self.of_turns > 0 else 0.0
        advice = "longer launches would help as much as more of them" if inside > MOSTLY else "more launches would help"
        return (
            f"between blocks, ratios taken turn by turn vary {_times(turns)} as those of launches that share nothing"
            f" would, those of whole launches {_times(launches)} (variance of log ratios, {self.point_count}"
            f" comparisons). {inside:.0%} of the former shows inside launches already: {advice}"
        )


def _times(factor: float) -> str:
    """Return `0.32 times as much`, `8.7 times as much`."""
    return f"{significant(factor, 2)} times as much"


def shared_noise(values: pl.DataFrame, rules: Rules, turns: SeriesOf) -> SharedNoise | None:
    """Return the shares over all comparisons of a run; None where too few blocks measured in turns to tell."""
    found = [one for kind in KINDS.values() for one in _variances(values, kind.name, rules, turns)] if turns else []
    sums = np.array(found).reshape(-1, 4).sum(axis=0)
    if not found or min(sums[0], sums[1]) <= 0:
        return None
    return SharedNoise(len(found), *(float(one) for one in sums))


def _variances(
    values: pl.DataFrame, kind: str, rules: Rules, turns: SeriesOf
) -> Iterator[tuple[float, float, float, float]]:
    """Yield for each point apart, of launches, of turns and inside, where every block measured in turns."""
    curves, in_turns = curves_of(values), series_of(values, turns)
    plain = families(values, KINDS[kind], rules, NO_TURNS)
    for family, launches in zip(families(values, KINDS[kind], rules, turns), plain, strict=True):
        pair = family.pair
        left, right = (Key(curve, pair.metric_id) for curve in (pair.left_curve, pair.right_curve))
        for spot, of_launches in zip(family.spots, launches.spots, strict=True):
            size = spot.size_bytes
            shared = sorted(curves[left][size].keys() & curves[right][size].keys())
            sides = [[in_turns.get(key, {}).get((size, block)) for block in shared] for key in (left, right)]
            has_turns = all(one and other and one.group == other.group for one, other in zip(*sides, strict=True))
            if has_turns and len(shared) >= LEAST_BLOCKS:
                logs = [np.log([curves[key][size][block] for block in shared]) for key in (left, right)]
                apart = float(sum(np.var(log, ddof=1) for log in logs))
                pairs = [(one, other) for one, other in zip(*sides, strict=True) if one and other]
                inside = sum(variance(*both, of_means=takes_means(pair.metric_id)) for both in pairs) / len(pairs)
                yield apart, of_launches.evidence.spread**2, spot.evidence.spread**2, inside
