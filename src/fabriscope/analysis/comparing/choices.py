"""Comparisons that somebody asks for by name: two entries of one run, or one run against another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from fabriscope.analysis.comparing.compared import CurvePair
from fabriscope.analysis.comparing.comparisons import (
    Curves,
    Key,
    blurs_of,
    curves_of,
    gains_of,
    kept_of,
    paired,
    rounds_of,
    series_of,
    sign_of,
    steps_of,
)
from fabriscope.analysis.comparing.judging import Family, Spot
from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.numbers.evidence import Difference, Mean
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import NO_TURNS, SeriesOf
from fabriscope.analysis.words import series_text
from fabriscope.model.benchmarks import TOLD_BY_METRIC
from fabriscope.model.metrics import definitions_of, metric_of
from fabriscope.model.quantity import Completion
from fabriscope.model.run_data import RunData

ENTRIES, RUNS = "entries", "runs"
MOST_TESTS = 4
"""Named of each run where nothing can be compared."""
OF_AN_ENTRY = ("placement", "fabric", "layer", "mpi", "instrument", "ranks", "twin")
Selection = Mapping[str, str | None]
"""Names of attributes of curves, and the value that each must have."""


def selection(text: str, run: RunData, values: pl.DataFrame) -> Selection:
    """Return the attributes that a selection names: `gige.tcp.inter`, `gige,tcp`, `fabric=gige,series=Nagle on`.

    That is the id of an entry, or words, each an attribute's value alone or with its name. Raises ValueError, in words,
    for one that this run does not have.
    """
    known = {name: values[name].unique(maintain_order=True).to_list() for name in IDENTITY}
    rows = values.filter(pl.col("entry_id") == text)
    if text in run.manifest.entries and rows.height:
        return {name: rows[name][0] for name in OF_AN_ENTRY}
    found: dict[str, str | None] = {}
    as_read = {series_text(one): one for one in values.get_column("series").unique().to_list()}
    for word in (as_read.get(word.strip(), word.strip()) for word in text.split(",")):
        name, equals, value = word.partition("=")
        value = as_read.get(value, value) if name == "series" else value
        names = [name] if equals else [one for one, all_values in known.items() if word in all_values]
        value = value if equals else word
        if len(names) != 1 or value not in [one or "" for one in known.get(names[0], ())]:
            ids = ", ".join(values.select("entry_id").unique(maintain_order=True).to_series())
            what = (
                f"its entries are {ids}" if ids else "none of its launches has a value: `fabriscope verify` tells why"
            )
            raise ValueError(f"{word!r} is nothing that this run compares; {what}")
        found[names[0]] = value or (None if None in known[names[0]] else "")
    return found


def entries_compared(
    values: pl.DataFrame, left: Selection, right: Selection, rules: Rules, turns: SeriesOf = NO_TURNS
) -> list[Family]:
    """Return every pair of curves of two selections that differ in nothing but what the selections name."""
    curves, rounds, steps = curves_of(values), rounds_of(values), steps_of(values)
    in_turns = series_of(values, turns)
    sides = [[key for key in curves if _fits(key.curve, {"twin": "", **one})] for one in (left, right)]
    free = {*left, *right}
    pairs = [
        (one, other)
        for one in sides[0]
        for other in sides[1]
        if one != other and one.metric_id == other.metric_id and _differences(one.curve, other.curve) <= free
    ]
    found = []
    for one, other in pairs:
        blurs = blurs_of(steps.get(one, {}), steps.get(other, {}))
        gains = gains_of(one.metric_id, in_turns.get(one, {}), in_turns.get(other, {}))
        spots = paired(one.metric_id, curves[one], curves[other], rules, rounds.get(one), blurs, gains)
        if spots:
            labels = _label(one.curve, other.curve), _label(other.curve, one.curve)
            found.append(Family(CurvePair(ENTRIES, *labels, one.curve, other.curve, one.metric_id), tuple(spots)))
    return found


def _differences(one: Curve, other: Curve) -> set[str]:
    """Return what two curves differ in; TCP and MPI differ by their layer, not by the library too."""
    names = {name for name, value in vars(one).items() if value != vars(other)[name]}
    return names - {"mpi"} if "layer" in names else names


def runs_compared(
    runs: tuple[RunData, RunData],
    values: tuple[pl.DataFrame, pl.DataFrame],
    labels: tuple[str, str],
    rules: tuple[Rules, Rules],
) -> tuple[list[Family], list[str]]:
    """Return every curve that two runs share, the first run's against the second's, and what is not comparable.

    They share no blocks: launch against launch, unpaired, and where a run's machine kept a state, how far that may have
    shifted its launches together belongs to the interval. What was measured with other settings is not compared.
    """
    curves: tuple[Curves, Curves] = (curves_of(values[0]), curves_of(values[1]))
    steps, kept = [steps_of(one) for one in values], [kept_of(one) for one in values]
    settings = [_settings(*one) for one in zip(runs, values, strict=True)]
    families: list[Family] = []
    refused = [*_by_other_definitions(*curves), *_elsewhere(*curves)]
    for key in curves[0].keys() & curves[1].keys():
        if key.curve.twin:
            continue  # each run's control has been judged inside it
        both = curves[0][key], curves[1][key]
        shared = sorted(both[0].keys() & both[1].keys())
        alike = [size for size in shared if settings[0][key, size] == settings[1][key, size]]
        if len(alike) < len(shared):
            other = next(size for size in shared if size not in alike)
            words = " against ".join(settings[side][key, other] for side in (0, 1))
            refused.append(f"{_name(key.curve)}, {len(shared) - len(alike)} sizes: {words}")
        blurs = [{size: step / 2 for size, step in one.get(key, {}).items()} for one in steps]
        apart = {size: math.hypot(*(one.get(key, {}).get(size, 0.0) for one in kept)) for size in alike}
        spots = [
            _unpaired(
                size, key.metric_id, [one[size] for one in both], [one.get(size, 0.0) for one in blurs], rules,
                apart[size],
            )
            for size in alike
        ]  # fmt: skip
        if spots:
            families.append(Family(CurvePair(RUNS, *labels, key.curve, key.curve, key.metric_id), tuple(spots)))
    order = list(curves[0])
    return sorted(families, key=lambda one: order.index(Key(one.pair.left_curve, one.pair.metric_id))), sorted(refused)


def _by_other_definitions(left: Curves, right: Curves) -> list[str]:
    """Return what both runs measured, each with other buffers: two definitions, which are never compared."""
    found = []
    for key in left:
        alike = [replace(key, metric_id=one) for one in definitions_of(key.metric_id)]
        theirs = [one for one in alike if one in right]
        if theirs and not key.curve.twin and not any(one in left for one in theirs):
            uses = (metric_of(one.metric_id).quantity.buffers.value for one in (key, theirs[0]))
            found.append(f"{_name(key.curve)}: buffers {' against '.join(uses)}")
    return found


def notes_of(
    runs: tuple[RunData, RunData],
    values: tuple[pl.DataFrame, pl.DataFrame],
    labels: tuple[str, str],
    families: Sequence[Family],
    refused: Sequence[str],
) -> list[str]:
    """Return what two runs have and is not compared, why, and what is compared under its program's own definition."""
    origins = [record.details.read_from for run in runs for record in run.journal]
    told = {(one.program, metric_id): why for one in origins if one for metric_id, why in one.unlike.items()}
    compared = {family.pair.metric_id for family in families}
    alone = {key: why for key, why in told.items() if key[1] in compared}
    apart = [
        f"{metric}, read from logs of {of}: {why}" for (of, metric), why in told.items() if (of, metric) not in alone
    ]
    notes = [f"not compared, since settings or definitions differ: {one}" for one in sorted([*refused, *apart])]
    notes += [
        f"{metric} is {of}'s own number, compared with logs of {of} alone, as if both said the same: {why}"
        for (of, metric), why in sorted(alone.items())
    ]
    return notes or ([] if families else [_nothing_shared(curves_of(values[0]), curves_of(values[1]), labels)])


