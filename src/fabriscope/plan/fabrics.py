"""What a plan asks of its fabrics and cannot have; what a lab cannot be is checked where its switches are known."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.model.errors import HostError, shown
from fabriscope.model.host_lists import unfolded
from fabriscope.plan.lab_schema import LabFabricSection
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import FabricSection, PlanSection

LEAST_FRAME_BITS = 84 * 8
"""On a wire: padding, preamble, check sequence and gap included (docs/lab.md)."""

_KINDS = {"lab": "gige", "interface": "eth0"}
_SUCH = {"delay": "200us", "rx_coalesce_time": "80us", "rate": "1Gb/s"}


def contradictions(plan: PlanSection, hosts: tuple[str, ...], faults: frozenset[str]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for every fabric that is none, or that nothing can be measured over."""
    in_lab = [name for name, fabric in plan.fabrics.items() if fabric.lab is not None]
    for name, fabric in plan.fabrics.items():
        for below, what, fix in (*_of_kind(name, fabric, in_lab), *_of_interfaces(name, fabric, hosts)):
            yield ("fabrics", name, *below), what, fix
        if fabric.lab is not None:
            for fault, what, fix in _of_faults(fabric.lab, hosts, faults):
                yield ("fabrics", name, "lab", "broken", fault), what, fix
            for key, what, fix in _of_lab(fabric.lab, plan):
                yield ("fabrics", name, "lab", key), f"fabric {name!r}: {what}", fix


def _of_kind(name: str, fabric: FabricSection, in_lab: list[str]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    empty = [key for key in ("lab", "interface") if key in fabric.model_fields_set and getattr(fabric, key) is None]
    for key in empty:
        yield (key,), f"fabric {name!r}: nothing stands behind {key}", f"write for example `{key}: {_KINDS[key]}`"
    if empty:
        return
    if fabric.lab is not None and fabric.interface is not None:
        fix = "keep lab for an emulated switch, interface for a real one"
        yield (), f"fabric {name!r} has both lab and interface", fix
    elif fabric.lab is None and fabric.interface is None:
        yield (), f"fabric {name!r} says neither lab nor interface", "add `lab: gige`, or `interface: eth0`"
    elif fabric.lab is None and in_lab:
        what = f"fabric {name!r} is real and {in_lab[0]!r} is of the lab"
        yield (), what, "use either the lab or real hosts in one plan"
    if fabric.lab is not None and fabric.line_rate is not None:
        yield ("line_rate",), "line_rate is of a real interface", "write `lab: {preset: ..., rate: ...}`"
    elif fabric.line_rate == 0:
        yield ("line_rate",), "a line_rate of 0 allows nothing", "write what the wire has, as 25Gb/s, or leave it out"


def _of_interfaces(
    name: str, fabric: FabricSection, hosts: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    if not isinstance(fabric.interface, dict):
        return
    missing = [host for host in hosts if host not in fabric.interface]
    if missing:
        is_list = any("[" in name or "," in name for name in fabric.interface)
        fix = "write one line for each host: lists of hosts are not unfolded here" if is_list else "add it"
        yield ("interface",), f"fabric {name!r} has no interface for {', '.join(missing[:4])}", fix


def _of_faults(lab: LabFabricSection, hosts: tuple[str, ...], faults: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    for fault, befallen in lab.broken.items():
        if fault not in faults:
            yield fault, f"there is no fault {shown(fault)}", nearest(fault, faults)
        try:
            strangers = sorted(set(unfolded(befallen)) - set(hosts))
        except HostError as error:
            yield fault, error.what, error.fix or "write for example node2"
            continue
        if strangers:
            yield fault, f"the fault {fault} befalls {', '.join(strangers)}, no host of this plan", "name its hosts"


def _of_lab(lab: LabFabricSection, plan: PlanSection) -> Iterator[tuple[str, str, str]]:
    """Yield key, what is wrong, and the fix, where no message could arrive over an emulated switch."""
    if lab.loss == 1:
        yield "loss", "loss: 100% loses every frame, and nothing can be measured", "write for example `loss: 1%`"
    if lab.drop_every == 1:
        yield "drop_every", "drop_every: 1 loses every frame, and nothing can be measured", "choose 2 or more"
    late = {"delay": lab.delay or 0, "rx_coalesce_time": lab.rx_coalesce_time or 0}
    late["rate"] = LEAST_FRAME_BITS * 2 * 10**9 // lab.rate if lab.rate else 0
    if 2 * sum(late.values()) >= plan.case_timeout:
        key = max(late, key=lambda name: late[name])
        what = f"there and back takes {2 * sum(late.values()) / 1e9:g} s at least, and a case fails after"
        what += f" {plan.case_timeout / 1e9:g} s"
        unit = "; a number without a unit is in seconds" if key != "rate" else ""
        yield key, what, f"choose another {key}, such as {_SUCH[key]}, or a longer case_timeout{unit}"
