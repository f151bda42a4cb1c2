"""What is promised of intervals and verdicts, on made-up runs; `campaigns.statistics.promises` has more of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from campaigns.statistics.noises import NOISES, values_of
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import KINDS, compare, compared, families
from fabriscope.analysis.comparing.conditions import MET, OPEN, answers, parse
from fabriscope.analysis.comparing.control import CONTROL, control_of
from fabriscope.analysis.curve import AGAIN
from fabriscope.analysis.numbers.evidence import ANYTIME, FIXED, Mean
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.stopping import Rules
from fabriscope.model.case import Case, Entry

FAST = Entry("tcp", "ethernet-100", "inter", HOSTS)
FABRICS = (("ethernet-100", "ping_pong", ""), ("gige", "ping_pong", ""))


def test_made_up_values_come_to_what_a_run_of_them_comes_to() -> None:
    sizes = (8, 64)
    logs = NOISES["one in ten twice"].logs(np.random.default_rng(1), (1, 6, 2, 2))
    values = values_of(logs, sizes, FABRICS)
    measured = {}
    for entry, name in ((FAST, "ethernet-100"), (TCP, "gige")):
        for size in sizes:
            of_case = values.filter(pl.col("fabric") == name, pl.col("message_size_bytes") == size).sort("block")
            measured[Case(entry, "ping_pong", size)] = [[[2 * value]] for value in of_case["value"]]
    columns = ["left", "message_size_bytes", "ratio", "low", "high", "p_different", "verdict"]
    whole = results_of(run_of(measured)).comparisons.filter(pl.col("kind") == "fabric").select(columns)
    made_up = compare(values, KINDS["fabric"]).select(columns)
    assert made_up["ratio"].to_list() == pytest.approx(whole["ratio"].to_list())
    assert made_up["p_different"].to_list() == pytest.approx(whole["p_different"].to_list())
    assert made_up["verdict"].to_list() == whole["verdict"].to_list()


SIX = ("ping_pong", "bandwidth", "bidirectional_bandwidth", "allreduce", "bcast", "alltoall")
TWINS = tuple(("gige", name, twin) for twin in ("", AGAIN) for name in SIX)


def test_the_control_has_one_error_rate_over_all_its_benchmarks() -> None:
    noise = np.random.default_rng(2)
    alarms = 0
    for _ in range(75):
        values = values_of(NOISES["lognormal 10 %"].logs(noise, (1, 5, 12, 3)), (8, 64, 1024), TWINS)
        control = control_of(compared(values, KINDS[CONTROL]))
        assert control is not None
        alarms += control.is_failed
    assert alarms <= 7, "75 runs, 5 % of them and two standard deviations; each benchmark by itself has 22 %, 16"
    logs = NOISES["lognormal 10 %"].logs(noise, (1, 5, 12, 3)) / 10
    logs[:, :, 6:] += 0.1
    control = control_of(compared(values_of(logs, (8, 64, 1024), TWINS), KINDS[CONTROL]))
    assert control is not None
    assert len(control.differing) == 18


def test_a_gate_has_one_error_rate_over_all_its_pairs() -> None:
    logs = NOISES["lognormal 10 %"].logs(np.random.default_rng(3), (12 * 30, 5, 2, 3))
    found = families(values_of(logs, (8, 64, 1024), FABRICS), KINDS["fabric"])
    gates = [[(one, one.rows(Rules())) for one in found[start : start + 12]] for start in range(0, len(found), 12)]
    met = [any(MET in one["different"] for one in answers([parse("different")], gate, Rules())) for gate in gates]
    assert len(met) == 30
    assert sum(met) <= 4, "one in twenty and two standard deviations; pair by pair it would be two in five, 12"


def test_a_size_that_is_equal_has_no_lead_because_others_do() -> None:
    sizes = tuple(2**power for power in range(16))
    logs = NOISES["lognormal 10 %"].logs(np.random.default_rng(4), (100, 16, 2, 16))
    logs[:, :, 1, 8:] += 0.3
    frame = compare(values_of(logs, sizes, FABRICS), KINDS["fabric"]).filter(pl.col("message_size_bytes") < 256)
    wrong = frame.filter(pl.col("verdict").is_in(["faster", "slower"]))["left_series"].n_unique()
    assert wrong <= 9, "of 100 runs, one in twenty and two standard deviations"


def test_two_blocks_decide_nothing() -> None:
    logs = NOISES["lognormal 10 %"].logs(np.random.default_rng(5), (1, 2, 2, 1)) / 1e6
    logs[:, :, 1] += 1
    values = values_of(logs, (8,), FABRICS)
    assert compare(values, KINDS["fabric"])["verdict"].to_list() == ["undecided"]
    (family,) = families(values, KINDS["fabric"])
    assert answers([parse("slower")], [(family, family.rows(Rules()))], Rules()) == [{"slower": [OPEN]}]


@pytest.mark.parametrize("blocks", [3, 4, 5])
def test_a_coarse_clock_invents_no_difference(blocks: int) -> None:
    values = values_of(NOISES["clock of 5 %"].logs(np.random.default_rng(7), (200, blocks, 2, 1)), (8,), FABRICS)
    frame = compare(values, KINDS["fabric"])
    assert frame["verdict"].is_in(["faster", "slower"]).sum() <= 6, "of 200"


def test_rounding_stays_in_the_interval_of_any_number_of_values() -> None:
    low, high = Mean([1.0] * 1000, blur=0.1).interval()
    assert (low, high) == pytest.approx((0.9, 1.1), abs=0.01)
    assert Mean([0.05] * 50, blur=0.1).p_not(0.0) == 1.0
    assert Mean([0.5] * 50, blur=0.1).p_not(0.0) < 1e-6


def test_the_order_statistics_of_an_interval_are_those_of_tables() -> None:
    # Binomial(16, 1/2): the 4th and the 13th value hold the median in 97.9 %, the 5th and the 12th in 92.3 %.
    _, low, high = median_with_interval([float(number) for number in range(1, 17)], FIXED)
    assert 4 < low < 5
    assert low + high == pytest.approx(17)
    _, low, high = median_with_interval([float(number) for number in range(1, 17)], ANYTIME)
    assert (low, high) == (3, 14), "2 of 16 on one side: E = 2^16 B(3, 15) = 32.1, and 3 of 16: 6.9"


def test_the_interval_of_few_launches_against_known_answers() -> None:
    counted = [float(number) for number in range(1, 9)]
    for method in (FIXED, ANYTIME):
        centre, low, high = median_with_interval([2.0], method)
        assert centre == 2.0
        assert np.isnan([low, high]).all()
    # R: t.test(c(1, 2)) gives 1.5, -4.853102 to 7.853102
    assert median_with_interval(counted[:2], FIXED) == pytest.approx((1.5, -4.853102, 7.853102), abs=1e-6)
    # R: t.test(1:5) gives 1.036757 to 4.963243, which leaves out the least and the most
    assert median_with_interval(counted[:5], FIXED) == (3.0, 1.0, 5.0)
    # By hand: 31 of 32 cover from the 1st to the 6th, 25 of 32 from the 2nd to the 5th; I = 0.1, lambda = 0.5 / 1.4
    assert median_with_interval(counted[:6], FIXED) == pytest.approx((3.5, 1 + 5 / 14, 6 - 5 / 14))
    low, high = Mean(counted[:7], ANYTIME).interval()
    assert median_with_interval(counted[:7], ANYTIME) == (4.0, min(low, 1.0), max(high, 7.0))
    # None of 8 on one side: E = 2^8 B(1, 9) = 28.4, and 1 of 8: 3.6
    assert median_with_interval(counted, ANYTIME) == (4.5, 1.0, 8.0)


@pytest.mark.parametrize("name", ["two modes", "one in ten twice", "five levels"])
@pytest.mark.parametrize("launches", [5, 8, 16])
def test_the_interval_of_one_value_holds_the_median_launch(name: str, launches: int) -> None:
    logs = NOISES[name].logs(np.random.default_rng(8), (1000, launches, 1, 1))[:, :, 0, 0]
    truth = np.median(NOISES[name].logs(np.random.default_rng(9), (200_000, 1, 1, 1)))
    ends = [median_with_interval(one, FIXED)[1:] for one in logs]
    covered = np.mean([low <= truth <= high for low, high in ends])
    assert 0.93 <= covered <= 0.99
