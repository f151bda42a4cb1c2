"""The report of streams has a figure over the number of senders with a line for each message size, in every run."""

from __future__ import annotations

from pathlib import Path

from tests import needs
from tests.small_runs_of_streams import measured

from fabriscope.analysis.results import results_of
from fabriscope.reports._figures import figures

PLAN = """
name: by-size
hosts: node[1-3]
fabrics: {pause: {lab: {preset: ethernet-100, rate: 50Mb/s, buffer: 64KiB, on_full: pause}}}
layers: [tcp]
many_to_one: {streams: [1, 2]}
benchmarks: {many_to_one: {sizes: [4KiB, 16KiB], duration: 100ms}}
launches: 2
budget: 500ms
floor: false
"""


def test_every_size_has_its_line_over_the_number_of_senders(tmp_path: Path) -> None:
    needs.lab()
    results = results_of(measured(PLAN, tmp_path))
    told = {(row.message_size_bytes, row.ranks) for row in results.graded if row.metric_id == "aggregate_bytes_per_s"}
    found = [one for one in figures(results) if "-over-streams-" in one.figure_id]
    if len(told) < 4:  # windows that overlapped too little are no aggregate
        return
    (figure,) = found
    assert figure.axis == "stream_count"
    assert {(row.series, row.message_size_bytes) for row in figure.rows} == {
        (size, streams) for size in ("4 KiB", "16 KiB") for streams in (1, 2)
    }
    assert {(one.series, one.message_size_bytes) for one in figure.values} >= {("4 KiB", 1), ("16 KiB", 2)}
