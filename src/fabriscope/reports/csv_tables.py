"""The numbers behind every figure and sentence, as CSV in the stored units."""

from __future__ import annotations

from pathlib import Path

from fabriscope.model.run_data import RunData
from fabriscope.reports._essence import essence_of
from fabriscope.reports.base import Options, Report


def render(run: RunData, out: Path, options: Options) -> list[Path]:  # noqa: ARG001 - tables have no options
    """Write estimates, launch values, the summary, comparisons, ranges and failures, and return them."""
    essence = essence_of(run)
    tables = {
        "summary": essence.summary,
        "estimates": essence.estimates,
        "groups": essence.groups,
        "launch-values": essence.values,
        "comparisons": essence.comparisons,
        "ranges": essence.ranges,
        "failures": essence.failures,
    }
    paths = []
    for name, frame in tables.items():
        paths.append(out / f"{name}.csv")
        frame.write_csv(paths[-1])
    return paths


REPORT = Report("csv", "estimates, launch values, summary, comparisons, ranges and failures as CSV files", render)
