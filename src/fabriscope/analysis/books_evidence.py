"""What the watches of a job's hosts hold for and against the fabric that was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from fabriscope.analysis.books_flows import (
    LOOPBACK,
    OTHERS,
    RANKS,
    UNCLEAR,
    Transfer,
    flows_of,
    hosts_by_address,
    rerouted,
    transfers_of,
)
from fabriscope.analysis.books_wire import (
    LEAST_COUNTED_BYTES,
    TCP_BYTES,
    TIME_STAMP_BYTES,
    UDP_BYTES,
    Line,
    Meter,
    Port,
    disturbances,
    lines_of,
    routes_of,
    without_ip,
)
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import BESIDE, CHANNEL, RANK, Carrier, Expectation, Ownerless, Process, Watch
from fabriscope.model.fabric import RDMA_TRANSPORTS

MEMORY = "shared memory"
LEAST_PORT_BYTES = 4_096
OWNERLESS_SHARE = 0.02
"""More of an interface's bytes than this without an owner leave it open what the job sent there."""
"""A port that moved less did nothing but its own management; where the payload is known, its 2 % are the limit."""
WIRE_UP_STORE = re.compile(r"/(?:pmix_dstor_(?:ds\d+_)?\d+/[^/]+|pmix-gds-shmem2?\.[^/]+)$")
"""What PMIx shares with ranks to tell them addresses, by the names that it creates: no message goes through it."""
VERBS_DEVICES = ("/dev/infiniband/uverbs", "/dev/hfi1", "/dev/cxi", "/dev/efa")
GRAPHICS_DEVICES = (*(f"/dev/nvidia{digit}" for digit in range(10)), "/dev/kfd", "/dev/dri/render")


@dataclass
class Found:
    """Bytes that may be the job's payload, between the pairs of hosts that are judged."""

    asked: dict[tuple[str, str], int] = field(default_factory=dict)
    """On what was asked for, from host to host."""
    asked_out: dict[str, int] = field(default_factory=dict)
    """On the RDMA ports that were asked for, by host."""
    asked_in: dict[str, int] = field(default_factory=dict)
    elsewhere: dict[str, int] = field(default_factory=dict)
    """Carrier in words to bytes between ranks."""
    unclear: dict[str, int] = field(default_factory=dict)
    """Likewise, of connections of which no holder was seen, or of which it is open by what interface they went."""
    unplaced: dict[str, int] = field(default_factory=dict)
    """The latter alone."""

    @property
    def asked_bytes(self) -> int:
        """Return everything on what was asked for."""
        return sum(self.asked.values()) + sum(self.asked_out.values())

    @property
    def elsewhere_bytes(self) -> int:
        """Return everything between ranks on what was not asked for."""
        return sum(self.elsewhere.values())


