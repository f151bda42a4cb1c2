"""What the lab's switch tells over time, against what it counts in all and against the clock."""

from __future__ import annotations

import time

from tests.lab.on_hosts import MakeLab
from tests.lab.test_queues import CLASS_3, incast, slow

from fabriscope.lab import Lab
from fabriscope.model.switch_series import SwitchSeries
from fabriscope.running.launch_counters import series_of
from fabriscope.store import shapes


def test_periods_add_up_to_the_counters_and_lie_in_the_time_of_the_traffic(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=slow(ecn_min_bytes=10_000, ecn_max_bytes=20_000, shared_buffer_bytes=60_000))
    began_ns, before = time.time_ns(), counted(built)
    incast(built, ("b", "c"), "a", 200, CLASS_3 | 2)  # ECN-capable
    least = counted(built)
    told = shapes.decode(built.ask_switch(f"series {began_ns}"), SwitchSeries).of("eth")
    asked_ns, most = time.time_ns(), counted(built)  # hosts may look for each other at any time
    assert least["a"]["dropped_frames"] > 0
    assert least["a"]["marked_frames"] > 0
    for host, port in told.items():
        assert all(began_ns < at_ns <= asked_ns for at_ns in port.at_unix_ns)
        for name in ("wire_bytes", "dropped_frames", "marked_frames", "pauses"):
            first, last = (end[host][name] - before[host][name] for end in (least, most))
            # What was counted just before may be told of just after: a period ends later than what is in it.
            assert first <= sum(getattr(port, name)) <= last + before[host][name]
        assert len(port.length_ns) == len(port.frames) == len(port.at_unix_ns)
        begins_ns = [at_ns - length for at_ns, length in zip(port.at_unix_ns, port.length_ns, strict=True)]
        assert all(begin_ns >= end_ns for end_ns, begin_ns in zip(port.at_unix_ns, begins_ns[1:], strict=False))
        assert all(length > 0 for length in port.length_ns)
    assert max(told["a"].queue_bytes) == most["a"]["maximum_queue_bytes"]
    later = built.ask_switch(f"series {time.time_ns() + 10**9}")
    assert all(port["at_unix_ns"] == [] for port in later["ports"])
    assert series_of(later, "eth", asked_ns) is not None
    assert series_of(later, "ib", asked_ns) is None
    assert series_of({}, "eth", asked_ns) is None


def counted(built: Lab) -> dict[str, dict[str, int]]:
    """Return what each host's port has counted so far."""
    ports = built.counters()["ports"]
    return {port["host"]: {**port, "wire_bytes": port["down"]["wire_bytes"]} for port in ports}


def test_hosts_that_are_stopped_show_when_and_for_how_long(make_lab: MakeLab) -> None:
    built = make_lab(("a", "b", "c"), eth=slow(pfc="3", xoff_bytes=9_000, xon_bytes=4_500))
    began_ns = time.time_ns()
    incast(built, ("b", "c"), "a", 300)
    told = shapes.decode(built.ask_switch(f"series {began_ns}"), SwitchSeries).of("eth")
    ports = counted(built)
    for host in ("b", "c"):
        assert sum(told[host].pauses) == ports[host]["pauses"] > 0
        assert 0 < sum(told[host].paused_ns) <= ports[host]["paused_ns"]
    assert sum(told["a"].pauses) == 0
