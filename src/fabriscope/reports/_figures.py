"""Which figures a run has, and their rows: one list that the page, the files and the tests share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.group_words import name_of, ranks_text
from fabriscope.analysis.results import Results
from fabriscope.model.benchmarks import PAIR, kind_of
from fabriscope.model.metrics import METRICS, base_of, metric_of
from fabriscope.reports._figure import Figure
from fabriscope.reports._group_figures import along, is_of_group, over_ranks, shown_layouts
from fabriscope.reports._paper_figures import paper_figures

MOST_SERIES = 3
"""So many swept settings have figures of their own; of more, only the first, and the settings figures."""
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
    shown = results.estimates.filter(pl.col("layer") != "null", ~pl.col("metric_id").is_in(UNDRAWN_METRICS))
    of_group = shown.select(is_of_group().alias("is"))["is"] if shown.height else pl.Series([], dtype=pl.Boolean)
    for part in shown.filter(~of_group).partition_by("placement", "metric_id", maintain_order=True):
        first = part.row(0, named=True)
        title = f"{metric_of(first['metric_id']).title} {PLACEMENT_NAMES[first['placement']]}"
        yield from _part_figures(results, f"{first['placement']}-{_short(first['metric_id'])}", title, part)
    for part in shown.filter(of_group).partition_by("placement", "benchmark", "metric_id", maintain_order=True):
        yield from _group_figures(results, part)


def _group_figures(results: Results, part: pl.DataFrame) -> Iterator[Figure]:
    first = part.row(0, named=True)
    benchmark, place = first["benchmark"], PLACEMENT_NAMES[first["placement"]]
    name = f"{first['placement']}-{_slug(benchmark)[1:]}-{_short(first['metric_id'])}"
    if kind_of(benchmark).has_size:
        for ranks in shown_layouts(part):
            rows = part.filter(pl.col("ranks") == ranks)
            title = f"{name_of(benchmark, first['metric_id'])}, {ranks_text(benchmark, ranks)}, {place}"
            yield from _part_figures(results, f"{name}{_slug(ranks)}", title, rows)
    if base_of(first["metric_id"]) in kind_of(benchmark).metrics[1:]:
        return  # follows from the same time
    for of_series in part.partition_by("series", maintain_order=True):
        series = of_series["series"][0]
        for axis, end, title, rows in over_ranks(of_series):
            figure_id = f"{name}-{end}{_slug(series)}"
            figure = _curves(results, figure_id, f"{title}{f', {series}' if series else ''}", rows)
            values = None if figure.values is None else along(figure.values, axis)
            yield replace(figure, rows=along(rows, axis), values=values, axis=axis, by_series="hue" in rows.columns)


def _part_figures(results: Results, name: str, title: str, part: pl.DataFrame) -> Iterator[Figure]:
    all_series = [series for series in part["series"].unique(maintain_order=True).to_list() if series]
    for series in ["", *(all_series if len(all_series) <= MOST_SERIES else all_series[:1])]:
        rows = part.filter(pl.col("series") == series)
        if rows.height:
            yield _curves(results, f"{name}{_slug(series)}", f"{title}{f', {series}' if series else ''}", rows)
    if len(all_series) > 1:
        yield from _settings_figures(results, name, title, part)


def _settings_figures(results: Results, name: str, title: str, part: pl.DataFrame) -> Iterator[Figure]:
    for rows in part.filter(pl.col("series") != "").partition_by("fabric", "layer", "mpi", maintain_order=True):
        first = rows.row(0, named=True)
        parts = [first["fabric"], first["layer"].upper(), first["mpi"]]
        which = " · ".join(part for part in parts if part)
        yield _curves(results, f"{name}-settings{_slug(which)}", f"{title}: settings of {which}", rows, by_series=True)


def _curves(results: Results, figure_id: str, title: str, rows: pl.DataFrame, *, by_series: bool = False) -> Figure:
    keys = ["case_id", "layer", "metric_id"]
    kept = rows.select(*keys, *(["hue"] if "hue" in rows.columns else []))
    values = results.values.join(kept, on=keys, how="inner", maintain_order="left")
    return Figure(figure_id, title, "curves", str(rows["metric_id"][0]), rows, values, by_series)


def ratio_figures(results: Results) -> Iterator[Figure]:
    """Yield a figure for each kind of comparison, benchmark, and (for most kinds) placement and setting."""
    known = results.comparisons.filter(pl.col("kind").is_in(list(RATIO_FIGURES)))
    # Settings stand against each other in one figure, and in figures of their own where other things are compared.
    known = known.with_columns(
        pl.when(pl.col("kind") == "series").then(pl.lit("")).otherwise(pl.col("left_series")).alias("_series")
    )
    shown: dict[str, int] = {}
    for part in _ratio_parts(known):
        first = part.row(0, named=True)
        title = RATIO_FIGURES[first["kind"]][0]
        what = metric_of(first["metric_id"]).title.lower()
        which = ""
        if kind_of(first["left_benchmark"]).pattern != PAIR:
            what = name_of(first["left_benchmark"], first["metric_id"])
            which = f"-{first['left_benchmark']}-{first['left_ranks']}"
            what += f", {ranks_text(first['left_benchmark'], first['left_ranks'])}"
        place = "" if first["kind"] == "placement" else f", {PLACEMENT_NAMES[first['left_placement']]}"
        setting = f", {first['_series']}" if first["_series"] else ""
        figure_id = f"ratio-{first['kind']}-{first['left_placement']}-{_short(first['metric_id'])}{_slug(which)}"
        shown[figure_id] = shown.get(figure_id, 0) + 1
        if shown[figure_id] <= MOST_SERIES:
            figure_id += _slug(first["_series"])
            yield Figure(figure_id, f"{title}: {what}{place}{setting}", first["kind"], first["metric_id"], part)


def _ratio_parts(known: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of each figure; of benchmarks of many ranks those with sizes, and few layouts."""
    keys = ("kind", "left_placement", "metric_id", "_series")
    is_shared = [kind_of(name).pattern != PAIR for name in known["left_benchmark"]]
    yield from known.filter([not one for one in is_shared]).partition_by(keys, maintain_order=True)
    shared = known.filter(is_shared).filter(pl.col("message_size_bytes") > 0)
    for part in shared.partition_by(*keys, "left_benchmark", maintain_order=True):
        for ranks in shown_layouts(part, "left_ranks"):
            yield part.filter(pl.col("left_ranks") == ranks)


def _short(metric_id: str) -> str:
    return metric_id.removesuffix("_bytes_per_s").removesuffix("_per_s").removesuffix("_ns").replace("_", "-")


def _slug(text: Any) -> str:
    kept = "".join(letter if letter.isalnum() else "-" for letter in str(text).lower())
    return "-" + "-".join(part for part in kept.split("-") if part) if text else ""
