"""The account of the wire: what each interface and RDMA port counted, and what explains it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fabriscope.analysis.proof.beside_ip import BesideIp, beside_ip
from fabriscope.analysis.proof.flows import LOOPBACK, Flow, flows_of
from fabriscope.analysis.proof.headers import ETHERNET_BYTES, IPV6_BYTES, ROCE_BYTES, headers_of
from fabriscope.analysis.proof.line import Line, told_apart
from fabriscope.analysis.proof.segments import Way, datagram_counts, headers_and_dropped, longer_bytes, sack_bytes
from fabriscope.model.counters import Reading, Watch

SYN_BYTES = 8
"""How much longer the options of packets are that open a connection: segment size, window scale, SACK (20 for 12)."""
WORD_BYTES = 4
"""Port data counters count words of 32 bits (kernel: sysfs-class-infiniband)."""
LARGEST_DATAGRAM_BYTES = 65_507
JOBS_QUEUE_PAIRS, OTHERS_QUEUE_PAIRS, OLD_QUEUE_PAIRS = (f"{whose}.queue_pairs" for whose in ("jobs", "others", "old"))
VERBS_NUMBER = "verbs.number"
MOST_UNACKNOWLEDGED = 128
"""Packets that Soft RoCE sends before the first of them is acknowledged: after a loss it begins again with that one."""
ROCE_PAYLOADS = (4096, 2048, 1024, 512, 256)
PORT_DATA = ("port_xmit_data", "port_rcv_data")
DRIVER_DATA = (
    (("hw.tx_roce_only_bytes",), ("hw.rx_roce_only_bytes",)),
    (("hw.tx_bytes",), ("hw.rx_bytes",)),
    (("hw.ip4OutOctets", "hw.ip6OutOctets"), ("hw.ip4InOctets", "hw.ip6InOctets")),
)
"""What drivers count in bytes where the port's own counters are missing, out and in: bnxt_re (its newer chips count
RoCE apart), also EFA; irdma and i40iw, where the device's IP versions are summed. Headers are among them."""
LEAST_IDLE_COUNT = 100
"""Packets, or words, that an idle port moves in the same time; fewer are those of its own management."""
SATURATED = (1 << 32) - 1
"""Port counters of 32 bits stay at this value."""
READING_S = 0.1
"""A reading is not of one moment: on a busy host interfaces are read this much before connections."""
DIRECTIONS = (("out", "tx"), ("in", "rx"))


@dataclass(frozen=True)
class Port:
    """What an RDMA port moved, less the idle background."""

    host: str
    name: str
    sent_bytes: int
    received_bytes: int
    is_software: bool
    """Soft RoCE: it has no data counters, its packets are counted by the interface beneath it."""
    interface: str
    sent_packets: int
    received_packets: int
    is_counted: bool = True
    """Some drivers have no data counters at all; siw's bytes are the kernel's connections."""
    again_bytes: int = 0
    """Of what Soft RoCE received as much as this may have come in before, or too early to be taken."""
    idle_share: float = 0.0
    """What the idle host moved by it in the same time, of all that it moved: somebody else's."""
    jobs_count: int | None = None
    """Queue pairs that processes of the job were seen to have; None where the kernel did not tell."""
    others_count: int = 0
    """Likewise, those that others were seen to make in the meantime."""
    old_count: int = 0
    """Those that were there before the job, a file system's of the kernel for one."""
    file: str = ""
    """What a program opens to use its device, where that is known."""

    @property
    def is_connections(self) -> bool:
        """Return whether its bytes are TCP connections that the kernel holds itself (siw)."""
        return self.name.startswith("siw")


