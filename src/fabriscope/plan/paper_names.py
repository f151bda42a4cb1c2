"""A paper's names replaced by the cases that stand for them here: what a run's manifest keeps of a paper."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import BENCHMARKS, kind_of
from fabriscope.model.errors import shown
from fabriscope.model.metrics import METRICS, definitions_of, metric_of, metrics_of
from fabriscope.model.quantity import Kind
from fabriscope.model.units import parse_size_bytes
from fabriscope.plan.mistakes import Mistake, nearest
from fabriscope.plan.paper import (
    SIZE,
    ClaimSection,
    FigureSection,
    PaperSection,
    Picked,
    TableSection,
    kind_of_amount,
)
from fabriscope.plan.place_schema import StandInSection
from fabriscope.plan.selections import ATTRIBUTES
from fabriscope.plan.yaml_places import Place

NEEDS_OTHER = ("direction", "equal", "ratio", "difference", "widens")
"""Kinds of expectation that set one curve against another."""
Here = Mapping[str, StandInSection]
Uses = Mapping[str, str]


def resolve(paper: PaperSection, here: Here, uses: Uses) -> dict[str, Any]:
    """Return the paper with every name replaced by the cases that stand for it, as a run's manifest keeps it.

    `uses` are the buffers of benchmarks where the plan names them: what a claim is judged by that names no metric.
    `here` is the plan's: name, or several names with blanks between, to `select` and `says`. Raises ValueError for a
    name that the paper does not have.
    """
    unknown = [word for name in here for word in name.split() if word not in paper.names]
    if unknown:
        raise ValueError(f"the paper has no name {unknown[0]!r}; it has {', '.join(paper.names)}")
    return {
        **paper.model_dump(mode="json", include={"title", "citation", "question", "setup"}),
        "names": _names(paper, here),
        "figures": [_figure(paper, here, one, uses) for one in paper.figures],
        "tables": [_table(paper, here, one, uses) for one in paper.tables],
        "claims": [_claim(paper, here, one, None, uses) for one in paper.claims],
    }


def _names(paper: PaperSection, here: Here) -> list[dict[str, Any]]:
    """Return what the report tells of names: what each is in the paper, and what stands for it here."""
    said = {name: (one.means, one.select is not None) for name, one in paper.names.items()}
    said |= {name: ("", True) for name in here if name not in said}
    return [
        {
            "name": name, "means": means, "here": here[name].says if name in here else "",
            "stands": name in here or known, **_choices(here.get(name)),
        }
        for name, (means, known) in said.items()
    ]  # fmt: skip


def _choices(stand_in: StandInSection | None) -> dict[str, Any]:
    """Return what may stand for a name, where there is more than one choice."""
    if stand_in is None or stand_in.otherwise is None:
        return {}
    return {"choices": [{"says": one.says, "select": _plainly(one.select)} for one in stand_in.choices()]}


def _figure(paper: PaperSection, here: Here, figure: FigureSection, uses: Uses) -> dict[str, Any]:
    draw = None
    if figure.draw is not None:
        draw = {
            **_picked(figure.draw, None, uses),
            "curves": [_curve(paper, here, one, figure.draw) for one in figure.draw.curves],
        }
    claims = [_claim(paper, here, one, figure.draw, uses) for one in figure.claims]
    return {"id": figure.id, "caption": figure.caption, "note": figure.note, "draw": draw, "claims": claims}


def _claim(paper: PaperSection, here: Here, claim: ClaimSection, draw: Picked | None, uses: Uses) -> dict[str, Any]:
    sides = {side: [_curve(paper, here, one, claim, draw) for one in getattr(claim, side)] for side in ("of", "than")}
    return {
        **claim.model_dump(mode="json", include={"say", "expect", "margin", "paper"}),
        **_picked(claim, draw, uses),
        **sides,
    }


def _table(paper: PaperSection, here: Here, table: TableSection, uses: Uses) -> dict[str, Any]:
    columns = [
        {"title": one.title, "unit": one.unit, "show": one.show, **_picked(one, None, uses)}
        for one in table.columns.values()
    ]
    rows = []
    for row in table.rows:
        if len(row) != len(table.keys) + len(table.columns):
            width = len(table.keys) + len(table.columns)
            raise ValueError(f"a row of the table {shown(table.id)} has {len(row)} cells, and the table {width}")
        words = tuple(str(cell) for cell in row[: len(table.keys)])
        cells = [
            {"paper": value, **_curve(paper, here, words, column)}
            for value, column in zip(row[len(table.keys) :], table.columns.values(), strict=True)
        ]
        rows.append({"names": list(words), "cells": cells})
    return {
        "id": table.id, "caption": table.caption, "note": table.note, "keys": list(table.keys), "columns": columns,
        "rows": rows,
    }  # fmt: skip


def _picked(one: Picked, draw: Picked | None, uses: Uses) -> dict[str, Any]:
    """Return metric, axis and ranges; what a claim leaves out is its figure's."""

    def given(name: str) -> Any:
        return getattr(draw if draw is not None and name not in one.model_fields_set else one, name)

    benchmark = given("benchmark")
    inherited = draw.metric if draw is not None and one.benchmark is None else None
    metric = one.metric or inherited or (metrics_of(benchmark)[0] if benchmark else None)
    return {
        "metric_id": _by_plan(metric, benchmark, uses) if metric else None,
        "along": given("along"),
        "at": _listed(given("at")),
        "sizes": _listed(given("sizes")),
        "take": given("take"),
    }


