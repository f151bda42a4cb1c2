"""Where a plan says that suites are which the site has built, and what they are told: what cannot be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model import imb
from fabriscope.model.osu import INSTRUMENT, iterations_for

if TYPE_CHECKING:
    from fabriscope.plan.schema import PlanSection

Contradiction = tuple[tuple[str | int, ...], str, str]


def contradictions(section: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix."""
    suites = (("OSU micro-benchmarks", INSTRUMENT), ("Intel MPI Benchmarks", imb.INSTRUMENT))
    for title, name in suites:
        if f"{name}_options" in section.model_fields_set and name not in section.instruments:
            what = f"it tells the {title} what to do, and nothing runs them"
            yield (f"{name}_options",), what, f"write for example `instruments: [engine, {name}]`, or remove it"
    yield from _of_percentiles(section)
    if section.imb_options.iter_policy == "off" and not section.imb_options.iter:
        what = "IMB then makes all repetitions, however long they take, and nothing says how many"
        yield ("imb_options", "iter_policy"), what, "write `iter: 1000` beside it"
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


def _of_percentiles(section: PlanSection) -> Iterator[Contradiction]:
    options = section.osu_options
    beyond = [one for one in sorted(options.percentiles) if (options.iterations or math.inf) < iterations_for(one)]
    for one in beyond[-1:]:
        what = f"percentile {one} takes {iterations_for(one)} iterations, ten of them beyond it, and these are"
        fix = f"write `iterations: {iterations_for(one)}` or more, or leave the percentile out"
        yield ("osu_options", "percentiles"), f"{what} {options.iterations}", fix
