"""Claims of a paper that can never hold are refused, and those of which nothing is measured are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import Result
from tests.plan.test_accepted_in_silence import FABRICS, PING_PONG, PLAN, REAL, asked, checked

from fabriscope.model.errors import PlanError

CLAIM = "of: gige, than: slow, benchmark: ping_pong, expect: lower"
UNMEASURED = [
    ("benchmark: ping_pong", "benchmark: bandwidth", "the benchmark bandwidth"),
    ("benchmark: ping_pong", "benchmark: ping_pong, sizes: 1MiB..", "these sizes or settings"),
    (CLAIM, "of: gige, benchmark: many_to_one, expect: {state: collapses}", "the benchmark many_to_one"),
]
NEVER = [
    ("than: slow", "than: gige", "the claim 'x' sets 'gige' against itself, and is never decided -- name another"),
    ("expect: lower", "expect: {lower_by: 120 %}", "nothing is lower by 120 %, as 100% less is nothing: write less "),
    ("expect: lower", "expect: {ratio: -2..0}", "can never be, as nothing that is measured is 0 or less"),
    ("expect: lower", "expect: {lower_by: 50Mb/s}", "'50Mb/s', and latency_ns_separate is a time -- write for"),
    ("expect: lower", "expect: {lower_by: 10}", "expects lower by 10, of nothing -- write for example 10us, or 10%"),
    ("expect: lower", "expect: {dip: yes}", "true is no point of an axis: write a size such as 512, or `dip: any"),
    ("ping_pong,", "ping_pong, along: streams,", "have no 'streams' to be drawn along -- did you mean 'stream_count'?"),
    ("expect: lower", "expect: {ratio: 0.9}", "no interval lies in the one ratio 0.9: write a range, such as 0.855.."),
    (
        "ping_pong,",
        "ping_pong, metric: bandwidth_bytes_per_s,",
        "is of bandwidth_bytes_per_s, which ping_pong does not have -- ping_pong has latency_ns",
    ),
    (CLAIM, "of: gige, benchmark: ping_pong, expect: {state: collapses}", "expects a state of ping_pong -- states are"),
]

HERE = {"gige": "fabric: gige", "slow": "fabric: slow"}


def with_paper(folder: Path, old: str, new: str, here: Mapping[str, str] = HERE, plan: str = PLAN) -> Result:
    claims = f"claims:\n  - {{say: x, {CLAIM}}}\n"
    names = "names:\n  gige: {means: Gigabit}\n  slow: {means: Fast}\n"
    (folder / "x.paper.yaml").write_text(f"title: T\n{names}{claims.replace(old, new)}")
    lines = "".join(f"    {name}: {{says: it, select: {{{select}}}}}\n" for name, select in here.items())
    return checked(folder, f"{plan}paper:\n  file: x.paper.yaml\n  here:\n{lines}")


@pytest.mark.parametrize(("old", "new", "said"), UNMEASURED, ids=[row[1] for row in UNMEASURED])
def test_claims_of_what_is_not_measured_are_asked_about(tmp_path: Path, old: str, new: str, said: str) -> None:
    (one,) = asked(with_paper(tmp_path, old, new))
    assert one.startswith(f"look again: paper: the claim 'x' speaks of what this plan does not measure, {said}")
    assert one.endswith("(line 11)")


@pytest.mark.parametrize(("old", "new", "said"), NEVER, ids=[row[1] for row in NEVER])
def test_claims_that_can_never_hold_are_refused_with_their_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    told = with_paper(tmp_path, old, new)
    assert isinstance(told.exception, PlanError), told.output
    assert any("x.paper.yaml:6: " in one and said in one for one in str(told.exception).splitlines()), told.exception


def test_claims_some_of_which_are_measured_are_not_asked_about(tmp_path: Path) -> None:
    assert asked(with_paper(tmp_path, "", "")) == []
    some = with_paper(tmp_path, "claims:\n", f"claims:\n  - {{say: y, {CLAIM.replace('ping_pong', 'bandwidth')}}}\n")
    assert asked(some) == []
    assert "  1 of 2 claims of the paper speak of what this plan does not measure\n" in some.output


@pytest.mark.parametrize(
    ("select", "said"),
    [
        ("fabric: eth", "the fabric eth; known: gige, slow"),
        ("fabric: gige, layer: mpi", "the layer mpi; add it to layers, or change the claim"),
    ],
)
def test_what_a_name_stands_for_and_nothing_is_told_where_it_is_said(tmp_path: Path, select: str, said: str) -> None:
    (one,) = asked(with_paper(tmp_path, "", "", {**HERE, "gige": select}))
    assert one == f"look again: paper: the claim 'x' speaks of what this plan does not measure, {said} (line 13)"


def test_one_thing_that_is_lacking_is_told_once(tmp_path: Path) -> None:
    twice = with_paper(tmp_path, "claims:\n", f"claims:\n  - {{say: y, {CLAIM}}}\n", {**HERE, "gige": "fabric: eth"})
    (one,) = asked(twice)
    assert "the claim 'y' speaks of what this plan does not measure, the fabric eth" in one


def test_a_name_that_the_paper_lacks_is_told_with_its_own_line(tmp_path: Path) -> None:
    told = with_paper(tmp_path, "", "", {"gige": "fabric: gige", "slwo": "fabric: slow"})
    assert isinstance(told.exception, PlanError), told.output
    said = str(told.exception)
    assert "plan.yaml:14: the paper has no name 'slwo' -- did you mean 'slow'? known: gige, slow" in said


@pytest.mark.parametrize("rate", ["", ", line_rate: 10Gb/s"])
def test_a_share_of_a_rate_that_nobody_says_is_asked_about(tmp_path: Path, rate: str) -> None:
    plan = PLAN.replace(FABRICS, REAL.replace("eth0", f"eth0{rate}")).replace(PING_PONG, "bandwidth: {sizes: [64KiB]}")
    told = asked(with_paper(tmp_path, CLAIM, "of: gige, benchmark: bandwidth, expect: {share: 0.9..}", plan=plan))
    what = "look again: gige: the claim 'x' is of a share of its line rate, which nobody says: it is never decided"
    assert told == ([] if rate else [f"{what}; add for example `line_rate: 10Gb/s` (line 4)"])