def _by_plan(metric_id: str, benchmark: str | None, uses: Uses) -> str:
    """Return a benchmark's own metric by the buffers that a plan names for it, or by those of all plans."""
    if benchmark is None or metric_id not in metrics_of(benchmark):
        return metric_id
    if benchmark in uses:
        place = metrics_of(benchmark).index(metric_id)
        return metrics_of(benchmark, {"buffers": uses[benchmark]})[place]
    return next(iter(definitions_of(metric_id)), metric_id)


def _listed(ends: Sequence[float | None] | None) -> list[float | None] | None:
    return None if ends is None else list(ends)


def _curve(paper: PaperSection, here: Here, words: Sequence[str], *picked: Picked | None) -> dict[str, Any]:
    """Return a curve's label and the cases that it stands for; `missing` names what nothing here stands for."""
    benchmark = next((one.benchmark for one in picked if one is not None and one.benchmark), None)
    parts: list[dict[str, Any]] = [{"select": {"benchmark": benchmark}}] if benchmark else []
    where = next((one.where for one in picked if one is not None and one.where), ())
    missing = None
    for word in (*where, *words):
        if word not in paper.names:
            raise ValueError(f"the paper has no name {word!r}; it has {', '.join(paper.names)}")
        found = _selected(paper, here, word)
        if found is None:
            missing = missing or word
        else:
            parts.append(_part(found, word, here))
    for name, one in here.items():
        if " " in name and set(name.split()) <= {*where, *words}:
            parts.append(_part(_plainly(one.select), name, here))
    select = {key: value for part in parts for key, value in part["select"].items()}
    has_choices = missing is None and any("name" in part for part in parts)
    curve = {"label": " ".join(words), "select": None if missing else select, "missing": missing}
    return {**curve, "parts": parts} if has_choices else curve


def _part(select: dict[str, Any], name: str, here: Here) -> dict[str, Any]:
    """Return what a name says of cases, with the name itself where it has another choice."""
    return {"select": select, **({"name": name} if _choices(here.get(name)) else {})}


def _selected(paper: PaperSection, here: Here, name: str) -> dict[str, Any] | None:
    found = here[name].select if name in here else paper.names[name].select
    return None if found is None else _plainly(found)


def _plainly(select: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(key, value) for key, value in select.items()}


def _plain(key: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(key, item) for item in value]
    return parse_size_bytes(value) if key.endswith("_bytes") and isinstance(value, str) else value


MOST_NEAR = 5
"""Known metrics that are named where one is unknown."""


def problems(paper: PaperSection, said: Any = None) -> Iterator[Mistake]:
    """Yield what is wrong with a paper's claims beyond their form; `said` is what its file says."""
    claims: list[tuple[Place, ClaimSection, Picked | None]] = [
        (("figures", number, "claims", at), claim, one.draw)
        for number, one in enumerate(paper.figures)
        for at, claim in enumerate(one.claims)
    ]
    claims += [(("claims", at), claim, None) for at, claim in enumerate(paper.claims)]
    yield from (*_of_figures(paper), *_of_axes(paper, claims))
    for place, claim, draw in claims:
        for word in dict.fromkeys(word for curve in (*claim.of, *claim.than) for word in curve):
            if word not in paper.names:
                yield place, f"the paper has no name {word!r}; it has {', '.join(paper.names)}", None
        metric = _picked(claim, draw, {})["metric_id"]
        if metric not in METRICS:
            names = f"the unknown metric {metric!r}" if metric else "neither benchmark nor metric"
            near = ", ".join(
                difflib.get_close_matches(str(metric), METRICS, n=MOST_NEAR, cutoff=0.3) or [*METRICS][:MOST_NEAR]
            )
            known = f"of the {len(METRICS)} that are known: {near}"
            yield (*place, "metric"), f"the claim {claim.say!r} names {names}; {known}", None
        wants_other = claim.expect["kind"] in NEEDS_OTHER
        if wants_other != bool(claim.than):
            wants = "needs" if wants_other else "has no use for"
            yield place, f"the claim {claim.say!r} {wants} the key `than`", None
        if (wrong := _of_other_benchmark(claim, draw)) is not None:
            yield place, f"the claim {shown(claim.say)} {wrong[0]}", wrong[1]
        for what, fix in _never(claim, draw):
            yield place, f"the claim {shown(claim.say)} {what}", fix
        if metric in METRICS and (wrong := _of_unit(metric, _at(said, (*place, "expect")))):
            yield (*place, "expect"), f"the claim {shown(claim.say)} {wrong[0]}", wrong[1]


