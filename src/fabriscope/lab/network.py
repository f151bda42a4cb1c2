"""Interfaces, bridges and addresses, as scripts for `ip`; nothing here starts a process.

Every lab has a network namespace of its own, so that all labs use the same addresses:
fabric i is 10.(10 + i).0.0/16 on eth<i>, the management network 10.9.0.0/16 on mgmt0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from fabriscope.lab import faults, queues
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.switch_queues import SwitchQueues

MANAGEMENT_INTERFACE = "mgmt0"
MANAGEMENT_NET = 9
_KEEPER_INDEX = 16_000
"""The keeper's place in the management network, where it has one: beyond every host's."""
_OUTER_NETS = 128
"""Added to a network's number in the Ethernet address of a guest's cable: nobody is meant to answer there."""
_FIRST_FABRIC_NET = 10
_HOSTS_PER_OCTET = 250
_STATIC_NEIGHBOURS_UP_TO = 64
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_TAP_QUEUE_FRAMES = 10_000
"""Frames that a host may have sent and the switch not yet read; a full ring would drop them."""


@dataclass(frozen=True)
class Wiring:
    """One fabric of the lab and how its hosts are attached."""

    index: int
    name: str
    switch: SwitchSpec
    attachment: str
    """`bridge` (unshaped), `tap`, or `packet` (veth with a packet socket)."""

    @property
    def interface(self) -> str:
        """Return the interface's name on every host."""
        return f"eth{self.index}"

    def peer(self, host_index: int) -> str:
        """Return the name of the other end of a host's veth pair, in the keeper's namespace."""
        return f"f{self.index}h{host_index}"


def address(network: int, host_index: int) -> str:
    """Return the IPv4 address of a host in the network 10.`network`.0.0/16."""
    return f"10.{network}.{host_index // _HOSTS_PER_OCTET}.{host_index % _HOSTS_PER_OCTET + 1}"


def fabric_address(wiring: Wiring, host_index: int) -> str:
    """Return a host's address on a fabric."""
    return address(_FIRST_FABRIC_NET + wiring.index, host_index)


def management_address(host_index: int) -> str:
    """Return a host's address on the management network."""
    return address(MANAGEMENT_NET, host_index)


def hardware_address(network: int, host_index: int) -> str:
    """Return the Ethernet address of a host in a network (locally administered)."""
    return f"02:fa:b5:{network:02x}:{host_index >> 8:02x}:{host_index & 255:02x}"


def fabric_hardware_address(wiring: Wiring, host_index: int) -> str:
    """Return a host's Ethernet address on a fabric."""
    return hardware_address(_FIRST_FABRIC_NET + wiring.index, host_index)


def rdma_device(driver: str, wiring: Wiring) -> str:
    """Return the name of the RDMA device that a driver makes of a fabric's interface: `rxe0` of eth0."""
    return f"{driver}{wiring.index}"


def hosts_file(names: Sequence[str], fabrics: Sequence[str] = ()) -> str:
    """Return the lab's /etc/hosts: `node2` is a management address, `node2-gige` the one on the fabric gige.

    A fabric whose name no host's can hold has none, and a host's own name is its own.
    """
    lines = ["127.0.0.1 localhost"]
    lines += [f"{management_address(index)} {name}" for index, name in enumerate(names)]
    for number, fabric in enumerate(fabrics):
        every = [(index, f"{name}-{fabric}") for index, name in enumerate(names)] if _NAME.fullmatch(fabric) else []
        lines += [f"{address(_FIRST_FABRIC_NET + number, index)} {name}" for index, name in every if name not in names]
    return "\n".join(lines) + "\n"


def keeper_script(
    wirings: Sequence[Wiring], host_pids: Sequence[int], guest_indices: frozenset[int] = frozenset()
) -> str:
    """Return the batch for `ip` in the keeper's namespace: bridges, and veth pairs into the hosts."""
    return "\n".join(_keeper_lines(wirings, host_pids, guest_indices)) + "\n"


