"""Which claims of a plan's paper speak of what the plan does not measure, so that none of them can be judged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from fabriscope.model.counting import counted
from fabriscope.model.errors import shown

if TYPE_CHECKING:
    from fabriscope.analysis.papers.selections import Attributes
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.model.fabric import Fabric
    from fabriscope.model.paper import Claim, Meant
    from fabriscope.plan import Plan, Schedule
    from fabriscope.plan.yaml_places import Place

MOST_NAMED = 3
_KEYS = {"fabric": "fabrics", "layer": "layers", "mpi": "mpi", "placement": "placements", "instrument": "instruments"}
"""Attributes by which cases are selected, to the keys of a plan that name them; the benchmark comes last."""
_BENCHMARK = "benchmark"


def notes(plan: Plan, schedule: Schedule) -> Iterator[str]:
    """Yield how many claims are not measured, where others are: a smaller plan may leave them out."""
    claims, left = _unmeasured(plan, schedule)
    if 0 < len(left) < len(claims):
        yield f"{len(left)} of {counted(len(claims), 'claim')} of the paper speak of what this plan does not measure"


def doubts(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield the claims, or the first of them, where none is measured: one for each thing that the plan lacks."""
    claims, left = _unmeasured(plan, schedule)
    yield from _of_shares(claims, plan, fabrics)
    if len(left) < len(claims):
        return
    told: dict[tuple[str, str] | int, Doubt] = {}
    for number, claim in enumerate(left):
        key, value = lack = _lacking(claim, schedule)
        what = f"paper: the claim {shown(claim.say)} speaks of what this plan does not measure, "
        if not key:
            what += "these sizes or settings; add it to benchmarks, or change the claim"
        else:
            what += f"the {key} {value}; {_remedy(plan, key, value)}"
        told.setdefault(lack if key else number, (_selecting(plan, key, value), what))
    yield from [*told.values()][:MOST_NAMED]


def _remedy(plan: Plan, key: str, value: str) -> str:
    from fabriscope.plan.mistakes import nearest

    if key == "fabric":
        return f"{nearest(value, plan.section.fabrics)}"
    return f"add it to {_KEYS.get(key, 'benchmarks')}, or change the claim"


def _selecting(plan: Plan, key: str, value: str) -> Place:
    """Return where the plan says that a name of the paper is such cases; else where it names the paper's file."""
    here = plan.section.paper.here if plan.section.paper is not None else {}
    for name, one in here.items():
        if key and str(one.select.get(key)) == value:
            return ("paper", "here", name, "select", key)
    return ("paper", "file")


def _of_shares(claims: Collection[Claim], plan: Plan, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield fabrics whose line rate nobody says, where a claim is of a share of it: it is never decided."""
    told: dict[str, str] = {}
    for claim in claims:
        for meant in claim.of if claim.expect.kind == "share" else ():
            wanted = (meant.select or {}).get("fabric", tuple(fabrics))
            for name in map(str, wanted if isinstance(wanted, tuple) else (wanted,)):
                if name in fabrics and not fabrics[name].line_rate_bits_per_s:
                    told.setdefault(name, claim.say)
    for name, say in told.items():
        what = f"{name}: the claim {shown(say)} is of a share of its line rate, which nobody says: it is never decided"
        is_of_lab = plan.section.fabrics[name].lab is not None
        fix = "write a `rate` in its `lab:`" if is_of_lab else "add for example `line_rate: 10Gb/s`"
        yield ("fabrics", name), f"{what}; {fix}"


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


def _lacking(claim: Claim, schedule: Schedule) -> tuple[str, str]:
    """Return what a claim wants and no case has: an attribute and its value, empty where all is there but together."""
    from fabriscope.analysis.papers.selections import attributes

    cases = [attributes(case).named for case in schedule.cases.values()]
    wanted = [meant.select or {} for side in _sides(claim) for meant in side]
    for key in (*_KEYS, _BENCHMARK):
        have = {str(case.get(key)) for case in cases}
        for value in (select[key] for select in wanted if key in select):
            values = [str(one) for one in (value if isinstance(value, tuple) else (value,))]
            if have.isdisjoint(values):
                return key, values[0]
    return "", ""
