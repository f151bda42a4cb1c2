"""Which claims of a plan's paper speak of what the plan does not measure, so that none of them can be judged."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from fabriscope.model.counting import counted
from fabriscope.model.errors import shown

if TYPE_CHECKING:
    from fabriscope.analysis.papers.selections import Attributes
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.model.paper import Claim, Meant
    from fabriscope.plan import Plan, Schedule

MOST_NAMED = 3


def notes(plan: Plan, schedule: Schedule) -> Iterator[str]:
    """Yield how many claims are not measured, where others are: a smaller plan may leave them out."""
    claims, left = _unmeasured(plan, schedule)
    if 0 < len(left) < len(claims):
        yield f"{len(left)} of {counted(len(claims), 'claim')} of the paper speak of what this plan does not measure"


def doubts(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield the claims, or the first of them, where none is measured."""
    claims, left = _unmeasured(plan, schedule)
    if len(left) < len(claims):
        return
    for claim in left[:MOST_NAMED]:
        what = f"the claim {shown(claim.say)} speaks of what this plan does not measure, {_missing(claim, schedule)}"
        yield ("paper", "file"), f"paper: {what}; add it to benchmarks, or change the claim"


def _unmeasured(plan: Plan, schedule: Schedule) -> tuple[list[Claim], list[Claim]]:
    """Return all claims, and those for which nothing of the plan is measured."""
    if plan.paper is None:
        return [], []
    from fabriscope.analysis.papers.selections import attributes
    from fabriscope.model.paper import PaperFacts
    from fabriscope.store.shapes import decode

    about = decode(dict(plan.paper), PaperFacts)
    claims = [*(claim for figure in about.figures for claim in figure.claims), *about.claims]
    cases = [attributes(case) for case in schedule.cases.values()]
    return claims, [claim for claim in claims if not all(_is_measured(claim, side, cases) for side in _sides(claim))]


def _sides(claim: Claim) -> tuple[tuple[Meant, ...], ...]:
    return (claim.of, claim.than) if claim.than else (claim.of,)


def _is_measured(claim: Claim, side: Collection[Meant], cases: Collection[Attributes]) -> bool:
    """Return whether any curve of a side has a point; one with several choices may."""
    from fabriscope.analysis.papers.selections import EVERYTHING, METRIC, SIZE, Range, matches

    sizes = Range(*claim.sizes) if claim.sizes else EVERYTHING
    for meant in side:
        select = {name: value for name, value in (meant.select or {}).items() if name != METRIC}
        if any(part.name for part in meant.parts):
            return True
        if meant.select is not None and any(
            sizes.holds(one.message_size_bytes) and matches(one.named, select, claim.along or SIZE) for one in cases
        ):
            return True
    return False


def _missing(claim: Claim, schedule: Schedule) -> str:
    """Return what of a claim the plan lacks: its benchmark, or else its sizes or its settings."""
    wanted = {str(meant.select["benchmark"]) for meant in claim.of if meant.select and "benchmark" in meant.select}
    lacking = wanted - {case.benchmark for case in schedule.cases.values()}
    return f"the benchmark {min(lacking)}" if lacking else "these sizes or settings"
