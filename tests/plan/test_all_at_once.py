"""What is wrong with a plan is told at once, in the order of its lines, names that nobody knows among it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope import plan as plans
from fabriscope.model.errors import PlanError
from fabriscope.running.vocabulary import vocabulary

PLAN = """\
name: strange
hosts: node[1-2]
fabrics:
  gige: {lab: {preset: gig, dely: 5us}}
  other: {lab: gigabit}
layers: [rdma]
instruments: [iperf]
benchmarks:
  pingpong: {sizes: [8]}
  bandwidth: {sizes: [8], widow: 3}
launches: many
"""
NAMES = {4: "gig", 5: "gigabit", 6: "rdma", 7: "iperf", 9: "pingpong"}


def _mistakes(text: str, folder: Path) -> list[tuple[int, str]]:
    path = folder / "plan.yaml"
    path.write_text(text)
    with pytest.raises(PlanError) as caught:
        plans.load(path, vocabulary())
    lines = [line.removeprefix(f"{path}:").partition(": ") for line in str(caught.value).splitlines()]
    return [(int(number), what) for number, _, what in lines]


def test_names_are_told_beside_the_mistakes_of_the_schema(tmp_path: Path) -> None:
    told = _mistakes(PLAN, tmp_path)
    assert {number for number, _ in told} == {4, 5, 6, 7, 9, 10, 11}
    for line, name in NAMES.items():
        assert any(number == line and "there is no" in what and repr(name) in what for number, what in told), told
    assert any(number == 4 and "dely" in what for number, what in told)


def test_mistakes_are_in_the_order_of_the_lines(tmp_path: Path) -> None:
    numbers = [number for number, _ in _mistakes(PLAN, tmp_path)]
    assert numbers == sorted(numbers)
    good = PLAN.replace("many", "3").replace(", widow: 3", "").replace(", dely: 5us", "")
    numbers = [number for number, _ in _mistakes(good, tmp_path)]
    assert numbers == sorted(numbers)
    assert set(NAMES) <= set(numbers)
