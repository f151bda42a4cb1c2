"""What a plan says to stand for a paper's names, and cannot: cases that the plan does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields

from fabriscope.model.benchmarks import PARAMETERS
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.errors import shown
from fabriscope.plan import applications
from fabriscope.plan.benchmark_sections import VerbsSection
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.place_schema import Selection, StandInSection
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection

ATTRIBUTES = frozenset(
    (
        *(field.name for noun in (Case, Entry, SocketOptions) for field in fields(noun)),
        *PARAMETERS,
        *VerbsSection.model_fields,
        "rank_count",
        "host_count",
        "pair_count",
        "stream_count",
        "metric",
    )
) - {"entry", "socket", "parameters", "hosts"}
"""What a case can be selected by (analysis/papers/selections.py)."""


def contradictions(here: Mapping[str, StandInSection]) -> Iterator[Contradiction]:
    """Yield place below `paper: here:`, what is wrong, and the fix, for selections by what no case has."""
    for name, one in here.items():
        for depth, choice in enumerate(one.choices()):
            for key in (key for key in choice.select if key not in ATTRIBUTES):
                place = (name, *("otherwise",) * depth, "select", key)
                yield place, f"cases have no {shown(key)} to be selected by", nearest(key, ATTRIBUTES)


def unmeasured(plan: PlanSection) -> Iterator[str]:
    """Yield what of `paper: here:` stands for nothing, as the plan does not measure it; a smaller plan may say so.

    A name with several choices stands for nothing where none of them is measured.
    """
    named: dict[str, Collection[str]] = {
        "fabric": plan.fabrics,
        "layer": plan.layers,
        "mpi": [stack.name for stack in plan.mpi],
        "placement": plan.placements,
        "instrument": (*plan.instruments, *applications.instruments(plan)),
        "benchmark": (*plan.benchmarks, *applications.benchmarks(plan)),
    }
    for name, one in (plan.paper.here if plan.paper else {}).items():
        lacking = [list(_lacking(choice.select, named)) for choice in one.choices()]
        for key, wanted in lacking[0] if all(lacking) else ():
            yield f"nothing stands for the paper's {shown(name)}: the plan measures no {key} {shown(wanted)}"


def _lacking(select: Selection, named: Mapping[str, Collection[str]]) -> Iterator[tuple[str, object]]:
    """Yield the attributes of a selection, and their values, that nothing of the plan has."""
    for key, known in named.items():
        wanted = select.get(key)
        values = wanted if isinstance(wanted, list) else [wanted]
        if wanted is not None and not any(str(value) in known for value in values):
            yield key, wanted
