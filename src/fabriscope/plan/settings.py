"""What a plan sets on hosts for the launches over a fabric or of an MPI library, and what of it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fabriscope.model.errors import shown
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import FabricSection, MpiSection, PlanSection

Readers = Mapping[str, Callable[[Any], str]]
"""Setting to what reads a value of a plan, and raises ValueError."""
_Place = tuple[str | int, ...]


def contradictions(plan: PlanSection, knobs: Readers) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for every setting that there is none of or that has no such value."""
    for name, fabric in plan.fabrics.items():
        yield from _of_settings(("fabrics", name, "settings"), fabric.settings, [fabric], knobs)
    for index, stack in enumerate(plan.mpi):
        place = ("mpi", index, "settings")
        used = {name: one for name, one in plan.fabrics.items() if stack.fabrics is None or name in stack.fabrics}
        yield from _of_settings(place, stack.settings, list(used.values()), knobs)
        for name, fabric in used.items():
            for knob in stack.settings.keys() & fabric.settings.keys():
                what = f"{knob} is set for the launches of {stack.name} and for those over {name}"
                yield (*place, knob), what, "keep one of them, or measure the library over other fabrics"


def _of_settings(
    where: _Place, settings: Mapping[str, bool | int | str], fabrics: Sequence[FabricSection], knobs: Readers
) -> Iterator[Contradiction]:
    for knob, value in settings.items():
        place = (*where, knob)
        if knob not in knobs:
            yield place, f"there is no setting {shown(knob)}", nearest(knob, knobs)
            continue
        try:
            text = knobs[knob](value)
        except ValueError as error:
            yield place, f"{knob}: {error}", "docs/settings.md has the values of each"
            continue
        for fabric in fabrics if knob == "mtu" else ():
            if wrong := too_large_mtu(fabric, int(text)):
                yield place, *wrong


def too_large_mtu(fabric: FabricSection, mtu_bytes: int) -> tuple[str, str] | None:
    """Return what is wrong with an MTU of hosts that their switch does not carry, and the fix; None where it does."""
    if fabric.lab is None or (most := fabric.lab.mtu or 1500) >= mtu_bytes:
        return None
    what = f"hosts with an MTU of {mtu_bytes} on a switch of the lab that carries {most}"
    return what, f"choose at most {most}, or write lab: {{preset: {fabric.lab.preset}, mtu: {mtu_bytes}}}"


def values_of(section: FabricSection | MpiSection, knobs: Readers) -> dict[str, str]:
    """Return what a fabric or a library sets, as hosts say it."""
    return {name: knobs[name](value) for name, value in section.settings.items()}
