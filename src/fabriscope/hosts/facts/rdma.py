"""RDMA devices and their ports, as far as the kernel lists any: what ibv_devinfo tells, addresses, counters."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group, key_values, looked_up
from fabriscope.hosts.rdma import DEVICES, GID_GLOBS, Gid, gids, link_netdevs
from fabriscope.model.host import Fact

_DEVICE_FILES = {
    "firmware_version": "fw_ver",
    "node_type": "node_type",
    "node_guid": "node_guid",
    "board_id": "board_id",
    "hca_type": "hca_type",
}
_CONFIGFS = "/sys/kernel/config/rdma_cm"
_OF_MANAGER = {"default_roce_mode": "cma_mode", "default_roce_tos": "cma_traffic_class"}
"""Files of the kernel's connection manager, to the facts that they are."""
_MODULES = {"nvidia": "/sys/module/nvidia/initstate", "peer": "/sys/module/nvidia_peermem/initstate"}
_PORT_FILES = ("state", "phys_state", "rate", "link_layer", "lid", "sm_lid")


def _facts(reading: Reading) -> list[Fact]:
    devices = reading.names_under(DEVICES)
    facts = [Fact("rdma.hcas", " ".join(devices)) if devices else Fact("rdma.hcas", None, f"{DEVICES} lists none")]
    if devices and _MODULES["nvidia"] in reading.files:
        facts.append(Fact("rdma.gpu_peers", "nvidia_peermem" if _MODULES["peer"] in reading.files else "none"))
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
    facts += _mtus(reading, device, hca_port)
    facts.append(reading.fact(f"{head}.traffic_class", f"{DEVICES}/{device}/tc/{hca_port}/traffic_class", _class))
    facts += _manager(reading, device, hca_port)
    netdev = link_netdevs(reading).get((device, int(hca_port)))
    facts.append(Fact(f"{head}.interface", netdev, None if netdev else "`rdma link` names none"))
    table = gids(reading, device, int(hca_port))
    if table and reading.files.get(f"{folder}/link_layer", "").strip() == "Ethernet":
        facts.append(Fact(f"{head}.gid_kinds", ", ".join(sorted({_kind(one) for one in table}))))
        facts += [Fact(f"{head}.gid_kind.{one.index}", _kind(one)) for one in table]
    for one in table:
        words = " ".join(part for part in (one.gid, one.type, one.address, one.interface) if part)
        facts.append(Fact(f"{head}.gid.{one.index}", words))
    counters = [path for path in reading.files if path.startswith(f"{folder}/hw_counters/")]
    facts += [
        reading.fact(f"{head}.counter.{path.rpartition('/')[2]}", path, int)
        for path in counters
        if not path.endswith("/lifespan")
    ]
    return facts


def _manager(reading: Reading, device: str, hca_port: str) -> list[Fact]:
    """Return how the connection manager makes connections, where somebody has made its folder: that is no look."""
    folder, head = f"{_CONFIGFS}/{device}/ports/{hca_port}", f"rdma.{device}.{hca_port}"
    there = {fact: f"{folder}/{file}" for file, fact in _OF_MANAGER.items() if f"{folder}/{file}" in reading.files}
    return [reading.fact(f"{head}.{fact}", path, str if fact == "cma_mode" else int) for fact, path in there.items()]


def _kind(gid: Gid) -> str:
    """Return what an index of the table stands for, whatever its address: `RoCE v2 IPv4`."""
    family = "IPv4" if gid.address else "link-local" if gid.is_link_local else "IPv6"
    return f"{gid.type or 'unknown type'} {family}"


def _mtus(reading: Reading, device: str, hca_port: str) -> list[Fact]:
    """Return the payload of a packet as ibv_devinfo tells it: sysfs does not."""
    text, problem = reading.output("ibv_devinfo")
    of_device = re.search(rf"hca_id:\s*{re.escape(device)}\n(.*?)(?=hca_id:|\Z)", text, re.DOTALL)
    of_port = re.search(rf"port:\s*{hca_port}\n(.*?)(?=\sport:|\Z)", of_device[1] if of_device else "", re.DOTALL)
    pairs = key_values(of_port[1] if of_port else "")
    why = problem or f"ibv_devinfo tells nothing of port {hca_port}"
    return [
        looked_up(name, pairs, key, lambda text: int(text.split()[0])) if of_port else Fact(name, None, why)
        for key, name in (
            ("active_mtu", f"rdma.{device}.{hca_port}.active_mtu_bytes"),
            ("max_mtu", f"rdma.{device}.{hca_port}.max_mtu_bytes"),
        )
    ]


def _class(text: str) -> int:
    """Return the traffic class (ToS) from `Global tclass=106`; an empty file means that none is forced."""
    return int(text.rpartition("tclass=")[2]) if "tclass=" in text else 0


FACTS = Group(
    "rdma",
    _facts,
    globs=(
        *(f"{DEVICES}/*/{file}" for file in _DEVICE_FILES.values()),
        *(f"{DEVICES}/*/ports/*/{name}" for name in _PORT_FILES),
        f"{DEVICES}/*/ports/*/hw_counters/*",
        f"{DEVICES}/*/tc/*/traffic_class",
        *(f"{_CONFIGFS}/*/ports/*/{file}" for file in _OF_MANAGER),
        *_MODULES.values(),
        *GID_GLOBS,
    ),
    commands=(("rdma", "-j", "link", "show"), ("rdma", "link", "show"), ("ibv_devinfo",)),
)
