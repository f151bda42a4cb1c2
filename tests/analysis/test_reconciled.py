"""Numbers of several programs, each beside ours by its own definition."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.small_run import TCP, Bursts, run_of

from fabriscope.analysis.comparing.reconciled import Reconciled
from fabriscope.analysis.results import results_of
from fabriscope.model.case import Case
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Paragraph
from fabriscope.reports.sections.reconcile import SECTION

OURS = Case(TCP, "ping_pong", 64)
WINDOWS = Case(TCP, "bandwidth", 1000, window_size=10)
LAUNCHES: list[Bursts] = [[[20_000.0] * 9 + [200_000.0], [22_000.0] * 10, [21_000.0] * 10]] * 3
"""Round trips: their median is 21 us, the mean 27 us, the means of the thirds 38, 22 and 21 us."""


def by(instrument: str, case: Case) -> Case:
    return replace(case, entry=replace(case.entry, instrument=instrument))


def told(measured: dict[Case, list[Bursts]], quantities: dict[str, str]) -> RunData:
    """Return a run whose other instruments state their numbers under these metric ids."""
    run = run_of(measured)
    instrument = {case.case_id: case.entry.instrument for case in measured}
    names = {case_id: quantities.get(name, "operation_ns") for case_id, name in instrument.items()}
    return replace(run, samples=run.samples.with_columns(pl.col("case_id").replace_strict(names).alias("quantity")))


def only(run: RunData) -> Reconciled:
    (one,) = results_of(run).reconciled
    return one


@pytest.mark.parametrize(
    ("metric_id", "printed_ns", "excess"),
    [
        ("latency_ns_least_mean", 10_500.0, 1.0),  # NetPIPE: the least of three means
        ("latency_ns_mean", 13_600.0, 13_600 / (27_000 / 2)),  # qperf, IMB
        ("latency_ns", 21_000.0, 2.0),  # sockperf's median
    ],
)
def test_a_latency_is_set_over_ours_by_the_same_statistic(metric_id: str, printed_ns: float, excess: float) -> None:
    other = by("netpipe", OURS)
    one = only(told({OURS: LAUNCHES, other: [[[printed_ns]]] * 3}, {"netpipe": metric_id}))
    ours, theirs = one.statements
    assert (one.what, one.message_size_bytes, ours.instrument) == ("latency", 64, "engine")
    assert theirs.excess is not None
    assert theirs.excess.value == pytest.approx(excess, rel=1e-9)
    assert one.spread_after == pytest.approx(max(excess, 1 / excess))
    assert one.spread_before == pytest.approx(max(printed_ns / 10_500, 10_500 / printed_ns))


def test_what_is_printed_is_what_the_other_tables_have() -> None:
    others: list[Bursts] = [[[value]] for value in (10_000.0, 10_400.0, 14_000.0)]
    results = results_of(told({OURS: LAUNCHES, by("sockperf", OURS): others}, {"sockperf": "latency_ns"}))
    (one,) = results.reconciled
    estimated = {
        row.instrument: (row.value, row.low, row.high) for row in results.graded if row.metric_id == "latency_ns"
    }
    for said in one.statements:
        assert (said.printed.value, said.printed.low, said.printed.high) == estimated[said.instrument]


def test_two_bursts_have_no_least_of_three_means() -> None:
    short: list[Bursts] = [[[20_000.0] * 5] * 2] * 3
    run = told({OURS: short, by("netpipe", OURS): [[[10_000.0]]] * 3}, {"netpipe": "latency_ns_least_mean"})
    _, theirs = only(run).statements
    assert theirs.excess is None
    assert theirs.how == "ours had fewer than 3 bursts in each launch: a longer `budget` makes more"
    assert only(run).spread_after is None


def test_a_stream_is_set_over_our_windows_without_their_answers() -> None:
    """10 messages of 1000 B in 100 us, of which a round trip of 20 us is the answer's: 125 MB/s."""
    windows: list[Bursts] = [[[100_000.0] * 10] * 3] * 3
    latency: list[Bursts] = [[[20_000.0] * 10] * 3] * 3
    stream = by("iperf3", WINDOWS)
    measured: dict[Case, list[Bursts]] = {WINDOWS: windows, OURS: latency, stream: [[[130e6]]] * 3}
    (one,) = results_of(told(measured, {"iperf3": "stream_bandwidth_bytes_per_s"})).reconciled
    assert one.what == "bandwidth"
    _, theirs = one.statements
    assert theirs.ours == pytest.approx(125e6)
    assert theirs.excess is not None
    assert theirs.excess.value == pytest.approx(1.04)
    assert [said.instrument for said in one.left_over] == ["iperf3"]


