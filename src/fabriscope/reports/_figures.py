"""Which figures a run has, and their rows: one list that the page, the files and the tests share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.group_words import name_of, ranks_text
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts, rows_of
from fabriscope.analysis.values.launch_values import LaunchValue
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import series_text
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.layers import layer_of
from fabriscope.model.metrics import METRICS, base_of, metric_of
from fabriscope.reports._figure import CURVES, Figure
from fabriscope.reports._group_figures import along, is_of_group, over_ranks, shown_layouts
from fabriscope.reports._paper_figures import paper_figures
from fabriscope.reports._stream_figures import AXIS, by_size, over_streams

MOST_SERIES = 3
"""Swept settings with figures of their own; of more, only the first, and the settings figures."""
UNDRAWN_METRICS = ["floor_ns", *(metric_id for metric_id in METRICS if metric_id.startswith("overlapped_"))]
"""The floor has a table; operation and computation together say less than the overlap that follows from them."""
RATIO_FIGURES = {
    "layer": ("MPI against TCP", "speed, MPI / TCP"),
    "transport": ("Other layers against TCP", "speed, layer / TCP"),
    "placement": ("Inside one host against between hosts", "speed, inside / between"),
    "fabric": ("Fabric against fabric", "speed, first / second"),
    "ranks": ("Arrangement against arrangement of the ranks", "speed, first / second"),
    "series": ("Setting against setting", "speed, first / second"),
    "mpi": ("MPI library against MPI library", "speed, first / second"),
    "instrument": ("Instrument against instrument", "shown, first / second"),
}


def figures(results: Results) -> list[Figure]:
    """Return the figures of a run in the order in which a report shows them."""
    return [*paper_figures(results), *curve_figures(results), *ratio_figures(results)]


def curve_figures(results: Results) -> Iterator[Figure]:
    """Yield a figure for each placement and metric (and setting, where few are swept), of groups for each benchmark."""
    measured = [row for row in results.graded if row.layer != "null" and row.metric_id not in UNDRAWN_METRICS]
    shown = [row for row in measured if row.value > 0 or metric_of(row.metric_id).unit.can_be_zero]  # of 0 B no rate
    of_pairs = [row for row in shown if not is_of_group(row.benchmark)]
    for part in parts(of_pairs, lambda row: (row.placement, row.metric_id)):
        first = part[0]
        title = metric_of(first.metric_id).title
        title = f"{title}{',' if ', ' in title else ''} {PLACEMENT_NAMES[first.placement]}"
        yield from _part_figures(results, f"{first.placement}-{_short(first.metric_id)}", title, part)
    of_groups = [row for row in shown if is_of_group(row.benchmark)]
    for part in parts(of_groups, lambda row: (row.placement, row.benchmark, row.metric_id)):
        yield from _group_figures(results, part)


def _group_figures(results: Results, part: Sequence[GradedEstimate]) -> Iterator[Figure]:
    first = part[0]
    benchmark, place = first.benchmark, PLACEMENT_NAMES[first.placement]
    name = f"{first.placement}-{_slug(benchmark)[1:]}-{_short(first.metric_id)}"
    if kind_of(benchmark).has_size:
        for ranks in shown_layouts(row.ranks for row in part):
            rows = [row for row in part if row.ranks == ranks]
            title = f"{name_of(benchmark, first.metric_id)}, {ranks_text(benchmark, ranks)}, {place}"
            yield from _part_figures(results, f"{name}{_slug(ranks)}", title, rows)
    if base_of(first.metric_id) in kind_of(benchmark).metrics[1:]:
        return  # follows from the same time
    for of_series in parts(part, lambda row: row.series):
        series = of_series[0].series
        for one in over_ranks(of_series):
            title = f"{one.title}{_of_series(series)}"
            figure = _curves(results, f"{name}-{one.name}{_slug(series)}", title, one.rows)
            rows, values = along(one.rows, one.axis), along(figure.values, one.axis)
            yield replace(figure, rows=rows, values=values, axis=one.axis, by_series=bool(one.hues), hues=one.hues)
        for streams in over_streams(of_series):
            title = f"{streams.title}{_of_series(series)}"
            named = f"{name}-over-streams{_slug(streams.name)}{_slug(series)}"
            figure = _curves(results, named, title, streams.rows)
            rows, values = by_size(figure.rows), by_size(figure.values)
            yield replace(figure, rows=rows, values=values, axis=AXIS, by_series=True)


def _part_figures(results: Results, name: str, title: str, part: Sequence[GradedEstimate]) -> Iterator[Figure]:
    """Yield a figure of the curves of each setting, then of each curve's settings; of one curve these alone."""
    all_series = list(dict.fromkeys(row.series for row in part if row.series))
    swept = [rows for rows in parts(part, lambda row: (row.fabric, row.layer, row.mpi)) if _is_swept(rows)]
    if not (len(swept) == 1 and len(swept[0]) == len(part)):
        for series in ["", *(all_series if len(all_series) <= MOST_SERIES else all_series[:1])]:
            rows = [row for row in part if row.series == series]
            if rows:
                yield _curves(results, f"{name}{_slug(series)}", f"{title}{_of_series(series)}", rows)
    for rows in swept:
        first = rows[0]
        which = " · ".join(word for word in (first.fabric, layer_of(first.layer).label, first.mpi) if word)
        figure = _curves(results, f"{name}-settings{_slug(which)}", f"{title}: settings of {which}", rows)
        yield replace(figure, by_series=True)


