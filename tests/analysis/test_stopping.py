"""Which rule a run is judged by."""

from __future__ import annotations

from dataclasses import replace

from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.comparing.comparisons import compare_all
from fabriscope.analysis.numbers.evidence import ANYTIME, FIXED
from fabriscope.analysis.values.estimates import estimates
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.manifest import PlanFacts
from fabriscope.model.run_data import RunData

SLOW = Entry("tcp", "ethernet-100", "inter", HOSTS)


def small_run(blocks: int = 5) -> RunData:
    times = [1.0, 1.02, 0.98, 1.01, 0.99][:blocks]
    return run_of(
        {
            Case(entry, "ping_pong", 8): [
                [[1e6 * factor * time * (1 + index * 1e-4)]] for index, time in enumerate(times)
            ]
            for entry, factor in ((TCP, 1.0), (SLOW, 1.08))
        }
    )


def test_all_of_a_fixed_number_of_blocks_are_judged_by_student() -> None:
    run = small_run()
    rules = rules_of(run)
    assert (rules.method, rules.margin) == (FIXED, 0.03)
    assert "fixed before the run" in rules.words


def test_a_look_before_the_end_is_judged_by_what_holds_at_any_time() -> None:
    run = small_run()
    early = replace(run, journal=run.journal[:6])
    rules = rules_of(early)
    assert rules.method == ANYTIME
    assert "6 of 10 launches" in rules.words
    width = [one["high"][0] / one["low"][0] for one in (estimates(run), estimates(early))]
    assert width[1] > width[0]
    assert compare_all(launch_values(early), rules)["method"].unique().to_list() == [ANYTIME]


def test_the_plan_says_when_a_run_ends_and_what_is_equivalent() -> None:
    run = small_run()
    run = replace(run, manifest=replace(run.manifest, plan=PlanFacts(until="decided", margin=0.1)))
    rules = rules_of(run)
    assert (rules.method, rules.margin) == (ANYTIME, 0.1)
    assert compare_all(launch_values(run), rules)["verdict"].to_list() == ["equivalent"]
    run = replace(run, manifest=replace(run.manifest, plan=PlanFacts(until="decided")))
    assert compare_all(launch_values(run), rules_of(run))["verdict"].to_list() == ["slower"]
