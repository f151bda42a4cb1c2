"""How long launches of streams take by programs that know whole seconds alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import needs

from fabriscope.cli import fabriscope
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.stream_programs import STREAM_PROGRAMS
from fabriscope.plan import Vocabulary, expand, expected_ns, load
from fabriscope.running.site import planned_fabrics

WORDS = Vocabulary(
    frozenset(BENCHMARKS), frozenset({"engine", *STREAM_PROGRAMS}), frozenset({"tcp", "verbs"}), frozenset({"gige"})
)
PLAN = """
name: x
hosts: g[1-2]
guests: all
fabrics: {net: {lab: gige, rdma: soft-roce}}
layers: [verbs]
instruments: [PROGRAM]
floor: false
launches: 1
budget: 3ms
benchmarks: {many_to_one: {sizes: [1KiB, 2KiB, 4KiB], duration: DURATION}}
"""


@pytest.mark.parametrize(
    ("program", "duration", "seconds"),
    [("iperf3", "300ms", 3), ("ib_write_bw", "300ms", 3 + 2 * 3), ("ib_send_bw", "4500ms", 5 + 2 * 3)],
)
def test_each_case_takes_its_seconds_and_the_margins(program: str, duration: str, seconds: int, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("PROGRAM", program).replace("DURATION", duration))
    plan = load(path, WORDS)
    fabrics = planned_fabrics(plan)
    (launch,) = expand(plan, fabrics, 2).launches
    assert 3 * seconds * 1e9 < expected_ns(launch, fabrics) < 3 * (seconds + 5) * 1e9


def test_plan_check_says_for_how_long_streams_are_sent(tmp_path: Path) -> None:
    needs.transport("verbs")
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("PROGRAM", "engine, ib_write_bw").replace("DURATION", "300ms"))
    told = " ".join(CliRunner().invoke(fabriscope, ["plan", "check", str(path)]).output.split())
    said = "ib_write_bw sends each stream of many_to_one for 3 s, and for 3 s before and after, which do not count"
    assert told.count(said) == 1
    assert "iperf3 sends" not in told
    assert "measures nothing of this plan" not in told


def test_plan_check_names_a_program_that_has_no_rounds(tmp_path: Path) -> None:
    needs.transport("verbs")
    path = tmp_path / "plan.yaml"
    rounds = PLAN.replace("duration: DURATION", "mode: rounds")
    path.write_text(rounds.replace("PROGRAM", "ib_send_bw"))
    told = CliRunner().invoke(fabriscope, ["plan", "check", str(path)])
    said = "ib_send_bw measures nothing of this plan: nobody answers ib_send_bw's streams: it has no rounds"
    assert said in str(told.exception)
    path.write_text(rounds.replace("PROGRAM", "engine, ib_send_bw"))
    told = CliRunner().invoke(fabriscope, ["plan", "check", str(path)])
    assert said in told.output
    assert "sends each stream" not in told.output
