"""What a plan asks of hosts and switches, so that what is set can be held against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.audit.place import Place
from fabriscope.model.fabric import Fabric


@dataclass(frozen=True)
class Intent:
    """What is meant for a fabric."""

    fabric: str
    interfaces: Mapping[str, str]
    """Host to its interface."""
    transport: str
    """`tcp`, `roce`, `iwarp` or `ib`."""
    dscp: int | None = None
    """That its RDMA traffic is marked with; None where the plan marks nothing."""
    priority: int | None = None
    """That is to lose nothing; None where the plan does not say."""


def intents_of(fabrics: Mapping[str, Fabric]) -> list[Intent]:
    """Return what fabrics of real hosts ask for, those that differ in settings alone left out."""
    return [
        Intent(
            one.name,
            one.interfaces,
            one.transport,
            one.traffic_class >> 2 or None,
            one.lossless_priority,
        )
        for one in fabrics.values()
        if not one.instead_of and not one.tries
    ]


def of_rdma(intents: Sequence[Intent], *transports: str) -> Iterator[tuple[Intent, str, str]]:
    """Yield intent, host and interface of what is to speak RDMA by one of these transports."""
    for intent in intents:
        if intent.transport in transports:
            yield from ((intent, host, interface) for host, interface in intent.interfaces.items())


def ports_of(place: Place, interface: str) -> list[str]:
    """Return the RDMA ports behind an interface, as `mlx5_0.1`."""
    return [
        name.removeprefix("rdma.").removesuffix(".interface")
        for name, value in place.known.values.items()
        if name.startswith("rdma.") and name.endswith(".interface") and value == interface
    ]
