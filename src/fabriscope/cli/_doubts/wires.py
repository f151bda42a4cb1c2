"""What a plan says of real networks that is hardly meant: names that are none of an interface, and what they speak."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model.counting import listed

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.plan import Plan
    from fabriscope.plan.schema import FabricSection

LOOPBACK = "lo"
MOST_LINE_RATE_BITS_PER_S = 2 * 10**12
"""More than a port has today: 1.6 Tb/s Ethernet."""
LEAST_LINE_RATE_BITS_PER_S = 10**6
SMALL_LINE_RATE_BITS_PER_S = 100 * 10**6
"""Less is hardly a network that is measured: `10m` was written for 10Gb/s, or means minutes."""
_DEVICE = re.compile(r"(mlx[45]_|rxe|siw|hfi1_|irdma|bnxt_re|qedr|cxgb4_)\d*(:\d+)?|rocep\w+(:\d+)?")
"""Names of RDMA devices, of drivers that call them by a number."""
_OF_ETHERNET = "lossless_priority"
_STREAMS = "many_to_one"


def doubts(plan: Plan) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    for name, fabric in plan.section.fabrics.items():
        if fabric.lab is None:
            yield from _of_names(plan, name, fabric)
            yield from _of_rates(name, fabric)
        if fabric.rdma == "ib" and _OF_ETHERNET in fabric.model_fields_set:
            what = f"{name}: {_OF_ETHERNET} does nothing: priorities that are paused (PFC) are of Ethernet"
            yield ("fabrics", name, _OF_ETHERNET), f"{what}, and rdma: ib is InfiniBand; leave it out"
    yield from _of_streams(plan)


def _interfaces(fabric: FabricSection) -> list[str]:
    given = fabric.interface
    return list(dict.fromkeys(given.values())) if isinstance(given, dict) else [given] if given else []


def _of_names(plan: Plan, name: str, fabric: FabricSection) -> Iterator[Doubt]:
    """Yield devices where the network's interface belongs, and what one is said to speak that it hardly does."""
    place = ("fabrics", name, "interface")
    for interface in _interfaces(fabric):
        if _DEVICE.fullmatch(interface):
            what = f"{name}: {interface} is the name of an RDMA device"
            fix = "write its network interface, such as ib0 or eth0 (`rdma link` shows both); the device is found by it"
            yield place, f"{what}; {fix}"
        elif interface == LOOPBACK and len(plan.hosts) > 1 and "inter" in plan.section.placements:
            what = f"{name}: {LOOPBACK} carries nothing between hosts"
            yield place, f"{what}; write the network's interface, such as eth0"
        elif fabric.rdma == "roce" and re.fullmatch(r"ib\w+", interface):
            what = f"{name}: {interface} is how an interface of InfiniBand is called, and RoCE is RDMA over Ethernet"
            yield ("fabrics", name, "rdma"), f"{what}; write `rdma: ib`, or an Ethernet interface"
        elif fabric.rdma == "ib" and re.fullmatch(r"(eth|en)\w+", interface):
            what = f"{name}: {interface} is how an interface of Ethernet is called, whose RDMA is RoCE"
            yield ("fabrics", name, "rdma"), f"{what}; write `rdma: roce`, or an interface such as ib0"


def _of_rates(name: str, fabric: FabricSection) -> Iterator[Doubt]:
    """Yield line rates that no port of today has."""
    rate = fabric.line_rate or 0
    if rate > MOST_LINE_RATE_BITS_PER_S:
        what = f"{name}: a line_rate of {rate / 1e12:g} Tb/s is more than a port has; write for example 100Gb/s"
        yield ("fabrics", name, "line_rate"), what
    elif LEAST_LINE_RATE_BITS_PER_S <= rate < SMALL_LINE_RATE_BITS_PER_S:
        what = f"{name}: a line_rate of {rate / 1e6:g} Mb/s is less than a network of today has"
        yield ("fabrics", name, "line_rate"), f"{what}; write for example 10Gb/s"


def _of_streams(plan: Plan) -> Iterator[Doubt]:
    """Yield that nobody says what the wire allows streams that share it, without which their state is not known."""
    without = [name for name, one in plan.section.fabrics.items() if one.lab is None and one.line_rate is None]
    if _STREAMS in plan.section.benchmarks and without:
        what = f"{_STREAMS}: nobody says what the wire of {listed(without[:4])} allows, so that its state is undecided"
        yield ("fabrics", without[0]), f"{what}; add for example `line_rate: 10Gb/s`"