def _nothing_shared(left: Curves, right: Curves, labels: tuple[str, str]) -> str:
    """Return which tests each of two runs has that share none."""
    words = []
    for label, curves in zip(labels, (left, right), strict=True):
        tests = dict.fromkeys(
            f"{key.curve.benchmark} by {key.curve.instrument or 'ours'} ({key.metric_id})"
            for key in curves
            if not key.curve.twin
        )
        more = f" and {len(tests) - MOST_TESTS} more" if len(tests) > MOST_TESTS else ""
        words.append(f"{label} has {', '.join(list(tests)[:MOST_TESTS]) or 'no values'}{more}")
    return f"no test and quantity is in both: {'; '.join(words)}"


def _elsewhere(left: Curves, right: Curves) -> list[str]:
    """Return what both runs measured by one definition, and nowhere alike: what the nearest two differ in."""
    found = []
    tests = {(key.curve.benchmark, key.curve.instrument, key.metric_id) for key in left if not key.curve.twin}
    for test in sorted(tests):
        ours, theirs = (
            [key for key in side if (key.curve.benchmark, key.curve.instrument, key.metric_id) == test]
            for side in (left, right)
        )
        if not theirs or set(ours) & set(theirs):
            continue
        pairs = [(vars(one.curve), vars(other.curve)) for one in ours for other in theirs]
        apart = [[name for name in one if one[name] != other[name]] for one, other in pairs]
        nearest = min(range(len(pairs)), key=lambda place: len(apart[place]))
        one, other = pairs[nearest]
        words = (f"{name} {one[name] or 'none'} against {other[name] or 'none'}" for name in apart[nearest])
        found.append(f"{test[0]} by {test[1]}, {test[2]}: {', '.join(words)}")
    return found