def _keeper_lines(wirings: Sequence[Wiring], host_pids: Sequence[int], guest_indices: frozenset[int]) -> Iterator[str]:
    yield "link set lo up"
    bridges = [("mgmt", MANAGEMENT_INTERFACE, "mg", MANAGEMENT_NET, 1500)]
    bridges += [
        (f"br{one.index}", one.interface, f"f{one.index}", _FIRST_FABRIC_NET + one.index, one.switch.mtu_bytes)
        for one in wirings
        if one.attachment == "bridge"
    ]
    for bridge, interface, prefix, network, mtu_bytes in bridges:
        yield f"link add {bridge} mtu {mtu_bytes} type bridge"
        yield f"link set {bridge} up"
        for index, pid in enumerate(host_pids):
            own = hardware_address(network + (_OUTER_NETS if index in guest_indices else 0), index)
            yield from _pair(f"{prefix}h{index}", interface, pid, own, mtu_bytes)
            yield f"link set {prefix}h{index} master {bridge}"
    if guest_indices:
        yield f"address add {management_address(_KEEPER_INDEX)}/16 dev mgmt"
    for one in wirings:
        if one.attachment != "packet":
            continue
        for index, pid in enumerate(host_pids):
            network = _FIRST_FABRIC_NET + one.index
            own = hardware_address(network + (_OUTER_NETS if index in guest_indices else 0), index)
            yield from _pair(one.peer(index), one.interface, pid, own, one.switch.mtu_bytes)


def _pair(peer: str, interface: str, pid: int, hardware: str, mtu_bytes: int) -> Iterator[str]:
    other = f"peer name {interface} address {hardware} mtu {mtu_bytes} netns {pid}"
    yield f"link add {peer} mtu {mtu_bytes} type veth {other}"
    yield f"link set {peer} up"


def host_script(wirings: Sequence[Wiring], host_index: int, host_count: int) -> str:
    """Return the batch for `ip` in a host's namespace: addresses, and who the neighbours are."""
    lines = [
        f"address add {management_address(host_index)}/16 dev {MANAGEMENT_INTERFACE}",
        f"link set {MANAGEMENT_INTERFACE} up",
    ]
    for one in wirings:
        lines.append(f"address add {fabric_address(one, host_index)}/16 dev {one.interface}")
        queue = f" txqueuelen {_TAP_QUEUE_FRAMES}" if one.attachment == "tap" else ""
        lines.append(f"link set {one.interface} mtu {one.switch.mtu_bytes}{queue} up")
    if host_count <= _STATIC_NEIGHBOURS_UP_TO:
        lines += _neighbours(wirings, host_index, host_count)
    return "\n".join(lines) + "\n"


def _neighbours(wirings: Sequence[Wiring], host_index: int, host_count: int) -> Iterator[str]:
    """Yield permanent neighbours, so that no measurement ever waits for an address resolution."""
    networks = [(MANAGEMENT_INTERFACE, MANAGEMENT_NET)]
    networks += [(one.interface, _FIRST_FABRIC_NET + one.index) for one in wirings]
    for interface, network in networks:
        for other in range(host_count):
            if other != host_index:
                hardware = hardware_address(network, other)
                yield f"neighbour add {address(network, other)} lladdr {hardware} dev {interface} nud permanent"


def switch_arguments(wirings: Sequence[Wiring], names: Sequence[str], host_pids: Sequence[int]) -> list[str]:
    """Return the arguments of fabriscope-switch for all shaped fabrics; empty when there is none."""
    words: list[str] = []
    for one in (wiring for wiring in wirings if wiring.attachment != "bridge"):
        spec = one.switch
        words += [
            "--fabric",
            f"name={one.name},rate={spec.rate_bits_per_s},delay={spec.delay_ns},buffer={spec.buffer_bytes},"
            f"coalesce_ns={spec.rx_coalesce_ns},coalesce_frames={spec.rx_coalesce_frames},"
            f"seed={spec.fault_seed},{faults.switch_words(asdict(spec))}{_queue_words(spec.queues)}",
        ]
        behind = queues.behind_second(spec.queues)
        for index, (name, pid) in enumerate(zip(names, host_pids, strict=True)):
            port = f"fabric={one.name},host={name},netns=/proc/{pid}/ns/net,device={one.interface}"
            if one.attachment == "tap":
                port += f",address={hardware_address(_FIRST_FABRIC_NET + one.index, index)}"
            else:
                port += f",kind=packet,peer={one.peer(index)}"
            port += ",switch=2" if name in behind else ""
            words += ["--port", port]
    return words


def _queue_words(asked: SwitchQueues) -> str:
    """Return what a switch with priorities is told, behind a comma; nothing for one without."""
    return f",{queues.switch_words(asdict(asked))}" if asked.has_queues else ""
