"""Traffic classes of a plan that no switch of its lab looks at, and priorities that nothing is sent with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model.benchmarks import kind_of
from fabriscope.model.layers import layer_of

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.model.switch_queues import SwitchQueues
    from fabriscope.plan import Plan
    from fabriscope.plan.schema import FabricSection

_KEY, _OF_VICTIMS = "traffic_class", "victim_traffic_class"


def doubts(plan: Plan) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    from fabriscope.running.switches import variants

    queues: dict[str, list[SwitchQueues]] = {}
    for variant in variants(plan):
        queues.setdefault(variant.fabric, []).append(variant.spec.queues)
    victims = {
        name: section.victim_traffic_class
        for name, section in plan.section.benchmarks.items()
        if section.victim_traffic_class is not None
    }
    for fabric, of_switch in queues.items():
        yield from _of_fabric(plan, fabric, of_switch, set(victims.values()))
    if len(queues) == len(plan.section.fabrics):
        yield from (doubt for name, one in victims.items() for doubt in _of_victim(plan, name, one, queues))


def _of_fabric(plan: Plan, name: str, every: list[SwitchQueues], victims: set[int]) -> Iterator[Doubt]:
    fabric = plan.section.fabrics[name]
    place, does_nothing = ("fabrics", name, _KEY), f"{name}: {_KEY} does nothing"
    if fabric.traffic_class and not any(one.has_queues for one in every):
        yield (
            place,
            f"{does_nothing}: its switch has one queue for all priorities; {_fix(fabric, fabric.traffic_class)}",
        )
    elif fabric.traffic_class and not _is_sent(plan, fabric):
        what = f"{does_nothing}: nothing measured over it sends a class; TCP by itself and RDMA do"
        yield place, f"{what}; add the layer tcp, or leave it out"
    elif fabric.traffic_class and not (any(one.pfc for one in every) or victims - {fabric.traffic_class}):
        what = f"{does_nothing}: all that crosses it has one priority, which is not paused"
        yield place, f"{what}; {_fix(fabric, fabric.traffic_class)}"
    built = every[0]
    sent = {fabric.traffic_class if _is_sent(plan, fabric) else 0} | victims
    priorities = {_priority(built, one) for one in (*sent, *([] if _all_send(plan, fabric) else [0]))}
    paused = {int(one) for one in built.pfc.split("/") if one}
    if paused and not paused & priorities:
        what = f"{name}: pfc pauses nothing that is measured: what crosses it has the priority {min(priorities)}"
        fix = f"`{_KEY}: {min(paused) << 5}` beside `lab`, or " if _is_sent(plan, fabric) else ""
        yield ("fabrics", name, "lab", "pfc"), f"{what}; write {fix}`pfc: {min(priorities)}`"


def _fix(fabric: FabricSection, traffic_class: int) -> str:
    preset = fabric.lab.preset if fabric.lab is not None else "gige"
    return f"write `lab: {{preset: {preset}, pfc: {traffic_class >> 5}}}`, or leave it out"


def _priority(queues: SwitchQueues, traffic_class: int) -> int:
    """Return the priority of a class in a switch: as its table of DSCPs says, else the upper three bits."""
    dscp = traffic_class >> 2
    table = dict(pair.split(":") for pair in queues.dscp.split("/") if pair)
    return int(table.get(str(dscp), dscp >> 3))


def _sends(layer: str, fabric: FabricSection) -> bool:
    """Return whether a layer sends a fabric's traffic class: our TCP does, and what speaks RDMA."""
    one = layer_of(layer)
    return one.transport == "tcp" or one.carried_by("roce" if fabric.rdma else "tcp", is_inter=True) != "tcp"


def _layers(plan: Plan, fabric: FabricSection) -> set[str]:
    return set(fabric.layers or plan.section.layers) & set(plan.section.layers) - {"shm"}


def _is_sent(plan: Plan, fabric: FabricSection) -> bool:
    return any(_sends(layer, fabric) for layer in _layers(plan, fabric))


def _all_send(plan: Plan, fabric: FabricSection) -> bool:
    return all(_sends(layer, fabric) for layer in _layers(plan, fabric))


def _of_victim(plan: Plan, name: str, victim: int, queues: dict[str, list[SwitchQueues]]) -> Iterator[Doubt]:
    """Yield that a victim's class keeps it in the queue of the incast beside it, over every fabric."""
    place, does_nothing = ("benchmarks", name, _OF_VICTIMS), f"{name}: {_OF_VICTIMS} does nothing"
    several = {fabric: every for fabric, every in queues.items() if any(one.has_queues for one in every)}
    if not several:
        first = plan.section.fabrics[min(queues)]
        yield place, f"{does_nothing}: no switch here has priorities; {_fix(first, victim)}"
        return
    alike = {
        fabric: _priority(every[0], victim)
        for fabric, every in several.items()
        if _priority(every[0], victim) == _priority(every[0], plan.section.fabrics[fabric].traffic_class)
    }
    if len(alike) == len(several) and kind_of(name).has_size:
        priority = min(alike.values())
        what = f"{does_nothing}: the incast beside it has the priority {priority}, too"
        yield place, f"{what}; write for example {(priority + 1) % 8 << 5}"