def _unpaired(
    size: int,
    metric_id: str,
    both: Sequence[Mapping[int, float]],
    blurs: Sequence[float],
    rules: tuple[Rules, Rules],
    kept: float,
) -> Spot:
    logs = [np.log(list(values.values())) for values in both]
    sign = sign_of(metric_id)
    means = [Mean(sign * log, rule.method, blur) for log, rule, blur in zip(logs, rules, blurs, strict=True)]
    left_value, right_value = (float(np.exp(np.median(log))) for log in logs)
    return Spot(size, Difference(means[0], means[1], kept), left_value, right_value)


def _settings(run: RunData, values: pl.DataFrame) -> dict[tuple[Key, int], str]:
    """Return how each size of each curve was measured, in words: what its name does not tell."""
    parameters = {case_id: case.parameter_map for case_id, case in run.manifest.cases.items()}
    columns = (*IDENTITY, "metric_id", "message_size_bytes", "window_size", "socket", "case_id")
    found = {}
    for *curve, metric_id, size, window, socket, case_id in values.select(columns).unique().iter_rows():
        told = (f"{name} {value}" for name, value in parameters[case_id].items() if name not in TOLD_BY_METRIC)
        quantity = metric_of(metric_id).quantity
        is_stream = quantity.completion is Completion.NEVER or quantity.what == "sent_bandwidth"
        parts = ["" if is_stream else f"window {window}", socket, *told]
        found[Key(Curve(*curve), metric_id), size] = ", ".join(part for part in parts if part)
    return found


def _fits(curve: Curve, wanted: Selection) -> bool:
    return all((vars(curve)[name] or "") == (value or "") for name, value in wanted.items())


def _label(curve: Curve, other: Curve) -> str:
    """Return what tells this side from the other."""
    name = curve.label(fabric=curve.fabric != other.fabric)
    places = {"inter": "between hosts", "intra": "inside one host", "unstated": "on hosts that nobody states"}
    return name if curve.placement == other.placement else f"{name} {places[curve.placement]}"


def _name(curve: Curve) -> str:
    return f"{curve.label()}, {curve.benchmark}, {curve.placement}"
