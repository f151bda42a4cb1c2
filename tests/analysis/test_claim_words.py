"""How it is told that some points of a claim say no, and all of them together do not."""

from __future__ import annotations

import pytest
from tests.analysis.test_claims import claim

from fabriscope.analysis.papers.claim_words import evidence
from fabriscope.analysis.papers.statements import FAILS, OPEN, Point, Statement, all_of

CLAIM = claim("lower", "a", "b")


def points(*p_fails: float) -> list[Point]:
    return [Point(1 << at, f"ratio {at}", Statement(0.5, p, block_count=5)) for at, p in enumerate(p_fails)]


@pytest.mark.parametrize(
    ("p_fails", "says"),
    [
        ((0.02, 0.022, 0.4, 0.5, 0.6), "open at 3 of 5 points, and 2 say no by themselves, but not all 5 together"),
        ((0.02, 0.4, 0.5), "open at 2 of 3 points, and 1 says no by itself, but not all 3 together (Simes' test)"),
        ((0.3, 0.4), "open at 2 of 2 points; least sure"),
    ],
)
def test_what_a_few_points_say_by_themselves(p_fails: tuple[float, ...], says: str) -> None:
    found = points(*p_fails)
    assert all_of([one.statement for one in found]).verdict == OPEN
    assert evidence(CLAIM, found, OPEN, ()).startswith(says)


def test_one_plain_point_is_enough() -> None:
    found = points(0.01, 0.5)
    assert all_of([one.statement for one in found]).verdict == FAILS
    assert evidence(CLAIM, found, FAILS, ()).startswith("not at 1 of 2 points; plainest")