class Evidence:
    """Connections, accounts of interfaces, ports, and memory of all hosts of one launch."""

    def __init__(self, watches: Mapping[str, Watch], expected: Expectation, idle: Mapping[str, Watch]) -> None:
        self.watches, self.expected = watches, expected
        self._meters = {host: Meter(watch, idle.get(host)) for host, watch in watches.items()}
        self.disturbed = {host: disturbances(watch) for host, watch in watches.items()}
        flows = {host: flows_of(watch) for host, watch in watches.items()}
        self.lines: list[Line] = []
        self.ports: list[Port] = []
        for host, meter in self._meters.items():
            again = sum(one.retransmitted_bytes for other in flows for one in flows[other] if other != host)
            lines, ports = lines_of(meter, flows[host], again)
            routes = routes_of(lines)
            if routes:
                flows[host] = rerouted(flows[host], routes)
                lines, ports = lines_of(meter, flows[host], again)
            self.lines += [one for one in lines if one.interface not in self.disturbed[host]]
            self.ports += [one for one in without_ip(ports, lines) if one.name not in self.disturbed[host]]
        every = list(transfers_of(flows, hosts_by_address(watches)))
        self.transfers = [one for one in every if one.kind not in (BESIDE, OTHERS)]
        self._beside = [one for one in every if one.kind == BESIDE]

    @property
    def closure_error(self) -> float | None:
        """Return the worst interface's."""
        return max((one.error for one in self.lines if one.error is not None), default=None)

    @cached_property
    def is_between_hosts(self) -> bool:
        """Return whether what is judged went from host to host, or stayed on one."""
        payload = self.expected.payload_bytes
        if payload is not None:
            return any(source != target and size for (source, target), size in payload.items())
        holders = {host for host, _ in self.ranks} or set(self.watches)
        return len(holders) > 1

    @cached_property
    def ranks(self) -> list[tuple[str, Process]]:
        """Return host and process of every rank, once, as it was seen with most."""
        found: dict[tuple[str, int], Process] = {}
        for host, watch in self.watches.items():
            for reading in watch.readings:
                for one in reading.processes:
                    best = found.get((host, one.pid))
                    if one.role == RANK and (best is None or _wealth(one) >= _wealth(best)):
                        found[host, one.pid] = one
        return [(host, one) for (host, _), one in found.items()]

    @cached_property
    def has_verbs(self) -> bool:
        """Return whether a rank has an RDMA device open; where no rank was seen, it may have."""
        return not self.ranks or any(name.startswith(VERBS_DEVICES) for _, one in self.ranks for name in one.devices)

    @cached_property
    def uncounted(self) -> str:
        """Return what a rank has open without anything that counts its data; an unknown is not a zero."""
        for host, one in self.ranks:
            opened = next((name for name in one.devices if name.startswith(VERBS_DEVICES)), None)
            if opened is None:
                continue
            ports = self._meters[host].ports()
            lacking = [one.name for one in ports if not one.is_counted] + ([] if ports else [opened])
            why = [f"{name} of {host} has no counters of data" for name in lacking]
            known = self.watches[host].readings[0].rdma
            why += [f"{name} of {host}: {text}" for name, text in self.disturbed[host].items() if name in known]
            if why:
                return f"{why[0]}, and a rank has {opened} open"
        return ""

    @cached_property
    def opened(self) -> str:
        """Return which rank has an RDMA device open, in words; empty if none has."""
        return self._who_has(VERBS_DEVICES)

    @cached_property
    def graphics(self) -> str:
        """Return which rank has a graphics card open, in words; empty if none has."""
        return self._who_has(GRAPHICS_DEVICES)

    def _who_has(self, devices: tuple[str, ...]) -> str:
        found = ((host, name) for host, one in self.ranks for name in one.devices if name.startswith(devices))
        return next((f"a rank on {host} has {name} open" for host, name in found), "")

    @cached_property
    def shared(self) -> list[str]:
        """Return what memory ranks share: of one host, or, where hosts are judged, ranks of several hosts."""
        return [
            identity
            for identity, who in self._holders.values()
            if len({host for host, _ in who} if self.is_between_hosts else who) > 1
        ]

    @cached_property
    def _holders(self) -> dict[tuple[str, str], tuple[str, set[tuple[str, int]]]]:
        """Return memory by kernel, device and inode (a file may have several names): its identity, and who maps it."""
        holders: dict[tuple[str, str], tuple[str, set[tuple[str, int]]]] = {}
        for host, one in self.ranks:
            for identity in one.shared_mappings:
                if not WIRE_UP_STORE.search(identity):
                    key = self.watches[host].kernel, identity.partition(" ")[0]
                    holders.setdefault(key, (identity, set()))[1].add((host, one.pid))
        return holders

    @cached_property
    def channel(self) -> str:
        """Return what two ranks of one host hold the ends of, in words: a pipe or a Unix socket; empty for nothing."""
        held: dict[tuple[str, str], set[int]] = {}
        for host, one in self.ranks:
            for channel in one.channels:
                held.setdefault((host, channel), set()).add(one.pid)
        for (host, channel), who in held.items():
            pipe, end, inode, peer = CHANNEL.fullmatch(channel).groups()  # type: ignore[union-attr]
            other = f"pipe {pipe} read" if pipe else f"unix {peer} to {inode}"
            if end != "read" and len(who | held.get((host, other), who)) > 1 and (host, other) in held:
                return f"ranks of {host} share a {'pipe' if pipe else 'Unix socket'}"
        return ""

    @cached_property
    def inside(self) -> str:
        """Return what ranks of one host told each other without leaving it, in words; empty if nothing shows that."""
        if not self.is_between_hosts:
            return ""
        size = sum(one.size_bytes for one in self.transfers if one.source == one.target and one.kind == RANKS)
        parts = [f"{bytes_text(size)} by connections"] if size else []
        for identity, who in self._holders.values():
            hosts = [host for host, _ in who]
            if len(set(hosts)) < len(hosts):
                parts.append(f"an unknown amount through {identity}")
                break
        return f"; inside hosts stayed {' and '.join(parts)}" if parts else ""

    @cached_property
    def may_share(self) -> bool:
        """Return whether bytes may have gone through memory: on one host always, between hosts where it was seen."""
        return not self.is_between_hosts or bool(self.shared)

    @cached_property
    def could_share(self) -> bool:
        """Return whether nothing rules memory out: on one kernel, where not all that ranks have mapped was seen."""
        kernels = {watch.kernel for watch in self.watches.values()}
        is_unseen = not self.ranks or any(not one.shared_mappings for _, one in self.ranks)
        return self.may_share or (len(kernels) == 1 and "" not in kernels and is_unseen)

    @cached_property
    def asked_name(self) -> str:
        """Return what was asked for, in words: `tcp over eth0`, `roce over rxe0/1`, `shared memory`."""
        asked = self.expected
        if asked.transport == "shm":
            return MEMORY
        ends = asked.rdma_ports if asked.transport in RDMA_TRANSPORTS else asked.interfaces
        if not ends and asked.transport == "tcp":  # over any interface: what it was
            judged = [one for one in self.transfers if self._is_judged(one) and one.size_bytes]
            names = list(dict.fromkeys(one.out_interface for one in judged if one.out_interface is not None))
            return f"tcp over {' and '.join(names)}" if names else "tcp"
        hosts = {host for pair in asked.payload_bytes or () for host in pair} or set(self.watches)
        names = list(dict.fromkeys(ends[host] for host in ends if host in hosts))
        what = asked.transport or "any transport"
        return f"{what} over {' and '.join(names)}" if names else what

    @cached_property
    def found(self) -> Found:
        """Return where the bytes between the judged hosts are."""
        found = Found()
        for one in self.transfers:
            if self._is_judged(one):
                self._take(found, one)
        for port in self.ports:
            self._take_port(found, port)
        return found

    def _take(self, found: Found, one: Transfer) -> None:
        asked, is_kernels = self.expected.transport, one.kind == UNCLEAR
        if asked == "iwarp" and is_kernels and self.has_verbs and self._is_on_fabric(one):
            # The kernel's own connections (siw): no process holds them.
            found.asked[one.source, one.target] = found.asked.get((one.source, one.target), 0) + one.size_bytes
            return
        if asked == "tcp" and self._is_on_fabric(one) and not (is_kernels and self.expected.payload_bytes is None):
            found.asked[one.source, one.target] = found.asked.get((one.source, one.target), 0) + one.size_bytes
            return
        name, is_unplaced = tcp_name(one), asked == "tcp" and self._is_unplaced(one)
        if is_unplaced:
            found.unplaced[name] = found.unplaced.get(name, 0) + one.size_bytes
        into = found.unclear if is_kernels or is_unplaced else found.elsewhere
        into[name] = into.get(name, 0) + one.size_bytes

    def _take_port(self, found: Found, port: Port) -> None:
        if not self.has_verbs:
            return
        asked = self.expected.rdma_ports
        if self.expected.transport in RDMA_TRANSPORTS and asked.get(port.host, port.name) == port.name:
            found.asked_out[port.host] = found.asked_out.get(port.host, 0) + port.sent_bytes
            found.asked_in[port.host] = found.asked_in.get(port.host, 0) + port.received_bytes
        elif max(port.sent_bytes, port.received_bytes) >= self._least_port_bytes:
            name = f"RDMA over {port.name}"
            found.elsewhere[name] = found.elsewhere.get(name, 0) + port.sent_bytes

    @property
    def _least_port_bytes(self) -> int:
        payload = self.expected.payload_bytes
        return LEAST_PORT_BYTES if payload is None else max(1, min(LEAST_PORT_BYTES, sum(payload.values()) // 50))

    def _is_judged(self, one: Transfer) -> bool:
        if (one.source != one.target) != self.is_between_hosts:
            return False
        payload = self.expected.payload_bytes
        return payload is None or (one.source, one.target) in payload

    def _is_on_fabric(self, one: Transfer) -> bool:
        asked = self.expected.interfaces
        ends = ((one.source, one.out_interface), (one.target, one.in_interface))
        return all(asked.get(host, name) == name for host, name in ends if name is not None)

    def _is_unplaced(self, one: Transfer) -> bool:
        """Return whether it may have used the fabric all the same: by no interface's address, or a VLAN over it."""
        asked = self.expected.interfaces
        ends = ((one.source, one.out_interface), (one.target, one.in_interface))
        return any(
            name == "" or (name is not None and host in asked and name.startswith(f"{asked[host]}."))
            for host, name in ends
        )

    def unexplained_bytes(self, *, on_fabric: bool = False) -> int:
        """Return the most payload that may be hidden in what nothing accounts for, one way.

        It can only be UDP's, or a device's that the kernel does not know: every TCP connection is listed. Where the
        host counts datagrams, they are the limit. `on_fabric` asks for the interfaces of the fabric alone, and for
        everything that was counted there.
        """
        total = 0
        for host, meter in self._meters.items():
            asked = self.expected.interfaces
            lines = [one for one in self.lines if one.host == host and one.direction == "out"]
            if on_fabric:
                total += sum(max(0, one.rest_bytes) for one in lines if one.interface == asked.get(host))
                continue
            rest = sum(max(0, one.rest_bytes) for one in lines if (one.interface == LOOPBACK) != self.is_between_hosts)
            limit = meter.udp_bytes()
            total += rest if limit is None else min(rest, limit)
        return total

    @cached_property
    def ownerless(self) -> dict[tuple[str, str], int]:
        """Return host and interface to the bytes that nothing accounts for, in the direction that has more of them.

        What an interface above it counted (VLAN, VXLAN, bridge: the kernel tells) is accounted for there.
        """
        found: dict[tuple[str, str], int] = {}
        counted = {(one.host, one.interface, one.direction): one.counted_bytes for one in self.lines}
        for line in self.lines:
            lower = self.watches[line.host].lower_interfaces
            above = [name for name, beneath in lower.items() if line.interface in beneath]
            nested = sum(counted.get((line.host, name, line.direction), 0) for name in above)
            rest = line.rest_bytes - nested
            limit = max(OWNERLESS_SHARE * line.counted_bytes, LEAST_COUNTED_BYTES)
            if rest > limit:
                key = line.host, line.interface
                found[key] = max(found.get(key, 0), rest)
        return found

    @cached_property
    def beside(self) -> dict[str, int]:
        """Return carrier to what the job moved past what was asked for, though not from rank to rank."""
        found: dict[str, int] = {}
        for one in self._beside:
            is_asked = self.expected.transport == "tcp" and self._is_on_fabric(one)
            if (one.source != one.target) == self.is_between_hosts and not is_asked:
                found[tcp_name(one)] = found.get(tcp_name(one), 0) + one.size_bytes
        return found

    def ownerless_lines(self) -> tuple[Ownerless, ...]:
        """Return `ownerless`, the most first."""
        most_first = sorted(self.ownerless.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Ownerless(host, interface, size) for (host, interface), size in most_first)

    @cached_property
    def found_share(self) -> float | None:
        """Return what was found on what was asked for, of all that was found between ranks; None for no answer."""
        if not self.expected.transport or self.expected.transport == "shm":
            return None
        asked = self.found.asked_bytes
        every = asked + self.found.elsewhere_bytes + sum(self.found.unclear.values())
        return asked / every if every else None

    @cached_property
    def datagrams(self) -> str:
        """Return which rank had a socket for datagrams, in words; empty if none had."""
        found = ((host, kind) for host, one in self.ranks for kind in one.datagrams)
        return next((f"a rank on {host} had a {kind.upper()} socket" for host, kind in found), "")

    @cached_property
    def datagram_bytes(self) -> int:
        """Return the most that ranks with sockets for datagrams can have sent by them: their bytes nobody counts.

        The account of the wire took TCP's headers off datagrams too, which have shorter ones.
        """
        total = 0
        for host in {host for host, one in self.ranks if one.datagrams}:
            meter = self._meters[host]
            kinds = {kind for name, one in self.ranks if name == host for kind in one.datagrams}
            lines = [one for one in self.lines if one.host == host and one.direction == "out"]
            lines = [one for one in lines if (one.interface == LOOPBACK) != self.is_between_hosts]
            count = meter.udp_count() if kinds == {"udp"} else None
            shorter = TCP_BYTES + TIME_STAMP_BYTES - UDP_BYTES
            rests = [
                one.rest_bytes + shorter * (one.packet_count if count is None else min(count, one.packet_count))
                for one in lines
            ]
            limit = meter.udp_bytes() if kinds == {"udp"} else None
            rest = sum(max(0, one) for one in rests)
            total += rest if limit is None else min(rest, limit)
        return total

    def carriers(self) -> tuple[Carrier, ...]:
        """Return what each way out of each host carried between ranks."""
        moved: dict[tuple[str, str], list[int]] = {}
        for one in self.transfers:
            if one.kind == UNCLEAR and self.expected.payload_bytes is None:
                continue
            for host, name, place in ((one.source, one.out_interface, 0), (one.target, one.in_interface, 1)):
                if name is not None:
                    moved.setdefault((host, name), [0, 0])[place] += one.size_bytes
        found = [Carrier(host, "tcp", name, *both) for (host, name), both in sorted(moved.items()) if any(both)]
        if self.has_verbs:
            kind = self.expected.transport if self.expected.transport in RDMA_TRANSPORTS else "rdma"
            found += [
                Carrier(one.host, kind, one.name, one.sent_bytes, one.received_bytes)
                for one in self.ports
                if max(one.sent_bytes, one.received_bytes) >= LEAST_PORT_BYTES
            ]
        hosts = sorted({host for host, _ in self.ranks})
        return (*found, *(Carrier(host, "shm", ", ".join(self.shared), None, None) for host in hosts if self.shared))


def tcp_name(one: Transfer) -> str:
    """Return the carrier of a transfer in words."""
    return f"tcp over {one.out_interface or one.in_interface or 'an unknown interface'}"


def _wealth(one: Process) -> tuple[int, int]:
    return len(one.devices), len(one.shared_mappings)