def _is_swept(rows: Sequence[GradedEstimate]) -> bool:
    return len({row.series for row in rows}) > 1


def _of_series(series: str) -> str:
    return f", {series_text(series)}" if series else ""


def _curves(results: Results, figure_id: str, title: str, rows: Sequence[GradedEstimate]) -> Figure:
    keys = {"case_id": pl.String, "layer": pl.String, "metric_id": pl.String}
    kept = pl.DataFrame([(row.case_id, row.layer, row.metric_id) for row in rows], schema=keys, orient="row")
    values = results.values.join(kept, on=list(keys), how="inner", maintain_order="left")
    return Figure(figure_id, title, CURVES, rows[0].metric_id, rows, rows_of(values, LaunchValue))


def ratio_figures(results: Results) -> Iterator[Figure]:
    """Yield a figure for each kind of comparison, benchmark, and (for most kinds) placement and setting.

    Of two fabrics the plan's earlier one is what the other is set against, as in the picture of all levels.
    """
    shown: dict[str, int] = {}
    for part in _ratio_parts([row for row in results.compared if row.pair.kind in RATIO_FIGURES]):
        kind, metric_id, curve = part[0].pair.kind, part[0].pair.metric_id, part[0].pair.left_curve
        title = RATIO_FIGURES[kind][0]
        what = metric_of(metric_id).words
        which = ""
        if is_of_group(curve.benchmark):
            what = f"{name_of(curve.benchmark, metric_id)}, {ranks_text(curve.benchmark, curve.ranks)}"
            which = f"-{curve.benchmark}-{curve.ranks}"
        place = "" if kind == "placement" else f", {PLACEMENT_NAMES[curve.placement]}"
        setting = _setting(part[0])
        figure_id = f"ratio-{kind}-{curve.placement}-{_short(metric_id)}{_slug(which)}"
        shown[figure_id] = shown.get(figure_id, 0) + 1
        if shown[figure_id] <= MOST_SERIES:
            text = f"{title}: {what}{place}{f', {setting}' if setting else ''}"
            ratios = [row.other_way() for row in part] if kind == "fabric" else part
            yield Figure(f"{figure_id}{_slug(setting)}", text, kind, metric_id, ratios=ratios)


def _setting(row: Compared) -> str:
    """Return the setting whose figure a row is in.

    Settings stand against each other in one figure, and in figures of their own where other things are compared.
    """
    return "" if row.pair.kind == "series" else row.pair.left_curve.series


def _figure_key(row: Compared) -> tuple[str, ...]:
    return row.pair.kind, row.pair.left_curve.placement, row.pair.metric_id, _setting(row)


def _ratio_parts(known: Sequence[Compared]) -> Iterator[list[Compared]]:
    """Yield the rows of each figure; of benchmarks of many ranks those with sizes, and few layouts."""
    yield from parts((row for row in known if not is_of_group(row.pair.left_curve.benchmark)), _figure_key)
    shared = [row for row in known if is_of_group(row.pair.left_curve.benchmark) and row.message_size_bytes > 0]
    for part in parts(shared, lambda row: (*_figure_key(row), row.pair.left_curve.benchmark)):
        for ranks in shown_layouts(row.pair.left_curve.ranks for row in part):
            yield [row for row in part if row.pair.left_curve.ranks == ranks]


def _short(metric_id: str) -> str:
    return metric_id.removesuffix("_bytes_per_s").removesuffix("_per_s").removesuffix("_ns").replace("_", "-")


def _slug(text: str) -> str:
    kept = "".join(letter if letter.isalnum() else "-" for letter in text.lower())
    return "-" + "-".join(part for part in kept.split("-") if part) if text else ""
