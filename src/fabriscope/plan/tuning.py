"""What a plan tunes: the values of each setting as hosts say them, and what of it cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from fabriscope.model.errors import shown
from fabriscope.model.foreign import is_digits
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection
from fabriscope.plan.settings import PAGE, Readers, impossible, misplaced
from fabriscope.plan.tune_schema import MOST_VALUES, TuneSection

_RANGE = re.compile(r"([^.\s]+)\s*\.\.\s*([^.\s]+)")


def tuned_fabric(plan: PlanSection) -> str:
    """Return the fabric that a plan tunes; the plan is without contradictions."""
    return (plan.tune.fabric if plan.tune is not None else None) or next(iter(plan.fabrics))


def values_of(tune: TuneSection, knobs: Readers) -> dict[str, tuple[str, ...]]:
    """Return the values of each setting as hosts say them, each once; raises ValueError."""
    return {name: _unfolded(values, knobs[name]) for name, values in tune.knobs.items()}


def contradictions(plan: PlanSection, knobs: Readers) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for whatever a tuning cannot be."""
    tune = plan.tune
    if tune is None:
        return
    yield from _of_whole(plan, tune)
    yield from misplaced(("tune", "knobs"), tune.knobs, plan, tune.fabric or next(iter(plan.fabrics), ""))
    for name, values in tune.knobs.items():
        place = ("tune", "knobs", name)
        if name not in knobs:
            yield place, f"there is no setting {shown(name)}", nearest(name, knobs, PAGE)
            continue
        try:
            found = _unfolded(values, knobs[name])
        except ValueError as error:
            yield place, f"{name}: {error}", f"{PAGE} has the values of each"
            continue
        fabric = plan.fabrics.get(tune.fabric or next(iter(plan.fabrics), ""))
        for wrong in filter(None, (impossible(fabric, name, text) for text in found if fabric is not None)):
            yield place, *wrong


def _of_whole(plan: PlanSection, tune: TuneSection) -> Iterator[Contradiction]:
    names = ", ".join(plan.fabrics)
    if tune.fabric is None and len(plan.fabrics) > 1:
        yield (
            ("tune",),
            f"it does not say which fabric is tuned, and the plan has {names}",
            "add for example fabric: " + (next(iter(plan.fabrics))),
        )
    if tune.fabric is not None and tune.fabric not in plan.fabrics:
        what = f"there is no fabric {shown(tune.fabric)} to tune"
        yield ("tune", "fabric"), what, nearest(tune.fabric, plan.fabrics) if plan.fabrics else "add it to fabrics"
    if "inter" not in plan.placements:
        yield (
            ("tune",),
            "settings are tried on a fabric between hosts, and the plan measures none",
            "add inter to placements",
        )
    fabric = tune.fabric or next(iter(plan.fabrics), "")
    for stack in (one for one in plan.mpi if one.fabrics is None or fabric in one.fabrics):
        for knob in stack.settings.keys() & tune.knobs.keys():
            what = f"{knob} is set for every launch of {stack.name}, whatever is tried"
            yield ("tune", "knobs", knob), what, f"take it from the settings of {stack.name}, or from the knobs"
    layer = tune.objective.layer
    if layer is not None and layer not in plan.layers:
        what = f"the layer {shown(layer)} is not measured by this plan"
        yield ("tune", "objective", "layer"), what, f"leave it out, or write {' or '.join(plan.layers)}"
    for knob in tune.knobs.keys() & MPI_SETTINGS.keys() if layer not in (None, "mpi") else ():
        what = f"{knob} is a setting of an MPI library, and what is to become faster is measured over {layer}"
        yield ("tune", "knobs", knob), what, "take it out, or choose the layer mpi"
    if plan.sharpen:
        yield ("sharpen",), "a run adds sizes (sharpen) or tries settings (tune), not both", "make two plans of it"


def _unfolded(values: tuple[bool | int | str, ...], read: Callable[[Any], str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for value in values:
        match = _RANGE.fullmatch(value) if isinstance(value, str) else None
        found.update(dict.fromkeys([read(value)] if match is None else _doubled(read(match[1]), read(match[2]))))
    if len(found) > MOST_VALUES:
        raise ValueError(f"{len(found)} values are more than {MOST_VALUES}")
    return tuple(found)


def _doubled(first: str, last: str) -> list[str]:
    """Return numbers of which each is twice the one before, from the first to the last."""
    if not (is_digits(first) and is_digits(last) and 0 < int(first) < int(last)):
        raise ValueError(f"{first}..{last} is no range of numbers: from 1 at least, the smaller one first")
    found = [int(first)]
    while found[-1] * 2 < int(last):
        found.append(found[-1] * 2)
    return [*map(str, found), last]