class Meter:
    """The counters of one host between the first reading and the last."""

    def __init__(self, watch: Watch, idle: Watch | None) -> None:
        self.watch = watch
        self._first, self._last = watch.readings[0], watch.readings[-1]
        self.seconds = max(0.0, (self._last.at_ns - self._first.at_ns) / 1e9)
        self._idle = Meter(idle, None) if idle is not None and len(idle.readings) > 1 else None

    def interface(self, name: str, counter: str) -> int:
        return _grown(self._first.interfaces, self._last.interfaces, name, counter)

    def version6_count(self, name: str, counter: str) -> int | None:
        """Return how many packets of IPv6 an interface had; None where nobody counts them."""
        known = counter in self._last.interfaces.get(name, {})
        return max(0, self.interface(name, counter)) if known else None

    def port(self, name: str, counter: str) -> int:
        counted = _grown(self._first.rdma, self._last.rdma, name, counter)
        return max(0, counted - self.background(name, counter))

    def protocol(self, *names: str) -> int | None:
        """Return the sum of such counters that the host has; None where it has none."""
        known = [name for name in names if name in self._last.protocols]
        if not known:
            return None
        return sum(max(0, self._last.protocols[name] - self._first.protocols.get(name, 0)) for name in known)

    def pinned_bytes(self) -> int | None:
        """Return how much memory was pinned beyond what an idle host pins; None where the kernel does not count it."""
        grown = self.protocol("Memory.PinnedBytes")
        if grown is None or self._idle is None or not self._idle.seconds:
            return grown
        return max(
            0, grown - round((self._idle.protocol("Memory.PinnedBytes") or 0) / self._idle.seconds * self.seconds)
        )

    def background(self, port: str, counter: str) -> int:
        """Return what an RDMA port of the idle host would have counted in the same time."""
        if self._idle is None or self._idle.seconds <= 0:
            return 0
        return round(max(0, self._idle.port(port, counter)) / self._idle.seconds * self.seconds)

    def idle_rest_bytes(self, name: str, direction: str) -> int:
        """Return what nothing would have accounted for on the idle host in the same time, in one direction.

        What its connections carried is no part of it: of those the job's time has its own.
        """
        idle = self._idle
        if idle is None or idle.seconds <= 0:
            return 0
        rest = sum(one.rest_bytes for one in self._idle_lines if (one.interface, one.direction) == (name, direction))
        return round(max(0, rest) / idle.seconds * self.seconds)

    @cached_property
    def _idle_lines(self) -> list[Line]:
        return lines_of(self._idle, flows_of(self._idle.watch), {})[0] if self._idle else []

    def interfaces(self) -> dict[str, tuple[tuple[str, str], ...]]:
        """Return the interfaces whose bytes must have an owner, and the directions (DIRECTIONS) that are looked at.

        What is beneath another (a bridge's port) counts its bytes twice. One without an address takes in what is meant
        for nobody here, and sends what somebody put there.
        """
        addressed = {LOOPBACK, *(name for name, every in self.watch.addresses.items() if every)}
        beneath = {name for every in self.watch.lower_interfaces.values() for name in every}
        return {
            name: DIRECTIONS if name in addressed else DIRECTIONS[:1]
            for name in self._last.interfaces
            if name in addressed or name not in beneath
        }

    def ports(self) -> list[Port]:
        """Return every RDMA port; what Soft RoCE moved is told by the account of its interface."""
        found = []
        for name, counters in self._last.rdma.items():
            is_software = "hw.sent_pkts" in counters
            packets = ("hw.sent_pkts", "hw.rcvd_pkts") if is_software else ("port_xmit_packets", "port_rcv_packets")
            data = None if is_software else self._port_data(name, counters)
            sent, received = data or (0, 0)
            over = self.watch.rdma_interfaces.get(name, "")
            counted = [self.port(name, one) for one in packets]
            is_counted = is_software or data is not None or name.startswith("siw")
            one = Port(
                self.watch.host, name, sent, received, is_software, over, counted[0], counted[1], is_counted,
                self._again_bytes(name, over) if is_software else 0,
                self._idle_share(name, packets if is_software else PORT_DATA), counters.get(JOBS_QUEUE_PAIRS),
                counters.get(OTHERS_QUEUE_PAIRS, 0), counters.get(OLD_QUEUE_PAIRS, 0),
                f"/dev/infiniband/uverbs{counters[VERBS_NUMBER]}" if VERBS_NUMBER in counters else "",
            )  # fmt: skip
            found.append(one)
        return found

    def _again_bytes(self, name: str, interface: str) -> int:
        """Return the most that Soft RoCE received and did not take: packets that it had, or that came too early.

        It counts each of the former, and of the latter the first after a loss alone.
        """
        packets = self.port(name, "hw.duplicate_request")
        packets += MOST_UNACKNOWLEDGED * self.port(name, "hw.out_of_seq_request")
        room = self.watch.mtu_bytes.get(interface, 0) - IPV6_BYTES - ROCE_BYTES
        return packets * next((size for size in ROCE_PAYLOADS if size <= room), 0)

    def _idle_share(self, name: str, counters: Sequence[str]) -> float:
        """Return the larger share of what an idle host moves by a port; 0 where that is next to nothing."""
        shares = [0.0]
        for counter in counters:
            idle = self.background(name, counter)
            grown = _grown(self._first.rdma, self._last.rdma, name, counter)
            if idle >= LEAST_IDLE_COUNT and grown > 0:
                shares.append(min(1.0, idle / grown))
        return max(shares)

    @cached_property
    def beside_ip(self) -> BesideIp:
        """What came in beside the packets of IP: of all interfaces, loopback's packets have no link header."""
        octets = self.protocol("IpExt.InOctets", "Ip6.InOctets", "Ip6InOctets")
        taken = self.protocol("Ip.InReceives", "Ip6.InReceives", "Ip6InReceives")
        size, every = (
            sum(self.interface(name, f"rx_{what}") for name in self._last.interfaces) for what in ("bytes", "packets")
        )
        surplus, missing = (
            None if of_ip is None else all_in - of_ip for all_in, of_ip in ((size, octets), (every, taken))
        )
        return beside_ip(surplus, every - self.interface(LOOPBACK, "rx_packets"), missing)

    def _port_data(self, name: str, counters: Mapping[str, int]) -> tuple[int, int] | None:
        """Return the bytes that a port sent and received; None where nothing counts them.

        A driver may have several such counters, of which its chip fills only some: what moved most is meant.
        """
        if PORT_DATA[0] in counters:
            return WORD_BYTES * self.port(name, PORT_DATA[0]), WORD_BYTES * self.port(name, PORT_DATA[1])
        known = [both for both in DRIVER_DATA if both[0][0] in counters]
        moved = [(self._sum(name, sent), self._sum(name, received)) for sent, received in known]
        return max(moved, key=sum, default=None)

    def _sum(self, port: str, names: Sequence[str]) -> int:
        return sum(self.port(port, name) for name in names)

    def udp_bytes(self) -> int | None:
        """Return the most that UDP can have moved, one way; None where its datagrams are not counted."""
        count = self.udp_count()
        return None if count is None else count * LARGEST_DATAGRAM_BYTES

    def udp_count(self) -> int | None:
        """Return how many datagrams were sent, or received if they were more; None where nobody counts them."""
        return max(self.udp_counts().values(), default=None)

    def udp_counts(self) -> dict[str, int]:
        """Return direction to how many datagrams went there; without those that nobody counts.

        What came for nobody, and what a socket had no room for, are among them; what lies in a socket unread is not.
        """
        found = {}
        for direction, names in (("out", ("OutDatagrams",)), ("in", ("InDatagrams", "NoPorts", "InErrors"))):
            parts = (("Udp", "."), ("Udp6", "."), ("Udp6", ""))
            count = self.protocol(*(f"{family}{dot}{name}" for name in names for family, dot in parts))
            if count is not None:
                found[direction] = count
        return found

    def forwarded_count(self) -> int:
        """Return how many packets of others this host passed on."""
        return self.protocol("Ip.ForwDatagrams", "Ip6.OutForwDatagrams") or 0

    def beside_tcp_bytes(self, direction: str, tcp_bytes: int) -> int:
        """Return the most that can have been moved in one direction by others than TCP, as IP's own counters tell.

        Where they do not, that is everything.
        """
        name = "OutOctets" if direction == "out" else "InOctets"
        octets = self.protocol(f"IpExt.{name}", f"Ip6.{name}", f"Ip6{name}")
        return sys.maxsize if octets is None else max(0, octets - tcp_bytes)


