"""What came of a tuning: effects, the set that is recommended, and what it costs elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, LogRatio, family_wise, judge
from fabriscope.analysis.tuning.choice import adjusted
from fabriscope.analysis.tuning.effects import Effect
from fabriscope.analysis.tuning.points import Point, Record, is_whole, objective_of, points_of, record_of
from fabriscope.analysis.tuning.steps import confirmed, gained, next_step, screened
from fabriscope.analysis.values.stopping import ERROR_RATE
from fabriscope.model.run_data import RunData
from fabriscope.model.tuning import Configuration, Trials

BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"
NOTHING_TO_TRY, UNDER_WAY, NO_NUMBERS, KEPT, ENDED = "nothing to try", "under way", "no numbers", "kept", "ended"


@dataclass(frozen=True)
class KnobEffect:
    """What one setting, or two together, did to one point."""

    point: Point
    effect: Effect
    p_adjusted: float

    @property
    def is_decided(self) -> bool:
        """Return whether there is an effect: of all that are claimed of a tuning any is false in at most 5 %."""
        return self.p_adjusted < ERROR_RATE

    @property
    def is_main(self) -> bool:
        """Return whether it is of one setting alone."""
        return len(self.effect.knobs) == 1


@dataclass(frozen=True)
class Gain:
    """A point under the set that was found, against the fabric as it is, over the blocks of the confirmation."""

    point: Point
    now: float
    """Median of its values, in the metric's unit."""
    then: float
    result: LogRatio
    """Of how many times as fast it is."""
    p_adjusted: float

    @property
    def verdict(self) -> str:
        """Return BETTER, WORSE or UNDECIDED."""
        if not self.p_adjusted < ERROR_RATE:
            return UNDECIDED
        return BETTER if self.result.centre > 0 else WORSE


@dataclass(frozen=True)
class Tuning:
    """What came of a tuning."""

    rounds: tuple[Trials, ...]
    state: str
    """NOTHING_TO_TRY, UNDER_WAY, NO_NUMBERS; KEPT where nothing that was tried could be better; ENDED."""
    objective: Point | None
    effects: tuple[KnobEffect, ...] = ()
    """On the objective: of each setting, then of two together."""
    elsewhere: tuple[KnobEffect, ...] = ()
    """Of the settings that have one on the objective, those on other points that are there too."""
    found: Configuration | None = None
    """What the confirmation held against what is set."""
    gain: Gain | None = None
    costs: tuple[Gain, ...] = ()
    """The other points of the confirmation."""

    @property
    def screening(self) -> Trials:
        """Return the first round."""
        return self.rounds[0]

    @property
    def recommended(self) -> Configuration | None:
        """Return the set that was shown to be faster; None without one."""
        return self.found if self.gain is not None and self.gain.verdict == BETTER else None


def tuning_of(run: RunData) -> Tuning | None:
    """Return what came of a run's tuning; None where it has none, or has not begun it."""
    rounds = run.manifest.trials
    if not rounds:
        return None
    if not rounds[0].configurations:
        return Tuning(rounds, NOTHING_TO_TRY, None)
    points = points_of(run)
    objective = objective_of(run, points)
    if not is_whole(run, 0):
        return Tuning(rounds, UNDER_WAY, objective)
    if objective is None:
        return Tuning(rounds, NO_NUMBERS, None)
    record, is_ended = record_of(run, points, objective), is_whole(run, -1)
    fit, gain = screened(record), _gain(objective, record) if is_ended else None
    p_values, p_gain = adjusted(fit, None if gain is None else gain.p_adjusted)
    effects = tuple(KnobEffect(objective, one, p) for one, p in zip(fit.effects, p_values, strict=True))
    others = {point: record_of(run, points, point) for point in points if point != objective}
    gain = None if gain is None else replace(gain, p_adjusted=p_gain)
    return Tuning(
        rounds,
        _state(record, is_ended=is_ended),
        objective,
        effects,
        _elsewhere(others, effects),
        next(iter(rounds[-1].configurations.values())) if rounds[-1].stage == "confirmation" else None,
        gain,
        () if gain is None else _costs(others, is_decided=gain.verdict != UNDECIDED),
    )


def _state(record: Record, *, is_ended: bool) -> str:
    if not is_ended:
        return UNDER_WAY
    if record.rounds[-1].stage == "confirmation":
        return ENDED
    return UNDER_WAY if next_step(record) is not None else KEPT


def _elsewhere(others: Mapping[Point, Record], effects: Sequence[KnobEffect]) -> tuple[KnobEffect, ...]:
    """Return what the settings with an effect do to other points of the same launches, as far as it is decided.

    All of them are one family, which is looked at only where the objective's found something.
    """
    knobs = {one.effect.knobs for one in effects if one.is_decided and one.is_main}
    found = [
        (point, effect)
        for point, record in others.items()
        for effect in (screened(record).effects if knobs else ())
        if effect.knobs in knobs
    ]
    p_values = family_wise([effect.p for _, effect in found])
    every = [KnobEffect(point, effect, float(p)) for (point, effect), p in zip(found, p_values, strict=True)]
    return tuple(one for one in every if one.is_decided)


def _gain(point: Point, record: Record) -> Gain | None:
    """Return what the confirmation says of a point, with its p-value as it is; None where no block has both sides."""
    both = confirmed(record)
    if not both:
        return None
    result = judge(gained(both))
    sign = 1 if point.is_rate else -1
    now, then = (math.exp(sign * median(side)) for side in zip(*both, strict=True))
    return Gain(point, now, then, result, result.p_different if len(both) >= LEAST_BLOCKS else math.nan)


def _costs(others: Mapping[Point, Record], *, is_decided: bool) -> tuple[Gain, ...]:
    """Return what the confirmation says of the other points: a family of its own, of which nothing is claimed unless
    the objective is decided."""
    found = [gain for point, record in others.items() if (gain := _gain(point, record)) is not None]
    p_values = family_wise([one.p_adjusted if is_decided else math.nan for one in found])
    return tuple(replace(one, p_adjusted=float(p)) for one, p in zip(found, p_values, strict=True))
