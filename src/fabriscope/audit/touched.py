"""Which findings touch what a launch used: its hosts, and the interfaces and RDMA ports of its fabric there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.model.audit import Finding
from fabriscope.model.case import Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HostFacts

_OF_NETWORKS = ("tcp-", "arp-", "rp-", "same-subnet-", "ompi-", "nccl-", "tls-", "tclass-")
"""Checks of a whole host that say nothing of what stays inside it."""


def touching(
    entry: Entry, fabrics: Mapping[str, Fabric], hosts: Mapping[str, HostFacts], findings: Sequence[Finding]
) -> list[Finding]:
    """Return the findings that touch an entry, in their order."""
    fabric = fabrics.get(entry.fabric or "")
    used = dict.fromkeys(entry.hosts)
    return [one for one in findings if any(_touches(one, host, fabric, hosts.get(host)) for host in used)]


def _touches(one: Finding, host: str, fabric: Fabric | None, known: HostFacts | None) -> bool:
    if host not in one.hosts:
        return False
    part = one.path.removeprefix(f"{host} ").partition(" - ")[0]
    if not _is_port(part, known):
        return fabric is not None or not one.check.startswith(_OF_NETWORKS)
    if fabric is None:
        return False
    port = fabric.rdma_ports.get(host)
    return part in (fabric.interfaces.get(host), port.device if port is not None else None)


def _is_port(part: str, known: HostFacts | None) -> bool:
    """Return whether a finding's path names an interface or an RDMA device of a host."""
    heads = (f"interface.{part}.", f"rdma.{part}.", f"link.{part}.", f"pcie.{part}.")
    return part != "host" and known is not None and any(name.startswith(heads) for name in known.values)