def _grown(
    first: Mapping[str, Mapping[str, int]], last: Mapping[str, Mapping[str, int]], name: str, counter: str
) -> int:
    return last.get(name, {}).get(counter, 0) - first.get(name, {}).get(counter, 0)


def disturbances(watch: Watch) -> dict[str, str]:
    """Return interface or RDMA port to what happened to its counters; nothing may rest on those."""
    found: dict[str, str] = {}
    for one, other in zip(watch.readings, watch.readings[1:], strict=False):
        for name, text in (*_went_back(one.interfaces, other.interfaces), *_went_back(one.rdma, other.rdma)):
            found.setdefault(name, text)
    for name, counters in _last(watch).rdma.items():
        if "hw.sent_pkts" not in counters and SATURATED in [counters.get(one) for one in PORT_DATA]:
            found[name] = "its counters are full"
    return found


def _last(watch: Watch) -> Reading:
    return watch.readings[-1]


def _went_back(one: Mapping[str, Mapping[str, int]], other: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    found = [(name, "it went away") for name in one if name not in other]
    for name, counters in other.items():
        before = one.get(name)
        driver = (key for both in DRIVER_DATA for way in both for key in way)
        names = ("rx_bytes", "tx_bytes", *PORT_DATA, "hw.sent_pkts", "hw.rcvd_pkts", *driver)
        if before is not None and any(
            counters[key] < before[key] for key in names if key in counters and key in before
        ):
            found.append((name, "its counters went back: it was made anew, or they overflowed"))
    return found


def without_ip(ports: Sequence[Port], lines: Sequence[Line]) -> list[Port]:
    """Return the ports of a host less what IP over InfiniBand had them move: its interfaces count that already.

    Which port is beneath such an interface no counter tells: it is taken off the one that moved most.
    """
    found = list(ports)
    for line in lines:
        native = [one for one in found if not one.interface and not one.is_software]
        if not line.interface.startswith("ib") or not native:
            continue
        name = "sent_bytes" if line.direction == "out" else "received_bytes"
        port = max(native, key=lambda one: int(getattr(one, name)))
        moved = max(0, getattr(port, name) - line.counted_bytes)
        less = replace(port, sent_bytes=moved) if name == "sent_bytes" else replace(port, received_bytes=moved)
        found[found.index(port)] = less
    return found


def lines_of(meter: Meter, flows: Sequence[Flow], resent: Mapping[str, int]) -> tuple[list[Line], list[Port]]:
    """Return the account of every interface and direction, and the ports with what Soft RoCE moved filled in.

    `resent` is interface to what others sent this host again (`resent_to`): it may have come in twice, or not at all.
    """
    ports = meter.ports()
    lines = []
    ways = _ways(meter, flows, ports)
    counts = datagram_counts(list(ways.values()), meter.udp_counts())
    for (name, direction), way in ways.items():
        soft = [one for one in ports if one.is_software and one.interface == name]
        line = _line(meter, way, flows, soft, resent.get(name, 0), counts.get((name, direction), 0))
        lines.append(line)
        if soft:
            port = soft[0]
            is_out = direction == "out"
            filled = replace(port, sent_bytes=line.rdma_bytes) if is_out else replace(
                port, received_bytes=line.rdma_bytes
            )  # fmt: skip
            ports[ports.index(port)] = filled
    lower = meter.watch.lower_interfaces
    return told_apart(lines, lower), ports


def _ways(meter: Meter, flows: Sequence[Flow], ports: Sequence[Port]) -> dict[tuple[str, str], Way]:
    """Return (interface, direction) to its packets, and what its connections say of theirs."""
    found = {}
    for name, directions in meter.interfaces().items():
        for direction, letters in directions:
            is_out = direction == "out"
            mine = [one for one in flows if (one.out_interface if is_out else one.in_interface) == name]
            soft = [one for one in ports if one.is_software and one.interface == name]
            rdma = sum(one.sent_packets if is_out else one.received_packets for one in soft)
            rdma += meter.beside_ip.pauses if soft and not is_out else 0
            segments = [one.sent_segments if is_out else one.received_segments for one in mine]
            known = [one for one in segments if one is not None]
            payload = sum(one.sent_bytes + one.retransmitted_bytes if is_out else one.received_bytes for one in mine)
            if name == LOOPBACK:  # what goes out comes in, what is sent again too
                payload = max(payload, sum(one.sent_bytes + one.retransmitted_bytes for one in mine))
            found[name, direction] = Way(
                name, direction, max(0, meter.interface(name, f"{letters}_packets") - rdma),
                sum(known) if len(known) == len(segments) else None, payload,
                None if rdma else meter.version6_count(name, f"{letters}_ipv6_packets"),
            )  # fmt: skip
    return found


def _line(
    meter: Meter, way: Way, flows: Sequence[Flow], soft: Sequence[Port], peers_retransmitted: int, udp_count: int
) -> Line:
    name, is_out = way.interface, way.direction == "out"
    counted, packets = (meter.interface(name, f"{'tx' if is_out else 'rx'}_{what}") for what in ("bytes", "packets"))
    mine = [one for one in flows if (one.out_interface if is_out else one.in_interface) == name]
    rdma_packets, tcp_packets, payload = packets - way.packet_count, way.packet_count - udp_count, way.payload_bytes
    # Loopback counts packets without their link header.
    link_bytes = 0 if name == LOOPBACK else ETHERNET_BYTES if is_out else meter.beside_ip.link_bytes
    choices, ip_bytes, mixed, strangers = headers_of(way, mine, rdma_packets, udp_count, link_bytes, meter.protocol)
    if is_out and name in meter.watch.lower_interfaces:  # some tunnels count what they send without it
        choices += [one - link_bytes * way.packet_count for one in choices]
    again = sum(one.retransmitted_bytes for one in mine) if is_out or name == LOOPBACK else 0
    headers, dropped = headers_and_dropped(counted - payload, choices, 0 if name == LOOPBACK else again)
    payload, again, rest = payload - dropped, again - dropped, counted - payload + dropped - headers
    if not is_out and rest > 0:
        rest = max(0, rest - peers_retransmitted)
    # What was open while counters were read may have moved this much more, or less.
    moving = sum((one.sent_bytes if is_out else one.received_bytes) * one.open_count for one in mine)
    slack = round(moving * READING_S / meter.seconds) if meter.seconds else 0
    most = max(0, rest + slack)
    rest = 0 if abs(rest) <= slack else rest - slack if rest > 0 else rest + slack
    rdma = 0
    if soft and rdma_packets:
        largest = max(0, meter.watch.mtu_bytes.get(name, 0) - ip_bytes - ROCE_BYTES)
        rdma = min(max(0, rest), rdma_packets * largest)
        rest -= rdma
    options = SYN_BYTES * min(tcp_packets, meter.protocol("Tcp.ActiveOpens", "Tcp.PassiveOpens", "Tcp.OutRsts") or 0)
    if peers_retransmitted or any(one.retransmitted_bytes for one in mine):
        options += sack_bytes(mine, tcp_packets, is_out=is_out)
    options = min(max(0, rest), options)
    headers, rest = headers + options, rest - options
    # The background explains what is left, and no more: packets of others may be connections that were listed.
    background = min(max(0, rest), meter.idle_rest_bytes(name, way.direction))
    return Line(
        meter.watch.host, name, way.direction, counted, packets, payload, headers, rdma, background,
        rest - background, again, 0, udp_count, way.others,
        max(0, most - rdma - max(0, rest - background)) + again + mixed, dropped, slack, strangers, 0,
        longer_bytes(mine, tcp_packets, is_out=is_out),
    )  # fmt: skip
