"""RDMA devices and their ports, as far as the kernel lists any: what ibv_devinfo tells, addresses, counters."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.hosts.rdma import DEVICES, GID_GLOBS, gids, link_netdevs
from fabriscope.model.host import Fact

_DEVICE_FILES = {
    "firmware_version": "fw_ver",
    "node_type": "node_type",
    "node_guid": "node_guid",
    "board_id": "board_id",
    "hca_type": "hca_type",
}
_PORT_FILES = ("state", "phys_state", "rate", "link_layer", "lid", "sm_lid")


def _facts(reading: Reading) -> list[Fact]:
    devices = reading.names_under(DEVICES)
    facts = [Fact("rdma.hcas", " ".join(devices)) if devices else Fact("rdma.hcas", None, f"{DEVICES} lists none")]
    for device in devices:
        facts += [
            reading.fact(f"rdma.{device}.{name}", f"{DEVICES}/{device}/{file}") for name, file in _DEVICE_FILES.items()
        ]
        for hca_port in reading.names_under(f"{DEVICES}/{device}/ports"):
            facts += _port_facts(reading, device, hca_port)
    return facts


def _port_facts(reading: Reading, device: str, hca_port: str) -> list[Fact]:
    head, folder = f"rdma.{device}.{hca_port}", f"{DEVICES}/{device}/ports/{hca_port}"
    facts = [reading.fact(f"{head}.{name}", f"{folder}/{name}") for name in _PORT_FILES]
    netdev = link_netdevs(reading).get((device, int(hca_port)))
    facts.append(Fact(f"{head}.interface", netdev, None if netdev else "`rdma link` names none"))
    for one in gids(reading, device, int(hca_port)):
        words = " ".join(part for part in (one.gid, one.type, one.address, one.interface) if part)
        facts.append(Fact(f"{head}.gid.{one.index}", words))
    counters = [path for path in reading.files if path.startswith(f"{folder}/hw_counters/")]
    facts += [
        reading.fact(f"{head}.counter.{path.rpartition('/')[2]}", path, int)
        for path in counters
        if not path.endswith("/lifespan")
    ]
    return facts


FACTS = Group(
    "rdma",
    _facts,
    globs=(
        *(f"{DEVICES}/*/{file}" for file in _DEVICE_FILES.values()),
        *(f"{DEVICES}/*/ports/*/{name}" for name in _PORT_FILES),
        f"{DEVICES}/*/ports/*/hw_counters/*",
        *GID_GLOBS,
    ),
    commands=(("rdma", "-j", "link", "show"),),
)
