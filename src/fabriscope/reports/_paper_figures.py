"""The figures of a paper, drawn of this run: the same grammar as all figures, the paper's own choice of curves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from fabriscope.analysis.curve import IN_TRUTH
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.papers.paper import PaperFigure
from fabriscope.analysis.papers.selections import SIZE
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts, rows_of
from fabriscope.analysis.values.launch_values import LaunchValue
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.reports._figure import CURVES, Figure

MeasuredT = TypeVar("MeasuredT", GradedEstimate, LaunchValue)


@dataclass(frozen=True)
class _Pick:
    """One point of a figure of the paper: a case's metric, its place on the axis, and the label of its curve."""

    case_id: str
    metric_id: str
    place: int
    label: str


def paper_figures(results: Results) -> Iterator[Figure]:
    """Yield every figure of the run's paper that has something to draw, in the paper's order."""
    for one in results.paper.figures if results.paper else ():
        figure = _figure(results, one)
        if figure is not None:
            yield figure


def figure_id_of(one: PaperFigure) -> str:
    """Return the id under which a paper's figure is drawn and exported."""
    return f"paper-{one.figure_id}"


def place_name(name: str) -> str:
    """Return how a reader finds it in the paper: `Figure 5-1`, `Table 1`, `Socket buffer`."""
    match = re.fullmatch(r"(fig|table)([\d-]+)", name)
    if match:
        return f"{'Figure' if match[1] == 'fig' else 'Table'} {match[2]}"
    words = name.replace("-", " ")
    return f"{words[:1].upper()}{words[1:]}"


def _figure(results: Results, one: PaperFigure) -> Figure | None:
    picks = _picks(one)
    if one.draw is None or not picks:
        return None
    metric_id = one.draw.metric
    by_all = [*results.graded, *results.graded_by_others]
    rows = _placed((row for row in by_all if _is_asked(row)), picks, metric_id)
    if not rows:
        return None
    of_all = [*rows_of(results.values, LaunchValue), *rows_of(results.values_by_others, LaunchValue)]
    values = _placed((row for row in of_all if _is_asked(row)), picks, metric_id)
    by_series = not _is_told_apart(rows)
    return Figure(
        figure_id_of(one),
        f"{place_name(one.figure_id)}. {one.caption}",
        CURVES,
        metric_id,
        [_named(row, label, by_series=by_series, along=one.draw.along) for label, row in rows],
        [_named(row, label, by_series=by_series, along=one.draw.along) for label, row in values],
        axis=one.draw.along or SIZE,
        by_series=by_series,
    )


def _is_asked(case: PlannedCase) -> bool:
    """Return whether it was carried by what it was asked to go over, as far as is known."""
    return IN_TRUTH not in case.layer


def _picks(one: PaperFigure) -> list[_Pick]:
    """Return every point; a curve that another name stands for already is drawn once."""
    seen: set[frozenset[str]] = set()
    picks = []
    for label, curve in one.curves:
        cases = frozenset(curve.cases.values())
        if cases not in seen:
            seen.add(cases)
            picks += [_Pick(case, curve.metric_id, int(place), label) for place, case in sorted(curve.cases.items())]
    return picks


def _placed(rows: Iterable[MeasuredT], picks: Iterable[_Pick], metric_id: str) -> list[tuple[str, MeasuredT]]:
    """Return label and row of what was picked, in the order of the picks, at its place on the axis of the metric.

    A curve may be of another metric of the same unit: two definitions in one figure, as the paper has them.
    """
    of_cases = {
        (part[0].case_id, part[0].metric_id): part for part in parts(rows, lambda row: (row.case_id, row.metric_id))
    }
    return [
        (pick.label, replace(row, message_size_bytes=pick.place, metric_id=metric_id))
        for pick in picks
        for row in of_cases.get((pick.case_id, pick.metric_id), ())
    ]


def _is_told_apart(rows: Iterable[tuple[str, PlannedCase]]) -> bool:
    """Return whether colour (a label's first name) and dash (the layer) tell every curve from the others."""
    looks: dict[tuple[str, str], set[str]] = {}
    for label, row in rows:
        looks.setdefault((label.split(" ")[0], row.layer_label), set()).add(label)
    return all(len(labels) == 1 for labels in looks.values())


def _named(row: MeasuredT, label: str, *, by_series: bool, along: str | None) -> MeasuredT:
    """Return a row under the paper's name: as a setting of its own, or as a fabric.

    Along another axis than the message size (the number of streams) a line goes over ranks that differ.
    """
    row = replace(row, ranks="") if along else row
    if by_series:
        return replace(row, series=label)
    return replace(row, series="", fabric=label.split(" ")[0])
