"""Windows of many-to-one streams against sums by hand, and what is told of a fabric that holds or does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabriscope.analysis.incast.evidence import Evidence
from fabriscope.analysis.incast.points import (
    COLLAPSES,
    DROPPED,
    HOLDS,
    PAUSED,
    UNDECIDED,
    UNFAIR,
    IncastPoint,
    Knee,
)
from fabriscope.analysis.incast.states import knee_of, state_of
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.streams import AGGREGATE, FAIRNESS, SLOWEST, StreamWindow, jain_index, series_frame

MS = 1_000_000
QUIET = Evidence(0, 0, 0, 0)
LOST = replace(QUIET, lost_frames=7)


def window(
    series: dict[int, tuple[int, ...]], *, skew_ns: int = 0, receiver_late_ns: int = 0, receivers: int = 1
) -> StreamWindow:
    return StreamWindow(
        launch_id=1, block=1, case_id="c", burst=1, duration_ns=40 * MS, interval_ns=10 * MS, first_start_ns=1000,
        receiver_starts_ns=(1000 + receiver_late_ns,) * receivers, skew_ns=skew_ns, series=series,
        after_bytes=dict.fromkeys(series, 7),
    )  # fmt: skip


def point(
    streams: int,
    value: float | None,
    half: float | None = 0.01,
    fairness: float = 1.0,
    evidence: Evidence = QUIET,
    limit: float = 100.0,
) -> IncastPoint:
    ends = (None, None) if value is None or half is None else (value * (1 - half), value * (1 + half))
    slowest = None if value is None else value / streams / 2
    centre = Centre(value, *ends)
    lacks = "it was above the wire" if value is None else ""
    return IncastPoint("c", streams, centre, limit, slowest, fairness, 1000, 1.0, 3, 0, evidence, lacks_because=lacks)


def test_a_window_is_what_arrived_while_all_sent() -> None:
    two = window({1: (100, 100, 100, 100), 2: (0, 100, 100, 0)})
    assert two.metric(AGGREGATE) == pytest.approx(600 / 0.04)
    assert two.metric(SLOWEST) == pytest.approx(200 / 0.04)
    assert two.metric(FAIRNESS) == pytest.approx(600**2 / (2 * (400**2 + 200**2)))


def test_a_receiver_that_began_late_counts_no_byte_beyond_the_window() -> None:
    # The window ends 5 ms before the last interval does: half of what that has counts.
    late = window({1: (100, 100, 100, 100)}, receiver_late_ns=5 * MS)
    assert late.stream_bytes == {1: 350}
    assert window({1: (100, 100, 100, 100)}, receiver_late_ns=-5 * MS).stream_bytes == {1: 400}


def test_of_many_to_many_each_host_that_receives_has_its_streams_and_the_sum_has_all() -> None:
    rates: dict[int, tuple[int, ...]] = {2: (100,) * 4, 3: (50,) * 4, 4: (200,) * 4, 5: (50,) * 4}
    many = window(rates, receivers=2)
    assert [many.receiver_of(rank) for rank in rates] == [0, 0, 1, 1]
    assert [many.metric(AGGREGATE, host) for host in (None, 0, 1)] == pytest.approx([40_000, 15_000, 25_000])
    assert [many.metric(SLOWEST, host) for host in (None, 0, 1)] == pytest.approx([5_000, 5_000, 5_000])
    assert many.metric(FAIRNESS, 0) == pytest.approx(150**2 / (2 * (100**2 + 50**2)))
    assert many.metric(FAIRNESS, 1) == pytest.approx(250**2 / (2 * (200**2 + 50**2)))
    assert series_frame([many])["to_rank"].unique().sort().to_list() == [0, 1]


@pytest.mark.parametrize(("skew_ms", "is_comparable"), [(0, True), (4, True), (5, False), (60, False)])
def test_streams_that_do_not_overlap_have_no_aggregate(skew_ms: int, is_comparable: bool) -> None:
    assert window({1: (1,), 2: (1,)}, skew_ns=skew_ms * MS).is_comparable is is_comparable


def test_jains_index_is_as_published() -> None:
    assert jain_index([3.0, 3.0, 3.0]) == 1
    assert jain_index([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain_index([0.0, 0.0]) == 1
    assert jain_index([1.0, 2.0]) == pytest.approx(0.9)


def test_the_series_is_a_frame_with_a_row_for_each_stream_and_interval() -> None:
    frame = series_frame([window({1: (5, 6), 2: (7, 8)})])
    assert frame["bytes"].to_list() == [5, 6, 7, 8]
    assert frame["rank"].to_list() == [1, 1, 2, 2]
    assert frame["start_ns"].to_list() == [1000, 1000 + 10 * MS] * 2


def test_the_knee_is_where_it_falls_for_good() -> None:
    fallen = [point(1, 98.0), point(2, 97.0), point(3, 40.0), point(4, 35.0)]
    assert knee_of(fallen) == Knee(3, 3, 3)
    assert knee_of([point(1, 98.0), point(2, 40.0), point(3, 96.0)]) is None
    assert knee_of([point(1, 98.0)]) is None
    assert knee_of([]) is None


def test_the_knees_interval_is_that_of_the_launches() -> None:
    wide = [point(1, 98.0), point(2, 95.0, half=0.1), point(3, 85.0, half=0.1), point(4, 30.0, half=0.1)]
    assert knee_of(wide) == Knee(3, 2, 4)
    once = [point(1, 98.0, half=None), point(2, 30.0, half=None)]
    assert knee_of(once) == Knee(2, 2, None)


@pytest.mark.parametrize(
    ("points", "state", "said"),
    [
        ([point(1, 98.0), point(2, 97.0)], HOLDS, "97% of what the wire allows"),
        ([point(1, 98.0), point(2, 20.0, evidence=Evidence(500, 0, 0, 9))], COLLAPSES, "500 frames dropped"),
        ([point(1, 98.0), point(2, 20.0, evidence=Evidence(0, 7, 0, 0))], COLLAPSES, "7 pauses"),
        ([point(1, 98.0, evidence=Evidence()), point(2, 20.0, evidence=Evidence())], COLLAPSES, "no counter tells of"),
        ([point(1, 98.0), point(2, 20.0)], UNDECIDED, "dropped and paused nothing: the machine is the limit"),
        ([point(1, 98.0), point(2, 20.0, half=None, evidence=Evidence(5))], UNDECIDED, "the launches do not tell"),
        ([point(1, 98.0), point(2, 97.0, fairness=0.5)], UNFAIR, "Jain's index is 0.50 with 2 streams"),
        ([point(1, 98.0), point(2, 97.0, evidence=Evidence(3, 0, 0, 0))], DROPPED, "3 frames dropped"),
        ([point(1, 98.0), point(2, 97.0, evidence=Evidence(0, 8, 0, 0))], PAUSED, "8 pauses"),
        ([point(1, 50.0), point(2, 51.0)], UNDECIDED, "the machine is the limit"),
        ([point(1, 50.0), point(2, 51.0, evidence=LOST)], UNDECIDED, "the fabric limit them is not told; 0 frames dr"),
        ([point(1, 98.0), point(2, 91.0, evidence=LOST)], DROPPED, "0 frames dropped, 7 frames lost on cables"),
        ([point(1, 98.0), point(2, 20.0, evidence=LOST)], COLLAPSES, "0 frames dropped, 7 frames lost on cables"),
        ([point(1, 50.0), point(2, 51.0, evidence=Evidence(9, 0, 0, 0))], UNDECIDED, "at most 51% of what the wire"),
        ([point(2, 39.0, evidence=Evidence(0, 28, 0, 0))], UNDECIDED, "is not told; 0 frames dropped, 28 pauses"),
        ([point(1, None), point(2, None)], UNDECIDED, "with 1 and 2 streams there is no aggregate: it was above"),
        ([replace(point(1, 98.0), limit_bytes_per_s=None)], UNDECIDED, "nobody says what the wire allows"),
        ([point(6, 98.0, fairness=0.5), replace(point(8, 98.0, fairness=0.5), host_fairness=0.7)], UNFAIR, "is 0.50"),
        (
            [replace(point(6, 98.0, fairness=0.5), host_fairness=0.7)],
            UNFAIR,
            "Jain's index of the hosts that send is 0.70",
        ),
        ([replace(point(6, 98.0, fairness=0.5), host_fairness=0.99)], HOLDS, "98% of what the wire allows"),
        ([replace(point(6, 98.0, fairness=0.5, evidence=LOST), host_fairness=0.99)], UNFAIR, "Jain's index is 0.50"),
        ([point(1, 98.0), point(2, None)], UNDECIDED, "with 2 streams there is no aggregate: it was above the wire"),
        (
            [point(1, 98.0), replace(point(2, None), lacks_because="its launches failed"), point(4, 97.0)],
            UNDECIDED,
            "with 2 streams there is no aggregate: its launches failed",
        ),
        ([], UNDECIDED, "nothing was measured"),
    ],
)
def test_the_state_has_its_evidence(points: list[IncastPoint], state: str, said: str) -> None:
    found, because = state_of(points, knee_of(points))
    assert (found, said in because) == (state, True), because
