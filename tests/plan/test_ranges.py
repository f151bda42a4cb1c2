"""A number of a plan out of its range is answered as it was written, with its unit, and with the range."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.plan.hostile import HEAD, TAIL
from tests.plan.test_hostile import read_whole, written

from fabriscope.model.errors import PlanError
from fabriscope.model.units import duration_words

STREAMS = "benchmarks: {many_to_one: {sizes: [64], duration: %s}}"


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ("case_timeout: 0s\n" + TAIL, "case_timeout: 0s is less than 1ms: write 1ms or more"),
        ("turns: 0s\n" + TAIL, "a turn of 0s"),
        ("submit: {duration: 0s}\n" + TAIL, "submit.duration: 0s is less than 1s"),
        ("budget: 0s\n" + TAIL, "budget: 0s is less than 3ms, which one burst"),
        (STREAMS % "0s", "duration: 0s is less than 1ms: write 1ms or more"),
        (STREAMS % "11min", "duration: 11min is more than 10min: write 10min or less"),
        ("launches: 0\n" + TAIL, "launches: at least 1 is expected, not 0"),
        ("bind: [-1, 5]\n" + TAIL, "bind: '-1' is no processor and no range of them: write auto"),
        ("bind: ['3-']\n" + TAIL, "bind: '3-' is no processor and no range of them"),
        ("bind: ['5-3']\n" + TAIL, "bind: '5-3' ends before it begins"),
    ],
)
def test_what_is_out_of_range_is_told_with_its_unit(plan: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        read_whole(written(tmp_path, HEAD + plan))
    assert f"plan.yaml:4: {says}" in str(caught.value).replace("benchmarks.many_to_one.", "").replace("turns: a", "a")


def test_no_time_is_none_of_hours() -> None:
    assert [duration_words(one) for one in (0, 1, 3600 * 10**9)] == ["0s", "1ns", "1h"]


def test_a_lab_may_be_without_a_limit(tmp_path: Path) -> None:
    plan = "name: x\nhosts: node[1-2]\nfabrics: {g: {lab: {preset: gige, rate: 0, buffer: 0}}}\n" + TAIL
    assert read_whole(written(tmp_path, plan)) > 0


@pytest.mark.parametrize(
    ("plan", "known"),
    [
        ("services: {a: 1}\n" + TAIL, "known: hbase, hdfs"),
        ("benchmarks: {many_to_one: {sizes: [64], durations: 1s}}", "did you mean 'duration'?"),
    ],
)
def test_a_key_that_is_none_is_answered_with_those_of_its_section(plan: str, known: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        read_whole(written(tmp_path, HEAD + plan))
    assert known in str(caught.value)
