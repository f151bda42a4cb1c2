"""What the instrument itself costs."""

from __future__ import annotations

from fabriscope.analysis.results import Results
from fabriscope.analysis.words import interval_text, time_text
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Block, Column, Paragraph, Section, Sections, Table

_NOTE = "No result can mean anything finer than this. It is shown beside the results and not subtracted from them."


def _build(results: Results) -> list[Section]:
    rows = _costs(results)
    columns = [Column("what"), Column("cost", "number"), Column("how it was found")]
    blocks: list[Block] = [Paragraph("It was not measured in this run.")]
    if rows:
        blocks = [Table(columns, rows), Paragraph(_NOTE, is_note=True)]
    return [Section("floor", "The instrument’s floor", blocks)]


def _costs(results: Results) -> list[tuple[str, str, str]]:
    """Return what the instrument itself costs: name, value, what it means."""
    rows = []
    for row in (row for row in results.graded if row.layer == "null"):
        interval = interval_text(row.low, row.high, time_text)
        value = f"{time_text(row.value)}{f' ({interval})' if interval else ''}"
        if row.metric_id == "floor_ns":
            rows.append(("Recording an operation that does nothing", value, "benchmark empty"))
        elif row.metric_id == "latency_ns":
            rows.append(("Half a round trip over the null transport", value, "ping-pong without any bytes moved"))
    costs = sorted(cost for record in results.run.journal if (cost := record.details.clock_cost_ns) is not None)
    if costs:
        middle, name = costs[len(costs) // 2], _clock_name(results.run)
        rows.append(("Reading the clock once", time_text(middle), f"{name}, median over {len(costs)} launches"))
    return rows


def _clock_name(run: RunData) -> str:
    names = (record.details.clock_name for record in run.journal)
    return next((name for name in names if name is not None), "clock")


SECTION = Sections("floor", 70, _build)
