"""What keys of a plan say together that is possible and hardly meant: what has no effect, or stops a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.cli import _plan_switch_oddities
from fabriscope.model.counting import counted, listed

if TYPE_CHECKING:
    from fabriscope.model.lab import SwitchSpec
    from fabriscope.plan import Plan

LONG_DELAY_NS = 100_000_000
"""From host to host: no two places on earth are farther apart on a cable."""
LEAST_FRAMES_TO_A_LOSS = 100


def oddities(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each."""
    from fabriscope.cli._plan_words import switches

    for name, switch in switches(plan).items():
        yield from _of_switch(name, switch)
    yield from _plan_switch_oddities.oddities(plan)
    yield from _of_interfaces(plan)
    speaks_verbs = any(fabric.rdma for fabric in plan.section.fabrics.values())
    for name, fabric in plan.section.fabrics.items():
        if fabric.service_level and not speaks_verbs:
            yield f"{name}: service_level is of what verbs send, and no fabric has `rdma`; leave it out"


def _of_switch(name: str, switch: SwitchSpec) -> Iterator[str]:
    if switch.delay_ns >= LONG_DELAY_NS:
        delay = f"{switch.delay_ns / 1e9:g} s"
        yield f"{name}: a delay of {delay} from host to host; a number without a unit is in seconds"
    if 0 < switch.drop_every < LEAST_FRAMES_TO_A_LOSS:
        yield f"{name}: one frame in {switch.drop_every} is lost, so that TCP mostly waits for time-outs"


def _of_interfaces(plan: Plan) -> Iterator[str]:
    """Yield hosts that are none of the plan's, and fabrics between which nothing differs."""
    alike: dict[str, list[str]] = {}
    for name, fabric in plan.section.fabrics.items():
        if isinstance(fabric.interface, dict):
            strangers = [host for host in fabric.interface if host not in plan.hosts]
            if strangers:
                few = counted(len(strangers), "host")
                yield f"{name}: interface names {few} that the plan has not: {listed(strangers[:4])}"
        alike.setdefault(fabric.model_dump_json(), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            yield f"nothing differs between {listed(names)}: the same network is compared with itself"
