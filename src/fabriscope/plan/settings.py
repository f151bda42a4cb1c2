"""What a plan sets on hosts for the launches over a fabric, and what of it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fabriscope.model.errors import shown
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import FabricSection, PlanSection


def contradictions(plan: PlanSection, knobs: Mapping[str, Callable[[Any], str]]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for every setting that there is none of or that has no such value."""
    for name, fabric in plan.fabrics.items():
        for knob, value in fabric.settings.items():
            place = ("fabrics", name, "settings", knob)
            if knob not in knobs:
                yield place, f"there is no setting {shown(knob)}", nearest(knob, knobs)
                continue
            try:
                text = knobs[knob](value)
            except ValueError as error:
                yield place, f"{knob}: {error}", "docs/settings.md has the values of each"
                continue
            if knob == "mtu" and fabric.lab is not None and (most := fabric.lab.mtu or 1500) < int(text):
                what = f"hosts with an MTU of {text} on a switch of the lab that carries {most}"
                yield place, what, f"choose at most {most}, or write lab: {{preset: {fabric.lab.preset}, mtu: {text}}}"


def values_of(fabric: FabricSection, knobs: Mapping[str, Callable[[Any], str]]) -> dict[str, str]:
    """Return what a fabric sets, as hosts say it."""
    return {name: knobs[name](value) for name, value in fabric.settings.items()}
