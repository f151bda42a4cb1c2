"""Samples to launch values to estimates."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from tests.analysis.small_run import HOSTS, LOCAL, TCP, run_of

from fabriscope.analysis.values.estimates import estimates, estimates_of
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.run_data import RunData

PING_PONG = Case(LOCAL, "ping_pong", 1000)
BANDWIDTH = Case(LOCAL, "bandwidth", 1000, window_size=10)


def one(frame: pl.DataFrame, metric_id: str) -> dict[str, float]:
    return frame.filter(pl.col("metric_id") == metric_id).row(0, named=True)


def test_latency_is_half_the_median_over_burst_medians() -> None:
    run = run_of({PING_PONG: [[[100, 200, 900], [400], [600, 600]]]}, warmup=1)
    values = launch_values(run)
    assert one(values, "latency_ns")["value"] == 200
    assert one(values, "ping_pong_bandwidth_bytes_per_s")["value"] == pytest.approx(1000 * 1e9 / 200)
    assert one(values, "latency_ns")["sample_count"] == 6
    assert one(values, "latency_ns")["burst_count"] == 3


def test_bandwidth_is_all_bytes_over_all_time() -> None:
    values = launch_values(run_of({BANDWIDTH: [[[1000, 3000], [2000]]]}, warmup=1))
    assert one(values, "bandwidth_bytes_per_s")["value"] == pytest.approx(3 * 10_000 * 1e9 / 6000)


def test_batches_count_each_operation() -> None:
    values = launch_values(run_of({PING_PONG: [[[1000, 1000]]]}, operations_per_sample=10))
    assert one(values, "latency_ns")["value"] == 50


def test_metrics_of_other_tools_keep_their_id() -> None:
    case = Case(Entry("tcp", "gige", "inter", HOSTS, instrument="netpipe"), "ping_pong", 8)
    values = launch_values(run_of({case: [[[20.0, 30.0]]]}, quantity="bandwidth_bytes_per_s"))
    assert values["value"].to_list() == [pytest.approx(24.0)], "the mean of rates is harmonic"


def test_estimate_is_the_median_launch_with_an_interval_on_logs() -> None:
    run = run_of({PING_PONG: [[[200]], [[400]], [[800]]]})
    row = one(estimates(run), "latency_ns")
    assert row["value"] == pytest.approx(200)
    assert one(estimates(run_of({PING_PONG: [[[200]], [[400]], [[8000]]]})), "latency_ns")["value"] == pytest.approx(
        200
    )
    half = 4.302653 * math.log(2) / math.sqrt(3)
    assert (row["low"], row["high"]) == pytest.approx((200 * math.exp(-half), 200 * math.exp(half)), rel=1e-5)
    assert row["launch_count"] == 3
    assert row["between_launch_spread"] == pytest.approx(math.log(2))
    assert (row["launch_min"], row["launch_max"]) == (100, 400)


def test_iterations_are_not_independent_samples() -> None:
    few, many = (one(estimates(run_of({PING_PONG: [[[200] * n], [[260] * n]]})), "latency_ns") for n in (1, 1000))
    assert (few["low"], few["high"]) == (many["low"], many["high"])
    assert many["sample_count"] == 2000


def test_one_launch_has_no_interval() -> None:
    row = one(estimates(run_of({PING_PONG: [[[200, 300]]]})), "latency_ns")
    assert row["value"] == pytest.approx(125)
    assert row["low"] is row["high"] is row["between_launch_spread"] is None


def test_all_equal_launches() -> None:
    row = one(estimates(run_of({PING_PONG: [[[200]]] * 4})), "latency_ns")
    assert row["low"] == pytest.approx(100)
    assert row["high"] == pytest.approx(100)
    assert row["between_launch_spread"] == 0


def test_zero_times_have_a_median_and_no_rate() -> None:
    floor = Case(Entry("null", None, "intra", ("a", "a")), "empty", 0)
    frame = estimates(run_of({floor: [[[0]], [[0]], [[2]]], BANDWIDTH: [[[0]]]}))
    row = one(frame, "floor_ns")
    assert row["value"] == 0
    assert row["low"] is None
    assert "bandwidth_bytes_per_s" not in frame["metric_id"].to_list()


def test_nan_samples_and_failed_cases_do_not_count() -> None:
    run = run_of({PING_PONG: [[[200, math.nan]], [[400]]]}, statuses={(2, PING_PONG.case_id): "failed"})
    row = one(estimates(run), "latency_ns")
    assert row["value"] == pytest.approx(100)
    assert (row["launch_count"], row["sample_count"]) == (1, 1)


def test_nothing_measured() -> None:
    run = run_of({PING_PONG: [[[]]]})
    assert estimates(run).height == 0
    empty = RunData("/nowhere", run.manifest, (), run.samples)
    assert estimates(empty).height == 0


def test_impossible_launches_are_kept_and_not_counted() -> None:
    fast = Case(TCP, "bandwidth", 1448, window_size=10)
    least_ns = 15380 * 8
    run = run_of({fast: [[[least_ns * 1.1]], [[least_ns / 2]]]})
    assert launch_values(run)["impossible"].to_list() == [False, True]
    row = one(estimates(run), "bandwidth_bytes_per_s")
    assert (row["launch_count"], row["impossible_launch_count"], row["impossible"]) == (1, 1, False)
    assert row["value"] == pytest.approx(14480 * 1e9 / (least_ns * 1.1))
    row = one(estimates(run_of({fast: [[[least_ns / 2]]]})), "bandwidth_bytes_per_s")
    assert row["impossible"]
    assert row["launch_count"] == 1


def test_inside_one_host_there_is_no_bound() -> None:
    assert one(estimates(run_of({BANDWIDTH: [[[1]]]})), "bandwidth_bytes_per_s")["limit"] is None


def test_sockets_have_labels_without_the_interface() -> None:
    socket = SocketOptions(send_buffer_bytes=16384, interface="eth0")
    case = Case(TCP, "ping_pong", 8, series=socket.label(), socket=socket)
    row = launch_values(run_of({case: [[[10**6]]]})).row(0, named=True)
    assert row["socket"] == row["series"] == "send buffer 16384 B"


def test_intervals_cover_under_launch_noise() -> None:
    noise = np.random.default_rng(3)
    cases = [Case(LOCAL, "ping_pong", size) for size in range(1, 301)]
    # Launches differ by 10 %; the many samples of a launch by next to nothing: the trap of METHOD 1.
    measured = {
        case: [[(2000 * level * noise.normal(1, 0.001, 20)).tolist()] for level in np.exp(noise.normal(0, 0.1, 4))]
        for case in cases
    }
    frame = estimates_of(launch_values(run_of(measured))).filter(pl.col("metric_id") == "latency_ns")
    covered = frame.select(((pl.col("low") < 1000) & (pl.col("high") > 1000)).mean()).item()
    assert 0.91 <= covered <= 0.98
