"""The hosts of a plan that have a kernel of their own, and what is asked of them and cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import FORM, unfolded
from fabriscope.model.lab import RDMA_DRIVERS
from fabriscope.model.layers import LAYERS
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import GuestSection, PlanSection


def named(section: Mapping[str, GuestSection], hosts: tuple[str, ...]) -> dict[str, GuestSection]:
    """Return the guests with what is said of each, by the last line that names it; raises HostError."""
    found: dict[str, GuestSection] = {}
    for text, one in section.items():
        found |= dict.fromkeys(hosts if text == "all" else unfolded(text), one)
    return found


def contradictions(plan: PlanSection, hosts: tuple[str, ...]) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for guests, and for fabrics that speak verbs."""
    try:
        guests = frozenset(named(plan.guests, hosts))
    except HostError as error:
        yield ("guests",), error.what, f"{FORM}, or all"
        return
    unknown = sorted(guests - set(hosts))
    if unknown:
        yield ("guests",), f"{', '.join(unknown[:4])} is none of the plan's hosts", "name guests among the hosts too"
    in_lab = any(fabric.lab is not None for fabric in plan.fabrics.values())
    if guests and not in_lab:
        yield ("guests",), "guests are of the lab, and the plan has none of its fabrics", "leave them out"
    speaking = [name for name, fabric in plan.fabrics.items() if fabric.rdma]
    for name in speaking:
        fabric, place = plan.fabrics[name], ("fabrics", name, "rdma")
        if fabric.lab is not None and fabric.rdma not in RDMA_DRIVERS:
            yield place, f"the lab has no {fabric.rdma}", f"choose {' or '.join(RDMA_DRIVERS)}"
        elif fabric.lab is not None and guests != set(hosts):
            yield place, "in the lab, only guests speak verbs", "add `guests: all`"
    for layer, known in LAYERS.items():
        if known.needs_rdma and layer in plan.layers and not speaking:
            what = f"the layer {layer} needs a fabric that speaks {'it' if layer == 'verbs' else 'verbs'}"
            real = "roce` (Ethernet) or `rdma: ib` (InfiniBand)"
            yield ("layers",), what, f"add for example `rdma: {'soft-roce`' if in_lab else real} to one"
