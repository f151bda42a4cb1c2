"""RDMA devices and their ports, as far as the kernel lists any."""

from __future__ import annotations

from fabriscope.hosts.facts._reading import Group, Reading
from fabriscope.model.host import Fact

_DEVICES = "/sys/class/infiniband"
_PORT_FILES = ("state", "rate", "link_layer", "lid")


def _facts(reading: Reading) -> list[Fact]:
    devices = reading.names_under(_DEVICES)
    facts = [Fact("rdma.hcas", " ".join(devices)) if devices else Fact("rdma.hcas", None, f"{_DEVICES} lists none")]
    for device in devices:
        facts.append(reading.fact(f"rdma.{device}.firmware_version", f"{_DEVICES}/{device}/fw_ver"))
        for hca_port in reading.names_under(f"{_DEVICES}/{device}/ports"):
            head, folder = f"rdma.{device}.{hca_port}", f"{_DEVICES}/{device}/ports/{hca_port}"
            facts += [reading.fact(f"{head}.{name}", f"{folder}/{name}") for name in _PORT_FILES]
    return facts


FACTS = Group(
    "rdma",
    _facts,
    globs=(f"{_DEVICES}/*/fw_ver", *(f"{_DEVICES}/*/ports/*/{name}" for name in _PORT_FILES)),
)
