"""Programs that solve a problem: how fast, over which fabric, and how much of it a fabric could change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.group_words import ranks_text
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.groups import Group
from fabriscope.analysis.words import UNKNOWN, interval_text, value_text
from fabriscope.model.application_metrics import OF_HPCC, ids_of
from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.metrics import metric_of
from fabriscope.reports._badges import badge_cells, badge_columns, points_of_curves
from fabriscope.reports.section import (
    Block,
    Cell,
    Column,
    Folded,
    Heading,
    Paragraph,
    Row,
    Section,
    Sections,
    Table,
)

_NOTE = (
    "A run counts where its program has verified the result; one that failed stands among the failures. Rates are by "
    "the program’s own count of operations. The share of computing is the ranks’ time outside calls of MPI: what is "
    "left is the most that another fabric could change."
)
_TIME, _COMPUTING = "time_to_solution_ns", "computing_percent"
_OF_PEAK, _OF_DGEMM = "linpack_of_peak_percent", "linpack_of_dgemm_percent"
_COLUMNS = (
    (_TIME, "time to solution"),
    (_COMPUTING, "computing"),
    (_OF_PEAK, "of nominal peak"),
    (_OF_DGEMM, "of DGEMM"),
)
_SHORT = {_TIME: "time", _COMPUTING: "computing", _OF_PEAK: "of peak", _OF_DGEMM: "of DGEMM"}
Runs = Mapping[str, Group]
"""What the launches of one curve have told, by metric id."""


def _build(results: Results) -> list[Section]:
    found = [row for row in results.grouped if kind_of(row.benchmark).pattern == APPLICATION]
    if not found:
        return []
    curves: dict[Curve, dict[str, Group]] = {}
    for row in found:
        curves.setdefault(row.curve, {})[row.metric_id] = row
    order = list(dict.fromkeys(row.benchmark for row in found))
    by_problem = sorted(curves.items(), key=lambda item: order.index(item[0].benchmark))
    told = [(curve, runs) for curve, runs in by_problem if kind_of(curve.benchmark).metrics[0] in runs]
    shown = [(name, title) for name, title in _COLUMNS if any(name in runs for _, runs in told)]
    blocks: list[Block] = [_table(results, told, shown), *_others(told), Paragraph(_NOTE, is_note=True)]
    brief: list[Block] = []
    for part in parts(told, lambda item: item[0].placement):
        rows: list[Row] = [_brief(curve, runs, shown) for curve, runs in part]
        heads = ["application", "ranks", "network", "layer", "rate", *(_SHORT[name] for name, _ in shown)]
        title = f"applications, {PLACEMENT_NAMES[part[0][0].placement]}"
        brief += [Heading(title), Table([Column(one) for one in heads], rows)]
    return [Section("applications", "Applications", blocks, "Applications", brief=brief)]


def _brief(curve: Curve, runs: Runs, shown: Sequence[tuple[str, str]]) -> list[str]:
    names = (kind_of(curve.benchmark).metrics[0], *(name for name, _ in shown))
    count = str(next(iter(runs.values())).rank_count)
    where = [kind_of(curve.benchmark).title, count, curve.fabric or UNKNOWN]
    return [*where, curve.layer_label, *(_text(runs, name) for name in names)]


def _text(runs: Runs, metric_id: str) -> str:
    return value_text(runs[metric_id].first.centre.value, metric_id) if metric_id in runs else ""


def _cell(runs: Runs, metric_id: str) -> Cell:
    if metric_id not in runs:
        return Cell("")
    centre = runs[metric_id].first.centre
    interval = interval_text(centre.low, centre.high, partial(value_text, metric_id=metric_id))
    return Cell(value_text(centre.value, metric_id), interval)


def _table(results: Results, told: Sequence[tuple[Curve, Runs]], shown: Sequence[tuple[str, str]]) -> Table:
    """Return what is told of every problem over every fabric."""
    has_badge = bool(results.transport.height)
    points = points_of_curves(results.graded)
    rows: list[Row] = []
    for curve, runs in told:
        first = kind_of(curve.benchmark).metrics[0]
        rows.append(
            [
                kind_of(curve.benchmark).title,
                Cell(ranks_text(curve.benchmark, curve.ranks), PLACEMENT_NAMES[curve.placement]),
                curve.label(ranks=False),
                _cell(runs, first),
                *(_cell(runs, name) for name, _ in shown),
                str(runs[first].launch_count),
                *badge_cells(points.get((curve, first), []), has_badge=has_badge),
            ]
        )
    columns = [
        Column("application"), Column("ranks"), Column("network, layer"), Column("rate", "number"),
        *(Column(title, "number") for _, title in shown), Column("launches", "number"),
        *badge_columns(has_badge=has_badge),
    ]  # fmt: skip
    return Table(columns, rows, [kind_of(curve.benchmark).title for curve, _ in told])


def _others(told: Sequence[tuple[Curve, Runs]]) -> list[Block]:
    """Return the table of what hpcc tells beside HPL, a column for each curve."""
    curves = [(curve, runs) for curve, runs in told if set(ids_of(OF_HPCC)) & set(runs)]
    if not curves:
        return []
    rows: list[Row] = [
        [metric_of(name).title, *(_cell(runs, name) for _, runs in curves)]
        for name in ids_of(OF_HPCC)
        if any(name in runs for _, runs in curves)
    ]
    columns = [Column("HPC Challenge"), *(Column(curve.label(), "number") for curve, _ in curves)]
    return [Folded("What hpcc tells beside HPL", [Table(columns, rows)])]


SECTION = Sections("applications", 45, _build)
