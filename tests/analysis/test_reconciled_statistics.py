"""How far programs are apart: never a program from itself, and a percentile from its like alone."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from tests.analysis.small_run import run_of

from fabriscope.analysis.comparing.reconciled import Reconciled, Statement
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.values.estimates import Centre
from fabriscope.reports.section import Paragraph, plain
from fabriscope.reports.sections import reconcile

if TYPE_CHECKING:
    from fabriscope.analysis.results import Results

CURVE = Curve("intra", None, "mpi", "mpich", "engine", "ping_pong", "", "", "")


def said(instrument: str, metric_id: str, value: float, over: float | None = None) -> Statement:
    excess = None if over is None else Centre(over, None, None)
    return Statement(instrument, metric_id, Centre(value, None, None), None, excess, "")


def of(*statements: Statement) -> Reconciled:
    return Reconciled(CURVE, "latency", 8, statements)


def lead(one: Reconciled) -> str:
    results = SimpleNamespace(reconciled=[one], run=run_of({}), graded=[])
    (section,) = reconcile.SECTION.build(cast("Results", results))
    return next(plain(block.text) for block in section.blocks if isinstance(block, Paragraph))


def test_the_tail_of_a_program_is_not_set_against_its_own_median() -> None:
    one = of(
        said("engine", "latency_ns_separate", 1000, 1.0), said("osu", "latency_ns_separate", 1100, 1.1),
        said("osu", "latency_ns_separate_p99", 2_432_170, 4.0), said("osu", "latency_ns_separate_mean", 1300, 1.2),
    )  # fmt: skip
    assert one.spread_before == pytest.approx(1.3)
    assert one.spread_after == pytest.approx(4.0)  # over ours by the same percentile
    assert one.of_several == ["osu"]
    assert "differ by up to 1.30 times" in lead(one)
    assert "among their like alone: osu printed several" in lead(one)


def test_two_programs_with_the_same_percentile_are() -> None:
    one = of(
        said("engine", "latency_ns_separate", 1000), said("osu", "latency_ns_separate_p99", 9000),
        said("sockperf", "latency_ns_separate_p99", 3000),
    )  # fmt: skip
    assert one.spread_before == pytest.approx(3)
    assert (one.spread_after, one.of_several) == (None, [])


def test_programs_without_a_statistic_in_common_are_set_against_each_other() -> None:
    one = of(said("engine", "latency_ns_separate", 1000), said("osu", "latency_ns_separate_p99", 9000))
    assert math.isclose(one.spread_before, 9)
