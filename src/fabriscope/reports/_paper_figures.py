"""The figures of a paper, drawn of this run: the same grammar as all figures, the paper's own choice of curves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from fabriscope.analysis.frames import IN_TRUTH
from fabriscope.analysis.papers.paper import PaperFigure
from fabriscope.analysis.papers.selections import SIZE
from fabriscope.analysis.results import Results
from fabriscope.reports._figure import Figure
from fabriscope.reports._style import layer_of

LABEL, PLACE = "_label", "_place"


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
    metric_id = str(one.draw["metric_id"])
    is_asked = ~pl.col("layer").str.contains(IN_TRUTH, literal=True)
    frame = pl.DataFrame(picks, schema={"case_id": pl.String, PLACE: pl.Int64, LABEL: pl.String})
    rows, values = (
        _placed(of_all.filter(pl.col("metric_id") == metric_id, is_asked), frame)
        for of_all in (results.estimates, results.values)
    )
    if not rows.height:
        return None
    title = f"{place_name(one.figure_id)}. {one.caption}"
    figure = Figure(figure_id_of(one), title, "curves", metric_id, rows, values, axis=one.draw.get("along") or SIZE)
    by_series = not _is_told_apart(rows)
    rows, values = (_named(one_of, by_series) for one_of in (rows, values))
    return replace(figure, rows=rows, values=values, by_series=by_series)


def _picks(one: PaperFigure) -> list[dict[str, Any]]:
    """Return case, place and label of every point; a curve that another name stands for already is drawn once."""
    seen: set[frozenset[str]] = set()
    picks = []
    for label, curve in one.curves:
        cases = frozenset(curve.cases.values())
        if cases not in seen:
            seen.add(cases)
            picks += [
                {"case_id": case_id, PLACE: int(place), LABEL: label} for place, case_id in sorted(curve.cases.items())
            ]
    return picks


def _placed(rows: pl.DataFrame, picks: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the picked cases, in the order of the picks, at their places on the axis."""
    joined = picks.join(rows, on="case_id", how="inner", maintain_order="left")
    return joined.with_columns(pl.col(PLACE).alias(SIZE)).drop(PLACE)


def _is_told_apart(rows: pl.DataFrame) -> bool:
    """Return whether colour (a label's first name) and dash (the layer) tell every curve from the others."""
    looks: dict[tuple[str, str], set[str]] = {}
    for row in rows.iter_rows(named=True):
        looks.setdefault((row[LABEL].split(" ")[0], layer_of(row)), set()).add(row[LABEL])
    return all(len(labels) == 1 for labels in looks.values())


def _named(rows: pl.DataFrame, by_series: bool) -> pl.DataFrame:
    """Return the rows under the paper's names: as settings of their own, or as fabrics."""
    label = pl.col(LABEL)
    series, fabric = (label, pl.col("fabric")) if by_series else (pl.lit(""), label.str.split(" ").list.first())
    return rows.with_columns(series.alias("series"), fabric.alias("fabric")).drop(LABEL)
