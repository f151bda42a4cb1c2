"""The report names the rule that each kind of number was taken by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.small_run import HOSTS, TCP, run_of

from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.stopping import rules_of, rules_of_both
from fabriscope.model.case import Case, Entry
from fabriscope.model.manifest import PlanFacts
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Terms
from fabriscope.reports.sections import sections_of

SLOW = Entry("tcp", "ethernet-100", "inter", HOSTS)
STUDENT, ANYTIME, SEQUENTIAL = "Student's t: the number", "anytime-valid: ", "group-sequential t: "


def five_blocks(until: str) -> RunData:
    times = [[[1e6 * time]] for time in (1.0, 1.02, 0.98, 1.01, 0.99)]
    run = run_of({Case(entry, "ping_pong", 8): times for entry in (TCP, SLOW)})
    return replace(run, manifest=replace(run.manifest, plan=PlanFacts(until=until)))


def terms(run: RunData) -> dict[str, str]:
    (section,) = [one for one in sections_of(results_of(run)) if one.anchor == "method"]
    (listed,) = [block for block in section.blocks if isinstance(block, Terms)]
    return {term.name: term.meaning for term in listed.terms}


@pytest.mark.parametrize(
    ("until", "of_values", "free_from", "of_pairs"),
    [("launches", STUDENT, "from 6 launches on", STUDENT), ("decided", ANYTIME, "from 8 launches on", SEQUENTIAL)],
)
def test_values_and_comparisons_are_each_told_their_own_rule(
    until: str, of_values: str, free_from: str, of_pairs: str
) -> None:
    told = terms(five_blocks(until))
    assert f"interval, {of_values}" in told["Value and interval"]
    assert free_from in told["Value and interval"]
    assert f"over blocks ({of_pairs}" in told["Comparison"]


def test_a_lead_is_stated_as_less_only_where_the_number_of_blocks_was_fixed() -> None:
    words = "a lead is stated"
    assert words in terms(five_blocks("launches"))["Comparison"]
    assert words not in terms(five_blocks("decided"))["Comparison"]


def test_two_runs_share_no_blocks_that_a_group_sequential_t_would_be_of() -> None:
    fixed, decided = rules_of(five_blocks("launches")), rules_of(five_blocks("decided"))
    assert rules_of_both(fixed, fixed).words == fixed.words
    for both in (rules_of_both(decided, fixed), rules_of_both(fixed, decided), rules_of_both(decided, decided)):
        assert both.words.startswith(ANYTIME)
        assert both.horizon == 0
