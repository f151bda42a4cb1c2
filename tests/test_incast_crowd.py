"""Ten hosts on one machine, nine of which send four streams each: it completes, and the machine is the limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import needs
from tests.small_runs_of_streams import measured

from fabriscope.analysis.incast.points import UNDECIDED
from fabriscope.analysis.incast.states import FILLS
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.streams import windows_by_launch

pytestmark = pytest.mark.timeout(900)  # 37 processes and a switch share the processors of a busy machine

SENDERS, STREAMS = 9, 36
PLAN = """
name: crowd
hosts: node[1-10]
fabrics: {fast: {lab: {preset: gige, rate: 40Gb/s, buffer: 64MiB, on_full: pause}}}
layers: [tcp]
many_to_one: {to: node1, from: 'node[2-10]', streams: [9, 36]}
benchmarks: {many_to_one: {sizes: [64KiB], duration: 200ms}}
launches: 2
budget: 500ms
floor: false
case_timeout: 120s
"""


def test_nine_hosts_send_four_streams_each_and_nothing_is_claimed_of_the_fabric(tmp_path: Path) -> None:
    needs.lab()
    data = measured(PLAN, tmp_path)
    assert [record.reason for record in data.journal if record.status != "ok"] == []
    assert len(data.journal) == 2 * 2
    windows = [window for of_launch in windows_by_launch(data).values() for window in of_launch]
    assert {len(window.series) for window in windows} == {SENDERS, STREAMS}
    hosts = max((case.entry.hosts for case in data.manifest.cases.values()), key=len)
    assert hosts[0] == "node1"
    assert {host: hosts.count(host) for host in hosts[1:]} == {f"node{number}": 4 for number in range(2, 11)}
    (curve,) = results_of(data).incast_curves
    shares = [point.share_of_limit for point in curve.points if point.share_of_limit is not None]
    if shares and max(shares) >= FILLS:
        return  # a machine that sends 36 Gb/s through the lab's switch
    was_full = any(point.evidence.has_losses or point.evidence.pauses for point in curve.points)
    assert curve.state == UNDECIDED or was_full
    if not was_full and len(shares) == len(curve.points):
        assert "the machine is the limit, and of the fabric nothing can be told" in curve.because
