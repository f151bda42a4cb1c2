"""What a tuning found: the effect of each setting, the set that is recommended, what it costs, and what sets it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from fabriscope.analysis.results import Results
from fabriscope.analysis.tuning.effects import Effect
from fabriscope.analysis.tuning.points import Point
from fabriscope.analysis.tuning.tuned import (
    BETTER,
    KEPT,
    NO_NUMBERS,
    NOTHING_TO_TRY,
    UNDECIDED,
    UNDER_WAY,
    WORSE,
    Gain,
    KnobEffect,
    Tuning,
    tuning_of,
)
from fabriscope.analysis.words import size_text, value_text
from fabriscope.model.metrics import metric_of
from fabriscope.model.tuning import Configuration, Factor
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Heading,
    Paragraph,
    Section,
    Sections,
    Styled,
    Table,
)

_NOTE = (
    "An effect is the geometric mean of the ratio over all values of the other settings; what is replicated is the "
    "launch. Each interval holds for its effect alone, in 95 %; of all that is called an effect, the recommended set "
    "among it, anything is false in at most 5 % of tunings (Hochberg). What was tried has been put back."
)
_AS_IT_IS = "as it is"


def _build(results: Results) -> list[Section]:
    tuning = results.run.once(tuning_of)
    if tuning is None:
        return []
    title = f"Tuning {tuning.screening.fabric}"
    words = [*_left_out(tuning), *_sentences(tuning)]
    commands = list(tuning.rounds[-1].commands) if tuning.recommended is not None else []
    blocks: list[Block] = [Bullets(words)]
    blocks += [Bullets([[Styled(line, "code")] for line in commands])] if commands else []
    blocks += list(_tables(tuning))
    brief: list[Block] = [Heading(title), Bullets([*words, *(f"sets it: {line}" for line in commands)])]
    return [Section("tuning", title, [*blocks, Paragraph(_NOTE, is_note=True)], "Tuning", brief)]


def _left_out(tuning: Tuning) -> list[str]:
    return [f"{sentence}." for sentence in tuning.screening.left_out]


def _sentences(tuning: Tuning) -> Iterator[str]:
    """Yield what a reader should take away."""
    if tuning.state == NOTHING_TO_TRY:
        yield "Nothing is left to be tried."
        return
    if tuning.state == NO_NUMBERS:
        yield "No launch of the objective succeeded: nothing can be said."
        return
    if tuning.objective is not None:
        yield f"What is to become faster: {_point(tuning.objective)}."
    yield from _effect_sentences(tuning)
    if tuning.state == UNDER_WAY:
        yield f"The tuning is under way: its {tuning.rounds[-1].stage} has not ended."
    elif tuning.state == KEPT:
        yield "Nothing that was tried was seen to be better than what is set: no set is recommended."
    elif tuning.gain is not None:
        yield from _gain_sentences(tuning, tuning.gain)
    else:
        yield "The best set that was found could not be measured beside what is set: no set is recommended."


def _effect_sentences(tuning: Tuning) -> Iterator[str]:
    decided = [one for one in tuning.effects if one.is_decided]
    for one in decided:
        yield f"{_effect_words(one, tuning.screening.factors)}."
    for one in (other for other in tuning.elsewhere if other.effect.log * _sign_of(tuning, other) < 0):
        yield f"{_effect_words(one, tuning.screening.factors)}, the other way than the objective."
    if not tuning.effects:
        if tuning.state != UNDER_WAY:
            yield "Too few launches of the screening succeeded to tell the settings' effects."
        return
    rest = [one for one in tuning.effects if one.is_main and not one.is_decided]
    if rest:
        most = _percent(max(abs(math.expm1(end)) for one in rest for end in (one.effect.low, one.effect.high)))
        names = ", ".join(one.effect.knobs[0] for one in rest)
        yield (
            f"Of {names} none had an effect above {most}."
            if decided
            else (f"No setting had an effect above {most} ({names}).")
        )


def _sign_of(tuning: Tuning, other: KnobEffect) -> float:
    own = next(one for one in tuning.effects if one.effect.knobs == other.effect.knobs)
    return own.effect.log


def _gain_sentences(tuning: Tuning, gain: Gain) -> Iterator[str]:
    found = _settings(tuning.found or {})
    change = f"{_change(gain.point, gain.result.centre)} {_of(gain.point)} than what is set ({_interval(gain)})"
    if gain.verdict == BETTER:
        yield f"Recommended: settings: {found}, with {change}."
    elif gain.verdict == WORSE:
        yield f"The best that was tried, settings: {found}, has {change}: no set is recommended."
    else:
        yield f"Undecided: the best that was tried, settings: {found}, has {change}; no set is recommended."
    if gain.verdict == BETTER:
        worse = [one for one in tuning.costs if one.verdict == WORSE]
        for one in sorted(worse, key=lambda one: one.result.centre):
            yield f"It costs: {_change(one.point, one.result.centre)} {_point(one.point)} ({_interval(one)})."
        if not worse and tuning.costs:
            others = f"{len(tuning.costs)} other measurement{'s' if len(tuning.costs) > 1 else ''}"
            yield f"It was not seen to cost anything at {others}."


def _settings(configuration: Configuration) -> str:
    """Return it as a plan has it."""
    return "{" + ", ".join(f"{knob}: {value}" for knob, value in configuration.items()) + "}"


def _change(point: Point, log: float) -> str:
    """Return `6.9 % more` of a rate, `4.1 % longer` of a time."""
    ratio = math.exp(log) if point.is_rate else math.exp(-log)
    word = ("more" if ratio >= 1 else "less") if point.is_rate else ("longer" if ratio >= 1 else "shorter")
    return f"{_percent(abs(ratio - 1))} {word}"


def _percent(share: float) -> str:
    """Return `250 %`, `6.9 %`, `0.31 %`."""
    percents = share * 100
    if percents >= 100:
        return f"{percents:.0f} %"
    return f"{percents:.1f} %" if percents >= 1 or percents == 0 else f"{percents:.2g} %"


def _signed(point: Point, low: float, high: float) -> str:
    """Return the ends of an interval as changes of the metric: `+3.1 % to +10.6 %`."""
    sign = 1 if point.is_rate else -1
    ends = sorted(math.expm1(sign * end) for end in (low, high))
    return " to ".join(f"{end * 100:+.1f} %" for end in ends)


def _interval(gain: Gain) -> str:
    low, high = gain.result.low, gain.result.high
    return _signed(gain.point, low, high) if math.isfinite(low) and math.isfinite(high) else "no interval"


def _of(point: Point) -> str:
    return metric_of(point.metric_id).words.partition(", ")[0]


def _point(point: Point) -> str:
    size = f" at {size_text(point.size_bytes)}" if point.size_bytes else ""
    return f"{_of(point)}, {point.curve.label(fabric=False)}{size}"


def _effect_words(one: KnobEffect, factors: Iterable[Factor]) -> str:
    """Return `mtu 1500 against 600: 6.9 % more bandwidth ... (+3.1 % to +10.6 %)`."""
    effect, interval = one.effect, _signed(one.point, one.effect.low, one.effect.high)
    change = f"{_change(one.point, effect.log)} {_point(one.point)} ({interval})"
    if len(effect.knobs) == 1:
        return f"{_levels(effect.knobs[0], factors)}: {change}"
    also = "; or ".join(" and ".join(pair) for pair in effect.also)
    told = f" (or {also}, which this design does not tell from it)" if also else ""
    return f"{' and '.join(effect.knobs)} together{told}: {change}"


def _levels(knob: str, factors: Iterable[Factor]) -> str:
    factor = next(one for one in factors if one.knob == knob)
    return f"{knob} {factor.high} against {factor.low or _AS_IT_IS}"


def _tables(tuning: Tuning) -> Iterator[Table]:
    factors = tuning.screening.factors
    if tuning.effects:
        rows = [_effect_row(one, factors) for one in (*tuning.effects, *tuning.elsewhere)]
        heads = ("setting", "from", "to", "of", "effect", "95 % interval", "verdict")
        yield Table([Column(head) for head in heads], rows, most=24, rest="effects")
    gains = [*([tuning.gain] if tuning.gain else []), *tuning.costs]
    if gains:
        heads = ("of", "what is set", "the best set", "change", "95 % interval", "blocks", "verdict")
        yield Table([Column(head) for head in heads], [_gain_row(one) for one in gains], most=24, rest="measurements")


def _effect_row(one: KnobEffect, factors: Iterable[Factor]) -> list[str | Cell]:
    effect = one.effect
    factor = next((factor for factor in factors if factor.knob == effect.knobs[0]), None)
    ends = ("", "") if factor is None or len(effect.knobs) > 1 else (factor.low or _AS_IT_IS, factor.high)
    return [
        _name(effect), *ends, _point(one.point), _change(one.point, effect.log),
        _signed(one.point, effect.low, effect.high), "an effect" if one.is_decided else UNDECIDED,
    ]  # fmt: skip


def _name(effect: Effect) -> str:
    return " or ".join(" × ".join(knobs) for knobs in (effect.knobs, *effect.also))


def _gain_row(one: Gain) -> list[str | Cell]:
    values = (value_text(value, one.point.metric_id) for value in (one.now, one.then))
    change = _change(one.point, one.result.centre)
    return [_point(one.point), *values, change, _interval(one), str(one.result.block_count), one.verdict]


SECTION = Sections("tuning", 27, _build)
