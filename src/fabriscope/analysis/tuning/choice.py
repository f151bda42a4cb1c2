"""What a tuning tries next: the best of the screening, values that it left out, and ever fewer of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from fabriscope.analysis.numbers.intervals import family_wise
from fabriscope.analysis.tuning.effects import Effect, Fit
from fabriscope.analysis.values.stopping import ERROR_RATE
from fabriscope.model.tuning import Configuration, Factor

Levels = Mapping[str, Sequence[str | None]]
Current = Mapping[str, Mapping[str, str]]
"""Knob to what each host has it at."""
Scored = tuple[Configuration, float]
"""A configuration, and the mean logarithm of its speed."""


def adjusted(fit: Fit, p_confirmed: float | None) -> tuple[list[float], float]:
    """Return the adjusted p-values of all effects, and of the confirmation: one family, so that in at most 5 % of
    tunings of which nothing has an effect anything is claimed.

    A confirmation that is still to come counts as one that finds nothing: what is decided before it stays decided.
    """
    last = 1.0 if p_confirmed is None or not math.isfinite(p_confirmed) else p_confirmed
    every = family_wise([*(effect.p for effect in fit.effects), last])
    return [float(p) for p in every[:-1]], float(every[-1])


def decided(fit: Fit) -> list[Effect]:
    """Return the effects that are there, whatever a confirmation will say."""
    return [effect for effect, p in zip(fit.effects, adjusted(fit, None)[0], strict=True) if p < ERROR_RATE]


def best_levels(fit: Fit, factors: Sequence[Factor]) -> dict[str, str]:
    """Return the settings that are the fastest together of those with an effect; the others stay as they are.

    An interaction that the design does not tell from others counts where it alone of them is of two settings that have
    an effect of their own.
    """
    mains = {effect.knobs[0]: effect.log for effect in fit.effects if len(effect.knobs) == 1}
    found = decided(fit)
    alone = {effect.knobs[0] for effect in found if len(effect.knobs) == 1}
    pairs = {pair: effect.log for effect in found if (pair := _pair_of(effect, alone)) is not None}
    knobs = sorted(alone.union(*pairs))
    of_knob = {factor.knob: (factor.low, factor.high) for factor in factors}

    def score(signs: Sequence[int]) -> float:
        of = dict(zip(knobs, signs, strict=True))
        own = sum(mains[knob] * sign / 2 for knob, sign in of.items())
        return own + sum(log * of[one] * of[other] / 2 for (one, other), log in pairs.items())

    best = max(itertools.product((-1, 1), repeat=len(knobs)), key=score)
    chosen = {knob: of_knob[knob][sign > 0] for knob, sign in zip(knobs, best, strict=True)}
    return {knob: value for knob, value in chosen.items() if value}


def _pair_of(effect: Effect, alone: set[str]) -> tuple[str, str] | None:
    pairs = [one for one in (effect.knobs, *effect.also) if len(one) == 2]
    if effect.also:
        pairs = [one for one in pairs if alone.issuperset(one)]
    return (pairs[0][0], pairs[0][1]) if len(pairs) == 1 else None


def changed(configuration: Configuration, current: Current) -> dict[str, str]:
    """Return a configuration without what every host has already."""
    return {knob: value for knob, value in configuration.items() if {*current.get(knob, {"": ""}).values()} != {value}}


def candidates(best: Configuration, levels: Levels, factors: Sequence[Factor], current: Current) -> list[Configuration]:
    """Return the best settings of a screening, and each change of one of them to a value that the screening left out.

    What comes to the settings as they are is left out: they are launched in every block.
    """
    screened = {factor.knob: (factor.low, factor.high) for factor in factors}
    found = [dict(best)]
    for knob, values in levels.items():
        for value in values:
            if value not in screened.get(knob, ()):
                rest = {name: one for name, one in best.items() if name != knob}
                found.append(rest if value is None else {**rest, knob: value})
    return _different(changed(one, current) for one in found)


def survivors(scored: Sequence[Scored]) -> list[Scored]:
    """Return the better half, best first."""
    return sorted(scored, key=lambda one: -one[1])[: math.ceil(len(scored) / 2)]


def together(best: Configuration, score: float, scored: Sequence[Scored], least: float) -> Configuration:
    """Return the best settings of the screening, which have this score, with each change that gained more than
    `least`."""
    found = dict(best)
    for one, its in sorted(scored, key=lambda one: one[1]):
        if its > score + least:
            found = {knob: value for knob, value in found.items() if knob in one or knob not in best}
            found.update((knob, value) for knob, value in one.items() if best.get(knob) != value)
    return dict(sorted(found.items()))


def _different(found: Iterator[dict[str, str]] | Sequence[Configuration]) -> list[Configuration]:
    """Return each configuration that sets something, once."""
    return list({tuple(sorted(one.items())): dict(sorted(one.items())) for one in found if one}.values())