def _of_figures(paper: PaperSection) -> Iterator[Mistake]:
    """Yield figures that are told twice, and those of a benchmark that there is none of."""
    ids = [one.id for one in paper.figures]
    for number, one in enumerate(paper.figures):
        if one.id in ids[:number]:
            yield ("figures", number), f"two figures have the id {shown(one.id)}", "give one of them another"
        if one.draw is not None and one.draw.benchmark is not None and one.draw.benchmark not in BENCHMARKS:
            what = f"there is no benchmark {shown(one.draw.benchmark)}"
            yield ("figures", number, "draw"), what, nearest(one.draw.benchmark, BENCHMARKS)


def _of_axes(paper: PaperSection, claims: list[tuple[Place, ClaimSection, Picked | None]]) -> Iterator[Mistake]:
    """Yield axes along which no case has a place, so that nothing could be drawn or judged."""
    every: list[tuple[Place, Picked]] = [(place, claim) for place, claim, _ in claims]
    every += [(("figures", at, "draw"), one.draw) for at, one in enumerate(paper.figures) if one.draw is not None]
    for place, picked in every:
        if picked.along not in ATTRIBUTES:
            near = difflib.get_close_matches(picked.along, sorted(ATTRIBUTES), n=1)
            fix = f"did you mean {near[0]!r}? " if near else ""
            yield (*place, "along"), f"cases have no {shown(picked.along)} to be drawn along", f"{fix}{SIZE} is usual"


def _of_other_benchmark(claim: ClaimSection, draw: Picked | None) -> tuple[str, str] | None:
    """Return that a claim's metric is none that its benchmark has, so that it is never decided, and the fix."""
    benchmark = claim.benchmark or (draw.benchmark if draw is not None else None)
    metric = claim.metric or (draw.metric if draw is not None and claim.benchmark is None else None)
    if benchmark not in BENCHMARKS or metric not in METRICS or metric is None:
        return None
    own, others = metrics_of(benchmark), {one for name in BENCHMARKS for one in metrics_of(name)}
    if metric not in others or metric.startswith(own):
        return None
    return f"is of {metric}, which {benchmark} does not have", f"{benchmark} has {', '.join(own)}"


def _never(claim: ClaimSection, draw: Picked | None) -> Iterator[tuple[str, str]]:
    """Yield that a claim sets a curve against itself, or expects a state of what has none."""
    if same := [words for words in claim.of if words in claim.than]:
        yield f"sets {shown(' '.join(same[0]))} against itself, and is never decided", "name another curve in `than`"
    benchmark = claim.benchmark or (draw.benchmark if draw is not None else None)
    if claim.expect["kind"] == "state" and benchmark and kind_of(benchmark).pattern not in OF_STREAMS:
        yield f"expects a state of {benchmark}", "states are of many_to_one and many_to_many"


def _of_unit(metric_id: str, expect: Any) -> tuple[str, str] | None:
    """Return what is wrong with a time or a rate that is expected of a metric of another kind, and the fix."""
    if not isinstance(expect, dict) or "kind" in expect or len(expect) != 1:
        return None
    key, value = next(iter(expect.items()))
    kind, such = metric_of(metric_id).unit.kind, {Kind.TIME: "10us", Kind.RATE: "50Mb/s"}
    if key in ("lower_by", "higher_by") and kind in such and str(value).replace(".", "", 1).isdigit():
        return f"expects {key.partition('_')[0]} by {value}, of nothing", f"write for example {such[kind]}, or 10%"
    for part in str(value).split("..") if key in ("lower_by", "higher_by", "value") else ():
        found = kind_of_amount(part)
        if found is not None and found is not kind and kind in such:
            what = f"expects {shown(part.strip())}, and {metric_id} is a {kind.value}"
            return what, f"write for example {such[kind]}, or a percentage"
    return None


def _at(said: Any, place: Place) -> Any:
    """Return what a file says at a place; None where it says nothing."""
    for key in place:
        try:
            said = said[key]
        except (LookupError, TypeError):
            return None
    return said
