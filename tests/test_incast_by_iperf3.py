"""Many to one in a small lab, by iperf3: told as our engine's streams are, or refused if they did not overlap."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests import needs

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.incast.points import UNDECIDED
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.streams import windows_by_launch
from fabriscope.progress import QuietProgress
from fabriscope.running import run, verify
from fabriscope.running.vocabulary import vocabulary

PLAN = """
name: by-iperf3
hosts: node[1-4]
fabrics: {slow: {lab: {preset: ethernet-100, rate: 20Mb/s, buffer: 64KiB, on_full: pause}}}
instruments: [iperf3]
KEY: {to: TO, from: 'node[3-4]', streams: STREAMS}
benchmarks: {KEY: {sizes: [64KiB]}}
launches: 1
budget: 1s
floor: false
"""


@pytest.mark.parametrize(
    ("key", "to", "streams", "ranks"), [("many_to_one", "node1", 2, 3), ("many_to_many", "'node[1-2]'", 1, 4)]
)
def test_streams_by_iperf3(key: str, to: str, streams: int, ranks: int, tmp_path: Path) -> None:
    needs.lab()
    needs.program("iperf3")
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("KEY", key).replace("TO", to).replace("STREAMS", str(streams)))
    run.start(plans.load(path, vocabulary()), tmp_path / "run", QuietProgress(), threading.Event())
    data = store.open_run(tmp_path / "run").read()
    (windows,) = windows_by_launch(data).values()
    (window,) = windows
    assert len(window.series) == 2
    assert len(window.receiver_starts_ns) == ranks - 2
    assert all(len(counts) == 30 for counts in window.series.values())
    assert all(sum(counts) > 0 for counts in window.series.values())
    assert not verify.against_raw(data).findings
    results = results_of(data)
    if window.is_comparable:
        (curve,) = results.incast_curves
        (point,) = curve.points
        assert point.share_of_limit is None or 0 < point.share_of_limit <= 1.01
    else:
        assert all(curve.state == UNDECIDED for curve in results.incast_curves)
