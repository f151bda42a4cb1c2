"""Where a plan says that suites are which the site has built: what cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model.osu import INSTRUMENT, iterations_for

if TYPE_CHECKING:
    from fabriscope.plan.schema import PlanSection

Contradiction = tuple[tuple[str | int, ...], str, str]


def contradictions(section: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix."""
    if "osu_options" in section.model_fields_set and INSTRUMENT not in section.instruments:
        what = "it tells the OSU micro-benchmarks what to do, and nothing runs them"
        yield ("osu_options",), what, "write for example `instruments: [engine, osu]`, or remove it"
    options = section.osu_options
    beyond = [one for one in sorted(options.percentiles) if (options.iterations or math.inf) < iterations_for(one)]
    for one in beyond[-1:]:
        what = f"percentile {one} takes {iterations_for(one)} iterations, ten of them beyond it, and these are"
        fix = f"write `iterations: {iterations_for(one)}` or more, or leave the percentile out"
        yield ("osu_options", "percentiles"), f"{what} {options.iterations}", fix
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
