"""The hosts' ends of fabrics that speak verbs, found once the hosts stand."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fabriscope.hosts import facts, rdma
from fabriscope.hosts.facts import Reading
from fabriscope.hosts.facts import rdma as rdma_facts
from fabriscope.model.errors import FabriscopeError, HostError
from fabriscope.model.fabric import RDMA_TRANSPORTS, Fabric
from fabriscope.model.host import Host

_MAX_AT_ONCE = 16


def found(fabrics: Mapping[str, Fabric], hosts: Mapping[str, Host]) -> dict[str, Fabric]:
    """Return the fabrics, those that speak verbs with the port of every host. Raises HostError where one has none."""
    speaking = [fabric for fabric in fabrics.values() if fabric.transport in RDMA_TRANSPORTS]
    if not speaking:
        return dict(fabrics)
    with ThreadPoolExecutor(_MAX_AT_ONCE) as pool:
        readings = dict(zip(hosts, pool.map(_read, hosts.values()), strict=True))
    with_ports = {}
    for fabric in speaking:
        ports = {}
        for name, interface in fabric.interfaces.items():
            try:
                ports[name] = rdma.choose(readings[name], interface, fabric.transport, fabric.mtu_bytes)
            except HostError as error:
                raise HostError(error.what, where=f"host {name}, fabric {fabric.name}", fix=error.fix) from error
        with_ports[fabric.name] = replace(fabric, rdma_ports=ports)
    return {**fabrics, **with_ports}


def _read(host: Host) -> Reading:
    try:
        return facts.read(host, [rdma_facts.FACTS])
    except FabriscopeError as error:
        raise HostError(f"its RDMA devices cannot be read: {error.what}", where=f"host {host.name}") from error