@pytest.mark.parametrize(("launches", "instruments"), [(2, []), (3, ["sockperf"])])
def test_two_launches_leave_nothing_over(launches: int, instruments: list[str]) -> None:
    ours: list[Bursts] = [[[time]] for time in (20_000.0, 20_020.0, 20_010.0)]
    others: list[Bursts] = [[[time]] for time in (12_000.0, 12_013.0, 12_007.0)]
    measured = {OURS: ours[:launches], by("sockperf", OURS): others[:launches]}
    one = only(told(measured, {"sockperf": "latency_ns"}))
    assert [said.instrument for said in one.left_over] == instruments


def test_sizes_of_one_program_are_tested_together() -> None:
    """Of twenty sizes one differs by what one in forty does by chance: by itself it would be left over."""
    measured: dict[Case, list[Bursts]] = {}
    for power in range(20):
        case, factor = replace(OURS, message_size_bytes=64 + power), 1.02 if power == 5 else 1.0
        measured[case] = [[[20_000.0]]] * 5
        wobble = (0.985, 1.015, 0.99, 1.01, 1.0)
        measured[by("sockperf", case)] = [[[10_000.0 * factor * of_block]] for of_block in wobble]
    results = results_of(told(measured, {"sockperf": "latency_ns"}))
    (differing,) = [one for one in results.reconciled if one.message_size_bytes == 69]
    excess = differing.statements[1].excess
    assert excess is not None
    assert excess.low is not None
    assert excess.low > 1
    assert all(not one.left_over for one in results.reconciled)


def test_half_a_step_of_the_clock_is_no_difference_of_programs() -> None:
    ours: list[Bursts] = [[[20_000.0]]] * 5
    others: list[Bursts] = [[[value]] for value in (10_000.0, 10_200.0, 10_200.0, 10_200.0, 10_200.0)]
    one = only(told({OURS: ours, by("sockperf", OURS): others}, {"sockperf": "latency_ns"}))
    assert one.left_over == []


def test_the_samples_of_one_program_are_not_read_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> pl.DataFrame:
        raise AssertionError("nobody states anything but us")

    monkeypatch.setattr("fabriscope.analysis.values.restated._means", refuse)
    assert results_of(run_of({OURS: LAUNCHES})).reconciled == []


def test_what_the_sender_took_has_nothing_of_ours_beside_it() -> None:
    windows: list[Bursts] = [[[100_000.0] * 10] * 3] * 3
    run = told({WINDOWS: windows, by("sockperf", WINDOWS): [[[1e9]]] * 3}, {"sockperf": "sent_bandwidth_bytes_per_s"})
    _, theirs = only(run).statements
    assert (theirs.ours, theirs.excess) == (None, None)
    assert theirs.how.startswith("it counts what its own system took")
    (section,) = SECTION.build(results_of(run))
    assert section.title == "Programs by one definition"


def test_programs_that_share_no_block_are_not_set_against_each_other() -> None:
    run = told({OURS: LAUNCHES, by("sockperf", OURS): [[[11_000.0]]] * 3}, {"sockperf": "latency_ns"})
    samples = run.samples.filter((pl.col("quantity") == "operation_ns") == (pl.col("block") == 1))
    _, theirs = only(replace(run, samples=samples)).statements
    assert theirs.how == "they share no block of launches"


def test_a_run_of_one_program_has_nothing_to_reconcile() -> None:
    run = run_of({OURS: LAUNCHES})
    assert results_of(run).reconciled == []
    assert SECTION.build(results_of(run)) == []


def test_a_collective_is_called_by_its_name() -> None:
    barrier = (("timing", "barrier"),)
    measured: dict[Case, list[Bursts]] = {}
    for name in ("reduce", "gather"):
        ours = Case(replace(TCP, layer="mpi"), name, 64, parameters=barrier)
        measured |= {ours: [[[20_000.0] * 4]] * 3, by("imb", ours): [[[21_000.0]]] * 3}
    results = results_of(told(measured, {"imb": "collective_latency_ns_barrier_mean"}))
    (section,) = SECTION.build(results)
    leads = [block.text for block in section.blocks if isinstance(block, Paragraph) and not block.is_note]
    assert {str(lead).split(",")[0] for lead in leads} == {"Reduce: collective latency", "Gather: collective latency"}
