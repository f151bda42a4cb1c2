"""Steps of a clock: seen where launches agree, as long as the least difference, and the same for all that read them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from campaigns.statistics.noises import NOISES, Floats, values_of
from campaigns.statistics.printed import said

from fabriscope.analysis.comparing.comparisons import KINDS, compare
from fabriscope.analysis.values.clock_steps import STEP, printed_step, with_clock_steps
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.summary import summary

FABRICS = (("ethernet-100", "ping_pong", ""), ("gige", "ping_pong", ""))
ONE = FABRICS[:1]


def on_a_clock(logs: Floats, step: float) -> Floats:
    """Return logarithms of times as a clock with steps shows them; the times are about 1."""
    return np.asarray(np.log(np.rint(np.exp(logs) / step) * step))


def test_the_step_is_seen_in_values_that_agree() -> None:
    values = values_of(NOISES["clock of 5 %"].logs(np.random.default_rng(6), (40, 8, 2, 1)), (8,), FABRICS)
    differing = values.filter(pl.col("value").n_unique().over("series") > 1)
    assert differing["series"].n_unique() >= 38
    assert differing[STEP].is_between(0.03, 0.06).all()
    smooth = values_of(NOISES["two modes"].logs(np.random.default_rng(6), (40, 4, 2, 1)), (8,), FABRICS)
    assert smooth[STEP].sum() == 0


def test_launches_that_agree_by_chance_make_no_step_long() -> None:
    sizes = tuple(2**power for power in range(3, 11))
    noise = np.random.default_rng(1).normal(0, 0.1, (200, 5, 2, len(sizes)))
    values = values_of(on_a_clock(noise, 0.001), sizes, FABRICS)
    of_runs = values.group_by("series").agg(pl.col(STEP).max())[STEP]
    assert (of_runs > 0).sum() > 40, "steps are seen in some"
    assert (of_runs < 0.01).all(), "the true step is 0.1 % of a time"


def test_what_differs_by_less_than_arithmetic_does_agrees() -> None:
    logs = np.log(np.array([1.0, 1.0 + 1e-13, 1.05, 1.1])).reshape(1, 4, 1, 1)
    assert values_of(logs, (8,), ONE)[STEP].to_list() == pytest.approx([0.05 / 1.025] * 4, rel=1e-6)


@pytest.mark.parametrize("metric_id", ["message_rate_per_s", "fetch_and_op_rate_per_s"])
def test_a_rate_of_messages_is_the_time_of_one_whatever_its_size(metric_id: str) -> None:
    logs = on_a_clock(np.random.default_rng(2).normal(0, 0.1, (1, 12, 1, 2)), 0.05)
    times = values_of(logs, (8, 1 << 20), ONE)
    rates = times.with_columns(pl.lit(metric_id).alias("metric_id"), (1e9 / pl.col("value")).alias("value"))
    assert with_clock_steps(rates)[STEP].to_list() == pytest.approx(times[STEP].to_list())
    assert (times[STEP] > 0.04).all()


def test_a_rate_of_bytes_is_the_time_of_its_bytes_and_a_share_is_itself() -> None:
    logs = on_a_clock(np.random.default_rng(2).normal(0, 0.1, (1, 12, 1, 2)), 0.05)
    times = values_of(logs, (8, 1 << 20), ONE)
    rates = times.with_columns(
        pl.lit("bandwidth_bytes_per_s").alias("metric_id"),
        (pl.col("message_size_bytes") / pl.col("value")).alias("value"),
    )
    shares = times.with_columns(pl.lit("overlap_percent").alias("metric_id"))
    for stepped in (with_clock_steps(rates), with_clock_steps(shares)):
        assert stepped[STEP].to_list() == pytest.approx(times[STEP].to_list())


def test_what_a_round_adds_changes_no_step_of_what_was_planned() -> None:
    planned, added = np.array([1.0, 1.0, 1.05, 1.1]), np.array([1.0, 1.001, 1.002, 1.3])
    values = values_of(np.log(np.stack([planned, added], axis=1)).reshape(1, 4, 1, 2), (8, 12), ONE)
    rounds = pl.when(pl.col("message_size_bytes") == 12).then(1).otherwise(0).cast(pl.Int32)
    stepped = with_clock_steps(values.with_columns(rounds.alias("round")))
    assert stepped.filter(pl.col("round") == 0)[STEP].to_list() == pytest.approx([0.05 / 1.025] * 4)
    assert stepped.filter(pl.col("round") == 1)[STEP].sum() == 0, "no launches of it agree"


def test_a_part_of_the_values_is_read_with_the_step_of_all() -> None:
    one = np.array([[1.0, 1.1], [1.0, 1.15], [1.05, 1.2], [1.1, 1.3]])
    logs = np.log(np.stack([one, 1.2 * one], axis=1)).reshape(1, 4, 2, 2)
    values = values_of(logs, (8, 128), FABRICS)
    of_part = values.filter(pl.col("message_size_bytes") == 128)
    large = pl.col("message_size_bytes") == 128
    for numbers in (lambda frame: compare(frame, KINDS["fabric"]), estimates_of):
        ends = [numbers(frame).filter(large).select("low", "high").rows() for frame in (values, of_part)]
        assert ends[0] == ends[1]
    small = summary(values).row(0, named=True)
    least = np.log(small["latency_ns_high"] / small["latency_ns_low"])
    assert (values[STEP] < least).all(), "half a step below, and half a step above"


def test_every_made_up_run_has_a_clock_of_its_own() -> None:
    stepped, smooth = [1.0, 1.0, 1.05, 1.1], [1.0, 1.013, 1.031, 1.047]
    logs = np.log(np.array([stepped, smooth])).reshape(2, 4, 1, 1)
    of_runs = values_of(logs, (8,), ONE).partition_by("series", maintain_order=True)
    assert [frame[STEP].unique().to_list() for frame in of_runs] == [[pytest.approx(0.05 / 1.025)], [0.0]]


@pytest.mark.parametrize(
    ("numbers", "step"),
    [
        ([18000.0], 1000.0),
        ([20000.0], 1000.0),
        ([18000.0, 19000.0], 1000.0),
        ([18000.0, 20000.0], 1000.0),
        ([18000.0, 20000.0, 22000.0, 28000.0], 1000.0),
        ([16000.0, 20000.0, 24000.0, 28000.0], 4000.0),
        ([2030.0, 2040.0, 2100.0], 10.0),
        ([0.25, 0.5, 1.0], 0.25),
    ],
)
def test_a_printed_step_is_the_last_decimal_or_a_divisor_that_is_no_chance(numbers: list[float], step: float) -> None:
    assert printed_step(numbers, 1e3) == pytest.approx(step)


@pytest.mark.parametrize("factor", [1.0, 1e6 / 8, 1e9 / 8, 1024.0, 2.0**20])
def test_a_rate_has_the_step_of_the_unit_that_it_was_printed_in(factor: float) -> None:
    values = values_of(np.zeros((1, 3, 2, 1)), (8,), FABRICS).with_columns(
        pl.Series("value", [one * factor for one in (9.41, 9.38, 9.42, 9.41, 9.39, 9.38)]),
        pl.lit("bandwidth_bytes_per_s").alias("metric_id"),
        pl.lit("iperf3").alias("instrument"),
        pl.lit(1).alias("sample_count"),
    )
    steps = with_clock_steps(values.drop(STEP))[STEP]
    assert steps.is_between(0.01 / 9.42 - 1e-9, 0.01 / 9.38 + 1e-9).all()
    assert with_clock_steps(values.drop(STEP).with_columns(pl.lit(2).alias("sample_count")))[STEP].max() != steps.max()


def test_one_printed_step_is_no_lead_and_nothing_is_equal_on_steps_beyond_the_margin() -> None:
    assert said(18.0, 18.9, 5) == "undecided", "18 and 19"
    assert said(18.0, 18.2, 5) == "undecided", "18 and 18: the step is 5.6 %"
    assert said(18.0, 36.0, 5) == "faster"
    assert said(300.0, 300.2, 5) == "equivalent"
