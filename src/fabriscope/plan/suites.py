"""Where a plan says that suites are which the site has built: what cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model.osu import INSTRUMENT

if TYPE_CHECKING:
    from fabriscope.plan.schema import PlanSection

Contradiction = tuple[tuple[str | int, ...], str, str]


def contradictions(section: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix."""
    if "osu_options" in section.model_fields_set and INSTRUMENT not in section.instruments:
        what = "it tells the OSU micro-benchmarks what to do, and nothing runs them"
        yield ("osu_options",), what, "write for example `instruments: [engine, osu]`, or remove it"
    if section.osu is None:
        return
    if INSTRUMENT not in section.instruments:
        what = "it says where the OSU micro-benchmarks are, and nothing runs them"
        yield ("osu",), what, "write for example `instruments: [engine, osu]`, or remove it"
    names = [stack.name for stack in section.mpi]
    if isinstance(section.osu, dict):
        for name in sorted(set(section.osu) - set(names)):
            what = f"there is no MPI library {name} in this plan"
            yield ("osu", name), what, f"name one of {', '.join(names) or 'those under mpi'}"
