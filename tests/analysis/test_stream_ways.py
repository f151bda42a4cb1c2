"""Which wires streams share behind two switches in a row, and what follows for limit, drops and state."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.test_incast import MS, point, window
from tests.analysis.test_switch_windows import BEGIN_NS, ORIGIN_NS, port

from fabriscope.analysis.frames import planned_cases
from fabriscope.analysis.incast import curves, switch_windows
from fabriscope.analysis.incast.evidence import evidence_by_entry
from fabriscope.analysis.incast.points import UNDECIDED
from fabriscope.analysis.incast.states import state_of
from fabriscope.analysis.incast.switch_windows import SwitchCounts, counts_by_case, evidence_of
from fabriscope.analysis.values.bounds import bound_bytes_per_s
from fabriscope.analysis.values.launch_values import limits_of
from fabriscope.analysis.values.ways import BACK, THERE, cables_of, stream_pairs, wire_count
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.manifest import LabFacts, Manifest
from fabriscope.model.record import LaunchRecord, Result
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_queues import SwitchQueues
from fabriscope.model.switch_series import SwitchSeries


def switch(behind: str) -> SwitchSpec:
    return SwitchSpec("gige", 10**9, queues=SwitchQueues(second_switch=behind))


def entry(receivers: str, senders: str, *, victim: bool = False) -> Entry:
    """Return streams between hosts of one letter each; of a bystander the first two are the pair."""
    hosts = (*receivers, *senders)
    return Entry("tcp", "eth", "inter", hosts, victim=victim, receivers=1 if victim else len(receivers))


@pytest.mark.parametrize(
    ("receivers", "senders", "behind", "cables", "wires"),
    [
        ("a", "bcd", "", (), 1),
        ("a", "bcd", "c,d", (BACK,), 1),
        ("a", "bcd", "a", (THERE,), 1),
        ("ab", "cd", "", (), 2),
        ("ab", "cd", "c,d", (BACK,), 1),
        ("ab", "cccc", "c", (BACK,), 1),
        ("ab", "cd", "b,d", (), 2),
        ("ab", "dc", "b,d", (THERE, BACK), 2),
        ("ab", "cdcd", "b,d", (THERE, BACK), 2),
        ("abe", "cdf", "c,d", (BACK,), 2),
        ("abe", "ccc", "", (), 1),
    ],
)
def test_what_streams_have_together_is_bound_by_ports_and_the_cable(
    receivers: str, senders: str, behind: str, cables: tuple[str, ...], wires: int
) -> None:
    one = entry(receivers, senders)
    assert (cables_of(one, switch(behind)), wire_count(one, switch(behind))) == (cables, wires)
    assert cables_of(one, None) == ()


def test_the_streams_of_a_bystanders_entry_are_those_beside_it() -> None:
    assert stream_pairs(entry("xy", "abc", victim=True)) == (("b", "a"), ("c", "a"))


def manifest_of(case: Case, behind: str) -> Manifest:
    return Manifest(
        2, fabrics={"eth": Fabric("eth", {}, "tcp", 10**9, 1500)}, cases={case.case_id: case},
        entries={case.entry.entry_id: case.entry}, lab=LabFacts(fabrics={"eth": switch(behind)}),
    )  # fmt: skip


@pytest.mark.parametrize(("behind", "wires"), [("", 2), ("c,d", 1)])
def test_the_wire_allows_what_the_cable_does(behind: str, wires: int) -> None:
    case = Case(entry("ab", "cd"), "many_to_many", 65536)
    manifest = manifest_of(case, behind)
    (row,) = planned_cases(RunData("", manifest, (), pl.LazyFrame()))
    alone = bound_bytes_per_s(10**9, 1500, 1448, "tcp") or 0.0
    assert limits_of(manifest).of("aggregate_bytes_per_s", row) == pytest.approx(wires * alone)


def test_frames_that_the_cable_dropped_are_dropped_on_their_way() -> None:
    case = Case(entry("a", "bc"), "many_to_one", 65536)
    cable = {"fabric": "eth", "from": 2, "to": 1, "pauses": 0}
    priorities = [{"priority": 0, "dropped_frames": 500, "marked_frames": 3}, {"priority": 3, "dropped_frames": 79}]
    other = {**cable, "from": 1, "to": 2, "priorities": [{"priority": 0, "dropped_frames": 22}]}
    record = LaunchRecord(
        1, 1, case.entry.entry_id, 1, results={case.case_id: Result("ok")},
        fabric_counters={
            "ports": [{"fabric": "eth", "host": "a", "dropped_frames": 4, "marked_frames": 1}],
            "trunks": [{**cable, "priorities": priorities}, other],
        },
    )  # fmt: skip
    run = RunData("", manifest_of(case, "b,c"), (record,), pl.LazyFrame(), lines=(record,))
    found = evidence_by_entry(run)[case.entry.entry_id]
    assert (found.dropped_frames, found.marked_frames) == (4 + 500 + 79, 1 + 3)


def test_drops_on_the_cable_in_a_window_are_no_machines_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(entry("ab", "cd"), "many_to_many", 65536)
    told = replace(window({2: (1, 1, 1, 1), 3: (1, 1, 1, 1)}, receivers=2), origin_unix_ns=ORIGIN_NS)
    told = replace(told, case_id=case.case_id)
    cable = port(BACK, (5, 900, 30, 0), (45, 0, 4, 0), (95, 0, 64, 0))
    series = SwitchSeries(10 * MS, BEGIN_NS - 1000 * MS, (cable, *(port(host) for host in (*"abcd", THERE))))
    monkeypatch.setattr(switch_windows, "windows_by_launch", lambda _: {(1, case.case_id): [told]})
    monkeypatch.setattr(switch_windows, "_series", lambda _: {1: series})
    counts = counts_by_case(RunData("", manifest_of(case, "c,d"), (), pl.LazyFrame()))[case.case_id]
    assert counts == SwitchCounts({"a": 0, "b": 0, BACK: 34}, 0, 0, 0.0, 40 * MS)
    half = replace(point(2, 50.0), evidence=evidence_of(counts, point(2, 50.0).evidence))
    state, because = state_of([half], None)
    assert (state, "34 frames dropped" in because, "machine" in because) == (UNDECIDED, True, False)


def test_windows_of_launches_that_failed_are_none_whose_bytes_went_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = Case(entry("a", "b"), "many_to_one", 65536), Case(entry("a", "bcd"), "many_to_one", 65536)
    manifest = replace(manifest_of(few, ""), cases={few.case_id: few, many.case_id: many})
    hung = Result("failed", "no progress for 10.1 s (case_timeout is 10.0 s)")
    records = tuple(
        LaunchRecord(number, 1, case.entry.entry_id, 1, results={case.case_id: result})
        for number, case, result in ((1, few, Result("ok")), (2, many, hung))
    )
    run = RunData("", manifest, records, pl.LazyFrame(), lines=records)
    windows = {
        (1, few.case_id): [replace(window({1: (9, 9, 9, 9)}, skew_ns=20 * MS), case_id=few.case_id)],
        (2, many.case_id): [replace(window({1: (1,), 2: (1,), 3: (1,)}), launch_id=2, case_id=many.case_id)],
    }
    monkeypatch.setattr(curves, "windows_by_launch", lambda _: windows)
    monkeypatch.setattr(curves, "evidence_by_entry", lambda _: {})
    monkeypatch.setattr(curves, "counts_by_case", lambda _: {})
    (curve,) = curves.incast_curves(run, [], "t")
    assert [point.lacks_because for point in curve.points] == [
        "1 window overlapped by less than 90%",
        "its launches failed",
    ]
