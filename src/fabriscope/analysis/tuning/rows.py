"""What came of a tuning as a frame: ratios of speed, in stored units."""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from fabriscope.analysis.tuning.tuned import UNDECIDED, Gain, KnobEffect, Tuning

TUNING_SCHEMA = {
    "kind": pl.String,
    "settings": pl.String,
    "against": pl.String,
    "layer": pl.String,
    "mpi": pl.String,
    "benchmark": pl.String,
    "series": pl.String,
    "metric_id": pl.String,
    "message_size_bytes": pl.Int64,
    "ratio": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "p_adjusted": pl.Float64,
    "verdict": pl.String,
    "recommended": pl.Boolean,
}
"""`kind` is effect, elsewhere (of the same setting on another measurement), gain, or cost (of the set that was found);
`ratio` says how many times as fast `settings` are as `against`."""


def tuning_frame(tuning: Tuning | None) -> pl.DataFrame:
    """Return one row for each effect, and for each measurement of the confirmation, TUNING_SCHEMA."""
    rows = [] if tuning is None else list(_rows(tuning))
    return pl.DataFrame(rows, schema=TUNING_SCHEMA, orient="row")


def _rows(tuning: Tuning) -> Iterator[tuple[object, ...]]:
    for kind, effects in (("effect", tuning.effects), ("elsewhere", tuning.elsewhere)):
        for one in effects:
            yield (kind, *_levels(tuning, one), *_of_effect(one))
    is_recommended = tuning.recommended is not None
    for kind, gains in (("gain", [tuning.gain] if tuning.gain else []), ("cost", list(tuning.costs))):
        for gain in gains:
            found = ", ".join(f"{knob}={value}" for knob, value in (tuning.found or {}).items())
            yield (kind, found, "what is set", *_of_gain(gain), is_recommended)


def _levels(tuning: Tuning, one: KnobEffect) -> tuple[str, str]:
    known = {factor.knob: factor for factor in tuning.screening.factors}
    if not one.is_main:
        return " or ".join(" x ".join(knobs) for knobs in (one.effect.knobs, *one.effect.also)), ""
    factor = known[one.effect.knobs[0]]
    return f"{factor.knob}={factor.high}", f"{factor.knob}={factor.low}" if factor.low else "as it is"


def _of_effect(one: KnobEffect) -> tuple[object, ...]:
    point, effect = one.point, one.effect
    curve = point.curve
    verdict = "effect" if one.is_decided else UNDECIDED
    about = curve.layer, curve.mpi, curve.benchmark, curve.series, point.metric_id, point.size_bytes
    return (*about, *map(math.exp, (effect.log, effect.low, effect.high)), one.p_adjusted, verdict, False)


def _of_gain(one: Gain) -> tuple[object, ...]:
    point, result = one.point, one.result
    curve = point.curve
    ends = [math.exp(end) if math.isfinite(end) else None for end in (result.low, result.high)]
    p = one.p_adjusted if math.isfinite(one.p_adjusted) else None
    about = curve.layer, curve.mpi, curve.benchmark, curve.series, point.metric_id, point.size_bytes
    return (*about, math.exp(result.centre), *ends, p, one.verdict)
