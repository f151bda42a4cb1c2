"""What a plan asks of its fabrics and cannot have; what a lab cannot be is checked where its switches are known."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import FabricSection, LabFabricSection, PlanSection


def contradictions(plan: PlanSection, hosts: tuple[str, ...]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for every fabric that is none, or that nothing can be measured over."""
    in_lab = [name for name, fabric in plan.fabrics.items() if fabric.lab is not None]
    for name, fabric in plan.fabrics.items():
        for key, what, fix in (*_of_kind(name, fabric, in_lab), *_of_interfaces(name, fabric, hosts)):
            yield ("fabrics", name, *key), what, fix
        if fabric.lab is not None:
            for what, fix in _of_lab(fabric.lab, plan):
                yield ("fabrics", name, "lab"), f"fabric {name!r}: {what}", fix


def _of_kind(name: str, fabric: FabricSection, in_lab: list[str]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    if fabric.lab is not None and fabric.interface is not None:
        fix = "keep lab for an emulated switch, interface for a real one"
        yield (), f"fabric {name!r} has both lab and interface", fix
    elif fabric.lab is None and in_lab:
        what = f"fabric {name!r} is real and {in_lab[0]!r} is of the lab"
        yield (), what, "use either the lab or real hosts in one plan"
    elif fabric.lab is None and fabric.interface is None:
        yield (), f"fabric {name!r} says neither lab nor interface", "add `lab: gige`, or `interface: eth0`"
    if fabric.lab is not None and fabric.line_rate is not None:
        yield ("line_rate",), "line_rate is of a real interface", "write `lab: {preset: ..., rate: ...}`"


def _of_interfaces(
    name: str, fabric: FabricSection, hosts: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    if not isinstance(fabric.interface, dict):
        return
    missing = [host for host in hosts if host not in fabric.interface]
    if missing:
        yield ("interface",), f"fabric {name!r} has no interface for {', '.join(missing[:4])}", "add it"


def _of_lab(lab: LabFabricSection, plan: PlanSection) -> Iterator[tuple[str, str]]:
    """Yield why no message could arrive over an emulated switch."""
    if lab.loss == 1 or lab.drop_every == 1:
        key = "loss: 100%" if lab.loss == 1 else "drop_every: 1"
        yield f"{key} loses every frame, and nothing can be measured", "write for example `loss: 1%`"
    late_ns = (lab.delay or 0) + (lab.rx_coalesce_time or 0)
    if late_ns >= plan.case_timeout:
        what = f"a frame takes {late_ns / 1e9:g} s, and after {plan.case_timeout / 1e9:g} s a case has failed"
        yield what, "choose a shorter delay and rx_coalesce_time, or a longer case_timeout"
