"""What the lab's switch tells over time, against what it counts in all and against the clock."""

from __future__ import annotations

import time

from tests.lab.on_hosts import MakeLab
from tests.lab.test_queues import CLASS_3, incast, slow

from fabriscope.model.switch_series import SwitchSeries
from fabriscope.running.launch_counters import series_of
from fabriscope.store import shapes

PERIOD_NS = 10_000_000


def test_periods_add_up_to_the_counters_and_lie_in_the_time_of_the_traffic(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=slow(ecn_min_bytes=10_000, ecn_max_bytes=20_000, shared_buffer_bytes=60_000))
    before = {port["host"]: port for port in built.counters()["ports"]}
    began_ns = time.time_ns()
    incast(built, ("b", "c"), "a", 200, CLASS_3 | 2)  # ECN-capable
    ended_ns = time.time_ns()
    told = shapes.decode(built.ask_switch(f"series {began_ns}"), SwitchSeries).of("eth")
    counted = {port["host"]: port for port in built.counters()["ports"]}
    assert counted["a"]["dropped_frames"] > 0
    assert counted["a"]["marked_frames"] > 0
    for host, port in told.items():
        assert all(began_ns < at_ns <= ended_ns + 2 * PERIOD_NS for at_ns in port.at_unix_ns)
        for name in ("dropped_frames", "marked_frames", "pauses"):
            assert sum(getattr(port, name)) == counted[host][name] - before[host][name]
    assert sum(told["a"].wire_bytes) == counted["a"]["down"]["wire_bytes"] - before["a"]["down"]["wire_bytes"]
    assert max(told["a"].queue_bytes) == counted["a"]["maximum_queue_bytes"]
    later = built.ask_switch(f"series {time.time_ns() + 10**9}")
    assert all(port["at_unix_ns"] == [] for port in later["ports"])
    assert series_of(later, "eth", ended_ns) is not None
    assert series_of(later, "ib", ended_ns) is None
    assert series_of({}, "eth", ended_ns) is None


def test_hosts_that_are_stopped_show_when_and_for_how_long(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=slow(pfc="3", xoff_bytes=9_000, xon_bytes=4_500))
    began_ns = time.time_ns()
    incast(built, ("b", "c"), "a", 300)
    told = shapes.decode(built.ask_switch(f"series {began_ns}"), SwitchSeries).of("eth")
    counted = {port["host"]: port for port in built.counters()["ports"]}
    for host in ("b", "c"):
        assert sum(told[host].pauses) == counted[host]["pauses"] > 0
        assert 0 < sum(told[host].paused_ns) <= counted[host]["paused_ns"]
    assert sum(told["a"].pauses) == 0
