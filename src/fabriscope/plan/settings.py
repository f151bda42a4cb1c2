"""What a plan sets for the launches over a fabric or of an MPI library, and what of it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from fabriscope.model.errors import shown
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.model.switch_settings import SWITCH_SETTINGS
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.mpi_schema import MpiSection
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import FabricSection, PlanSection
from fabriscope.plan.setting_conflicts import has_library, of_environments, pauses_without_buffer, too_small_buffer

Readers = Mapping[str, Callable[[Any], str]]
"""Setting to what reads a value of a plan, and raises ValueError."""
PAGE = "docs/settings.md"
_Place = tuple[str | int, ...]
_QUEUE_KEYS = {"dscp", "second_switch"}.union(*(one.keys for one in SWITCH_SETTINGS.values() if one.needs_queues))
"""Of a `lab:` section, any of which makes a switch one with priorities."""
_OF_BRIDGES = {"preset", "mtu", "broken"}
"""Likewise, those without which `local` is no switch of ours."""


def contradictions(plan: PlanSection, knobs: Readers) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for every setting that there is none of or that has no such value."""
    for name, fabric in plan.fabrics.items():
        place: _Place = ("fabrics", name, "settings")
        yield from _of_settings(place, fabric.settings, [fabric], knobs)
        yield from misplaced(place, fabric.settings, plan, name)
    yield from of_environments(plan)
    for index, stack in enumerate(plan.mpi):
        place = ("mpi", index, "settings")
        used = {name: one for name, one in plan.fabrics.items() if stack.fabrics is None or name in stack.fabrics}
        yield from _of_settings(place, stack.settings, list(used.values()), knobs)
        for knob in stack.settings.keys() & SWITCH_SETTINGS.keys():
            yield (*place, knob), f"{knob} is set of a fabric's switch", "write it among the settings of the fabric"
        for name, fabric in used.items():
            for knob in stack.settings.keys() & fabric.settings.keys():
                what = f"{knob} is set for the launches of {stack.name} and for those over {name}"
                yield (*place, knob), what, "keep one of them, or measure the library over other fabrics"


def misplaced(where: _Place, names: Iterable[str], plan: PlanSection, fabric: str) -> Iterator[Contradiction]:
    """Yield what cannot be set for launches over a fabric, as it is: without a switch of the lab, or an MPI library."""
    section = plan.fabrics.get(fabric)
    takes_mpi = has_library(plan, fabric)
    for name in names:
        if name in MPI_SETTINGS and not takes_mpi:
            what = f"{name} is a setting of an MPI library, and none is measured over {fabric}"
            yield (*where, name), what, "take it out, or add the layer mpi and a library"
        if name not in SWITCH_SETTINGS or section is None:
            continue
        if section.lab is None:
            what = f"{name} is a setting of the lab's switch, and {fabric} is no fabric of the lab"
            yield (*where, name), what, "take it out; switches of yours are not set by fabriscope"
        elif section.lab.preset == "local" and section.lab.model_fields_set <= _OF_BRIDGES and not plan.guests:
            what = f"{name} is a setting of the lab's switch, and {fabric} has none: it is a bridge of the kernel's"
            yield (*where, name), what, "choose another preset, or name a rate, a delay or a buffer"
        elif SWITCH_SETTINGS[name].needs_queues and not section.lab.model_fields_set & _QUEUE_KEYS:
            what = f"{name} is a setting of a switch with priorities, and that of {fabric} has none"
            yield (*where, name), what, f"give it some from the start, as lab: {{preset: {section.lab.preset}, pfc: 3}}"


def _of_settings(
    where: _Place, settings: Mapping[str, bool | int | str], fabrics: Sequence[FabricSection], knobs: Readers
) -> Iterator[Contradiction]:
    values: dict[str, str] = {}
    for knob, value in settings.items():
        place = (*where, knob)
        if knob not in knobs:
            yield place, f"there is no setting {shown(knob)}", nearest(knob, knobs, PAGE)
            continue
        try:
            values[knob] = text = knobs[knob](value)
        except ValueError as error:
            yield place, f"{knob}: {error}", f"{PAGE} has the values of each"
            continue
        for wrong in filter(None, (impossible(fabric, knob, text) for fabric in fabrics)):
            yield place, *wrong
    for wrong in filter(None, (pauses_without_buffer(fabric, values) for fabric in fabrics)):
        yield (*where, "switch_buffer"), *wrong


def impossible(fabric: FabricSection, knob: str, text: str) -> tuple[str, str] | None:
    """Return what is wrong with a value on a fabric's switch, and the fix; None where nothing is."""
    if knob == "mtu":
        return too_large_mtu(fabric, int(text))
    return too_small_buffer(fabric, int(text)) if knob == "switch_buffer" else None


def too_large_mtu(fabric: FabricSection, mtu_bytes: int) -> tuple[str, str] | None:
    """Return what is wrong with an MTU of hosts that their switch does not carry, and the fix; None where it does."""
    if fabric.lab is None or (most := fabric.lab.mtu or 1500) >= mtu_bytes:
        return None
    what = f"hosts with an MTU of {mtu_bytes} on a switch of the lab that carries {most}"
    return what, f"choose at most {most}, or write lab: {{preset: {fabric.lab.preset}, mtu: {mtu_bytes}}}"


def values_of(section: FabricSection | MpiSection, knobs: Readers) -> dict[str, str]:
    """Return what a fabric or a library sets, as hosts say it."""
    return {name: knobs[name](value) for name, value in section.settings.items()}
