"""Pairs, verdicts, ranges, sentences and the summary."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import polars as pl
import pytest
from tests.analysis.small_run import HOSTS, LOCAL, TCP, run_of

from fabriscope.analysis.comparing.choices import selection
from fabriscope.analysis.comparing.comparisons import KINDS, compare, compare_all
from fabriscope.analysis.comparing.comparisons import compared as compared_rows
from fabriscope.analysis.comparing.findings import Finding, findings
from fabriscope.analysis.comparing.ranges import ranges
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.summary import summary
from fabriscope.model.case import Case, Entry
from fabriscope.model.run_data import RunData

SLOW = Entry("tcp", "ethernet-100", "inter", HOSTS)
MPI = Entry("mpi", "gige", "inter", HOSTS, "mpich")
SIZES = (8, 64, 1024)
LEVELS = (1.00, 1.10, 0.95, 1.05)
"""How slow each block is: both sides of a pair have it in common."""
WOBBLE = (1.001, 0.999, 1.0, 1.0005)


def run_with(factor: Callable[[int], float], left: Entry = TCP, right: Entry = SLOW, blocks: int = 4) -> RunData:
    """Return a run in which the right one takes `factor(size)` times as long as the left one."""
    measured: dict[Case, list[list[list[float]]]] = {}
    for size in SIZES:
        for entry in (left, right):
            times = [10**6 * level * (factor(size) * wobble if entry is right else 1)
                     for level, wobble in zip(LEVELS[:blocks], WOBBLE, strict=False)]  # fmt: skip
            measured[Case(entry, "ping_pong", size)] = [[[time]] for time in times]
    return run_of(measured)


def compared(run: RunData, kind: str = "fabric") -> pl.DataFrame:
    return compare(launch_values(run), KINDS[kind])


def sentence(run: RunData, kind: str = "fabric") -> Finding:
    (found,) = findings(ranges(compared_rows(launch_values(run), KINDS[kind])))
    return found


def test_blocks_cancel_in_the_ratio() -> None:
    frame = compared(run_with(lambda _: 2.0))
    assert frame["metric_id"].unique().to_list() == ["latency_ns"]
    assert frame["left"].unique().to_list() == ["ethernet-100"], "in the order of the manifest"
    assert frame["ratio"].to_list() == pytest.approx([0.5] * 3, rel=1e-3)
    assert frame["verdict"].to_list() == ["slower"] * 3
    row = frame.row(0, named=True)
    assert row["low"] < row["ratio"] < row["high"]
    assert row["high"] / row["low"] < 1.01, "10 % between blocks, but 0.1 % inside them"
    assert row["left_value"] == pytest.approx(2 * row["right_value"], rel=1e-3)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (lambda _: 9.8, "gige leads ethernet-100 at every size"),
        (lambda _: 0.9, "ethernet-100 leads gige at every size, by 11 %"),
        (lambda _: 1.005, "ethernet-100 and gige are equivalent at every size"),
        (lambda size: 2.0 if size < 1024 else 0.5, "gige leads ethernet-100 up to 64 B, 2.00 times"),
        (lambda size: 2.0 if size < 1024 else 0.5, "; ethernet-100 leads gige at 1 KiB, 2.00 times (1.997 to 2.002)"),
    ],
)
def test_sentences(factor: Callable[[int], float], words: str) -> None:
    found = sentence(run_with(factor))
    assert words in found.text
    assert found.where == "ping-pong, TCP, between hosts"


def test_the_interval_beside_percent_is_in_percent() -> None:
    found = sentence(run_with(lambda _: 1.5))
    assert re.search(r"at every size, by 50 %; at 1 KiB by 50 % \([\d.]+ to 50(\.\d+)? %\)$", found.text)


def test_the_lead_passes_between_the_two_nearest_verdicts() -> None:
    found = sentence(run_with(lambda size: {8: 2.0, 64: 1.0, 1024: 0.5}[size]))
    assert found.text.endswith("; the lead passes to ethernet-100 between 8 B and 1 KiB, at about 91 B")
    (change,) = found.crossovers
    assert (change.above_bytes, change.below_bytes, change.leader) == (8, 1024, "ethernet-100")
    assert not sentence(run_with(lambda _: 2.0)).crossovers
    near = sentence(run_with(lambda size: {8: 2.0, 64: 0.8, 1024: 0.5}[size])).crossovers[0]
    assert 8 < near.about_bytes < 64
    assert math.log(near.about_bytes / 8) / math.log(64 / 8) == pytest.approx(
        math.log(2.0) / math.log(2.0 / 0.8), abs=0.02
    )


def test_one_block_decides_nothing() -> None:
    frame = compared(run_with(lambda _: 5.0, blocks=1))
    assert frame["verdict"].unique().to_list() == ["undecided"]
    assert frame["low"].null_count() == 3
    said = sentence(run_with(lambda _: 5.0, blocks=1)).text
    assert "both sides have a value in one block, which gives no interval" in said


def test_noise_is_undecided_and_says_what_would_decide() -> None:
    times = ([1e6, 1.2e6, 0.9e6], [1.1e6, 1.0e6, 1.25e6])
    measured = {
        Case(entry, "ping_pong", 8): [[[t]] for t in row] for entry, row in zip((SLOW, TCP), times, strict=True)
    }
    found = sentence(run_of(measured))
    assert found.text.startswith("ethernet-100 against gige is undecided at every size: the interval of the ratio is")
    assert "blocks would decide" in found.text


def test_mpi_against_tcp_on_the_same_fabric() -> None:
    found = sentence(run_with(lambda _: 0.8, MPI, TCP), "layer")
    assert found.text.startswith("TCP leads MPI (mpich) at every size, by 25 %")
    assert found.where == "ping-pong, gige, between hosts"


def test_inside_against_between() -> None:
    found = sentence(run_with(lambda _: 4.0, LOCAL, TCP), "placement")
    assert found.text.startswith("inside one host leads over gige at every size, 4.00 times")


def test_the_floor_is_compared_with_nothing() -> None:
    null = Entry("null", None, "intra", ("a", "a"))
    frame = compare_all(launch_values(run_with(lambda _: 4.0, LOCAL, null)))
    assert frame.height == 0


def test_settings_are_compared_with_settings() -> None:
    cases = [Case(TCP, "ping_pong", 8, series=series) for series in ("send buffer 1 B", "send buffer 2 B")]
    run = run_of({case: [[[10**6 * (1 + index)]]] * 3 for index, case in enumerate(cases)})
    frame = compared(run, "series")
    assert frame.select("left", "right", "verdict").row(0) == ("send buffer 1 B", "send buffer 2 B", "faster")


def test_a_setting_is_told_and_selected_by_its_size_as_it_is_read() -> None:
    cases = [Case(TCP, "ping_pong", 8, series=series) for series in ("", "send buffer 16384 B")]
    run = run_of({case: [[[10**6 * (1 + index)]]] * 3 for index, case in enumerate(cases)})
    frame = compared(run, "series")
    assert frame.select("left", "right").row(0) == ("the default setting", "send buffer 16 KiB")
    for text in ("send buffer 16 KiB", "series=send buffer 16 KiB", "series=send buffer 16384 B"):
        assert selection(text, run, launch_values(run)) == {"series": "send buffer 16384 B"}


def test_verdicts_that_change_often_are_counted() -> None:
    measured: dict[Case, list[list[list[float]]]] = {}
    for power in range(8):
        for entry in (SLOW, TCP):
            time = 1e6 * (2.0 if entry is SLOW and power % 2 else 1.0)
            measured[Case(entry, "ping_pong", 2**power)] = [[[time * wobble]] for wobble in WOBBLE]
    text = sentence(run_of(measured)).text
    assert text.startswith("gige leads ethernet-100 at 4 of 8 sizes between 2 B and 128 B, 2.00 times")
    assert "equivalent at 4 of 8 sizes" in text


def test_the_latency_of_an_empty_message_stands_where_there_is_no_other() -> None:
    empty, small = ({Case(TCP, "ping_pong", size): [[[t]], [[t]]]} for size, t in ((0, 2e4), (8, 6e4)))
    assert summary(launch_values(run_of(empty))).row(0, named=True)["latency_ns"] == pytest.approx(1e4)
    assert summary(launch_values(run_of({**empty, **small}))).row(0, named=True)["latency_ns"] == pytest.approx(3e4)


def test_summary() -> None:
    small = {Case(TCP, "ping_pong", size): [[[t]], [[t * 1.1]]] for size, t in ((8, 4e4), (32, 9e4), (64, 1e9))}
    large = {Case(TCP, "ping_pong", 1 << 20): [[[2e7]], [[2e7]]]}
    row = summary(launch_values(run_of({**small, **large}))).row(0, named=True)
    assert row["latency_ns"] == pytest.approx((2e4 * 4.5e4 * 1.1) ** 0.5), "geometric over the sizes below 64 B"
    assert row["latency_ns_low"] < row["latency_ns"] < row["latency_ns_high"]
    assert row["bandwidth_message_size_bytes"] == 1 << 20
    assert row["bandwidth_bytes_per_s"] == pytest.approx((1 << 20) * 100)
    assert row["share_of_limit"] == pytest.approx(0.891, abs=0.001)


def test_summary_without_small_messages_or_anything() -> None:
    values = launch_values(run_of({Case(TCP, "ping_pong", 4096): [[[1e6]]]}))
    assert summary(values).row(0, named=True)["latency_ns"] is None
    assert summary(values.clear()).height == 0
