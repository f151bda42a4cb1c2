"""Which RDMA device, port and address of a host stand for an interface: a rule, and why it chose so.

Pure functions over what a host's files and programs said (`facts/rdma.py` names them), tested with recorded ones.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.hosts.facts import Reading
from fabriscope.model.errors import HostError, ParseError
from fabriscope.model.fabric import RdmaPort
from fabriscope.model.foreign import Foreign

DEVICES = "/sys/class/infiniband"
_FIRST_GIDS = ("[0-9]", "[1-3][0-9]")
"""Entries of a port's table of addresses that are read: the first 40. A table may have a thousand, nearly all empty."""
GID_GLOBS = tuple(
    f"{DEVICES}/*/ports/*/{folder}/{number}"
    for folder in ("gids", "gid_attrs/types", "gid_attrs/ndevs")
    for number in _FIRST_GIDS
)
_PORT = re.compile(r"[0-9]{1,3}")
_LINK = re.compile(
    r"(?:link|\d+/\d+:) (\w[\w.-]*)/([0-9]{1,3}):? (?:.* )?state \w+ physical_state \w+ netdev (\S{1,15})"
)
"""A line of `rdma link show`: `link mlx5_0/1 state ACTIVE ...`; before 2019 `1/1: mlx5_0/1: subnet_prefix ...`."""
_ROCE_V2 = "RoCE v2"
_IB_MTUS = (4096, 2048, 1024, 512, 256)
_ROCE_HEADERS_BYTES = 80
"""What the drivers leave for headers beside a packet's payload: IPv6 40, UDP 8, BTH 12, RETH 16, ICRC 4."""


@dataclass(frozen=True)
class Gid:
    """One entry of a port's table of addresses."""

    index: int
    gid: str
    type: str
    """`RoCE v2`, `IB/RoCE v1`; empty where the driver tells none."""
    interface: str
    """The network interface that it belongs to; empty where the driver tells none."""

    @property
    def address(self) -> str:
        """Return the IPv4 address that it stands for; empty for others."""
        mapped = ipaddress.IPv6Address(self.gid).ipv4_mapped
        return str(mapped) if mapped else ""

    @property
    def is_link_local(self) -> bool:
        """Return whether it is of the kind that every port has, made of its hardware address."""
        return ipaddress.IPv6Address(self.gid).is_link_local


def gids(reading: Reading, device: str, hca_port: int) -> list[Gid]:
    """Return the entries of a port's table that are set, of the first 40."""
    folder = f"{DEVICES}/{device}/ports/{hca_port}"
    found = []
    for index in range(40):
        gid = reading.files.get(f"{folder}/gids/{index}", "").strip()
        if not gid or not gid.replace(":", "").strip("0") or not _is_gid(gid):
            continue
        kind = reading.files.get(f"{folder}/gid_attrs/types/{index}", "").strip()
        interface = reading.files.get(f"{folder}/gid_attrs/ndevs/{index}", "").strip()
        found.append(Gid(index, gid, kind, interface))
    return found


def _is_gid(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def link_netdevs(reading: Reading) -> dict[tuple[str, int], str]:
    """Return device and port to network interface, as `rdma link` tells them; an old one has no JSON."""
    text, problem = reading.output("rdma -j link show")
    if problem:
        lines = reading.output("rdma link show")[0].split("\n")[:-1]
        told = (match for line in lines if (match := _LINK.fullmatch(line.strip())))
        return {(match[1], int(match[2])): match[3] for match in told}
    try:
        links = [one for one in Foreign.json(text or "[]", "rdma link").items() if "netdev" in one.mapping()]
        return {(one.at("ifname").text(), one.at("port").whole()): one.at("netdev").text() for one in links}
    except ParseError:
        return {}


def choose(reading: Reading, interface: str, transport: str, mtu_bytes: int | None = None) -> RdmaPort:
    """Return the end of a fabric on a host, for verbs over `interface` by `roce`, `iwarp` or `ib`.

    A port that is active goes before one that is not, then the first by name. Of a RoCE port's addresses: RoCE v2
    before v1, IPv4 before IPv6, link-local last, then the first. `mtu_bytes` is the interface's. Raises HostError.
    """
    ports = _ports(reading, interface, transport)
    if not ports:
        listed = ", ".join(reading.names_under(DEVICES)) or "none"
        fix = f"`fabriscope fabric up soft-roce --interface {interface}`" if transport == "roce" else None
        raise HostError(f"no RDMA device over {interface} speaks {transport} (devices: {listed})", fix=fix)
    device, hca_port = ports[0]
    others = f", of {len(ports)}" if len(ports) > 1 else ""
    why = f"{device} port {hca_port} is over {interface}{others}"
    if transport != "roce":
        first = next(iter(gids(reading, device, hca_port)), None)
        index = first.index if first and transport == "ib" else None
        return RdmaPort(device, hca_port, index, first.gid if first else "", chosen_because=why)
    table = [one for one in gids(reading, device, hca_port) if one.interface in ("", interface)]
    if not table:
        raise HostError(f"{device} has no address (GID) of {interface}", fix=f"give {interface} an IPv4 address")
    best = min(table, key=_rank)
    why += f"; GID {best.index} is {best.type or 'of unknown type'}, {best.address or best.gid}{_left_out(table, best)}"
    return RdmaPort(device, hca_port, best.index, best.gid, best.type, _payload_bytes(mtu_bytes), why)


def _rank(one: Gid) -> tuple[bool, bool, bool, int]:
    return (one.type != _ROCE_V2, not one.address, one.is_link_local, one.index)


def _left_out(table: Sequence[Gid], best: Gid) -> str:
    others = [f"{one.index} ({one.type}, {one.address or one.gid})" for one in table if one is not best]
    return f", preferred to {', '.join(others[:3])}" if others else ", the only one"


def _payload_bytes(mtu_bytes: int | None) -> int | None:
    """Return the payload of a RoCE packet that fits an interface's MTU: the largest of InfiniBand's five."""
    if mtu_bytes is None:
        return None
    return next((size for size in _IB_MTUS if size + _ROCE_HEADERS_BYTES <= mtu_bytes), None)


def _ports(reading: Reading, interface: str, transport: str) -> list[tuple[str, int]]:
    """Return devices and ports over an interface that speak the transport, active ones first."""
    named = link_netdevs(reading)
    found = []
    for device in reading.names_under(DEVICES):
        for name in reading.names_under(f"{DEVICES}/{device}/ports"):
            if not _PORT.fullmatch(name):
                continue
            hca_port = int(name)
            of_gids = {one.interface for one in gids(reading, device, hca_port)}
            is_over = interface in {named.get((device, hca_port)), *of_gids}
            if is_over and _transport(reading, device, hca_port) == transport:
                found.append((device, hca_port))
    return sorted(found, key=lambda one: (not _is_active(reading, *one), one))


def _transport(reading: Reading, device: str, hca_port: int) -> str:
    if "RNIC" in reading.files.get(f"{DEVICES}/{device}/node_type", ""):
        return "iwarp"
    layer = reading.files.get(f"{DEVICES}/{device}/ports/{hca_port}/link_layer", "").strip()
    return "ib" if layer == "InfiniBand" else "roce"


def _is_active(reading: Reading, device: str, hca_port: int) -> bool:
    return "ACTIVE" in reading.files.get(f"{DEVICES}/{device}/ports/{hca_port}/state", "")
