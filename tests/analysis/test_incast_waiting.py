"""A wire that stays empty for other reasons than a slow machine is none of its limit."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.test_incast import MS, QUIET, point

from fabriscope.analysis.incast.evidence import evidence_by_entry
from fabriscope.analysis.incast.points import UNDECIDED
from fabriscope.analysis.incast.states import MACHINE, knee_of, state_of
from fabriscope.analysis.incast.waiting import waits_for
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.fabric import Fabric
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.manifest import Manifest
from fabriscope.model.record import LaunchRecord, Result
from fabriscope.model.run_data import RunData

STREAMS = Case(Entry("tcp", "eth", "inter", ("a", "b", "c")), "many_to_one", 65536, 4)
VERBS = replace(STREAMS, entry=replace(STREAMS.entry, layer="verbs"))


@pytest.mark.parametrize(
    ("case", "switch", "said"),
    [
        (STREAMS, SwitchSpec(), ""),
        (STREAMS, SwitchSpec(delay_ns=7 * MS), ""),
        (STREAMS, SwitchSpec(delay_ns=50 * MS), "there and back takes 100 ms at least, and streams of 300 ms hardly"),
        (STREAMS, SwitchSpec(reorder_share=0.01, reorder_delay_ns=MS), "the switch holds frames back"),
        (replace(STREAMS, parameters=(("mode", "rounds"),)), SwitchSpec(), "in rounds the wire is empty"),
        (replace(STREAMS, socket=SocketOptions(send_buffer_bytes=4096)), SwitchSpec(), "4 KiB in a socket buffer"),
        (VERBS, SwitchSpec(), ""),
        (replace(VERBS, window_size=1), SwitchSpec(), "one message of a stream is under way"),
    ],
)
def test_what_the_plan_itself_leaves_empty(case: Case, switch: SwitchSpec, said: str) -> None:
    found = waits_for(case, 300 * MS, None, switch)
    assert (said in found, bool(found)) == (True, bool(said))


def test_a_real_wires_delay_counts_where_somebody_says_it() -> None:
    assert "200 ms" in waits_for(STREAMS, 300 * MS, Fabric("eth", {}, delay_ns=100 * MS), None)
    assert waits_for(STREAMS, 300 * MS, Fabric("eth", {}), None) == ""


def test_what_waits_is_not_the_machines_limit() -> None:
    slow = point(4, 20.0)
    assert MACHINE in state_of([slow], None)[1]
    state, because = state_of([replace(slow, waits_for="there and back takes 100 ms")], None)
    assert state == UNDECIDED
    assert because.endswith("paused: there and back takes 100 ms, so that nothing tells what the limit is")
    falls = [point(1, 98.0), replace(point(4, 20.0), waits_for="the switch holds frames back")]
    state, because = state_of(falls, knee_of(falls))
    assert (state, MACHINE in because, "holds frames back" in because) == (UNDECIDED, False, True)


def test_what_a_link_that_was_down_lost_is_lost() -> None:
    counters = {"fabric": "eth", "host": "a", "dropped_frames": 0, "lost_frames": 2, "link_down_frames": 40}
    record = LaunchRecord(
        1, 1, STREAMS.entry.entry_id, 1, results={STREAMS.case_id: Result("ok")}, fabric_counters={"ports": [counters]}
    )
    manifest = Manifest(2, cases={STREAMS.case_id: STREAMS})
    run = RunData("", manifest, (record,), pl.LazyFrame(), lines=(record,))
    found = evidence_by_entry(run)[STREAMS.entry.entry_id]
    assert (found.lost_frames, found.has_losses) == (42, True)
    half = point(2, 50.0, evidence=replace(QUIET, lost_frames=found.lost_frames))
    assert MACHINE not in state_of([half], None)[1]
