"""What the headers of an interface's packets come to: of connections, datagrams, their fragments, and of RDMA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fabriscope.analysis.proof.flows import Flow
from fabriscope.analysis.proof.segments import Way

ETHERNET_BYTES, IPV4_BYTES, IPV6_BYTES, TCP_BYTES, TIME_STAMP_BYTES = 14, 20, 40, 20, 12
UDP_BYTES = 8
MOST_PIECES = 64
"""Into how many datagrams the kernel cuts what a program hands it as one (UDP_SEGMENT), and counts as one."""
ROCE_BYTES = 8 + 12 + 4
"""UDP, the base transport header and the check sum of a RoCE v2 packet, beside Ethernet's and IP's."""
_NAMES = {
    "out": ("OutDatagrams", "Ip.FragCreates", "Ip.FragOKs"),
    "in": ("InDatagrams", "Ip.ReasmReqds", "Ip.ReasmOKs"),
}
"""How the kernel counts datagrams, packets that are parts of one, and datagrams that had parts."""

Counter = Callable[..., int | None]
"""From names of protocols' counters to their sum; None where the host has none of them."""


class Headers(NamedTuple):
    """The headers of an interface's packets in one direction."""

    choices: list[int]
    """What they may come to: with TCP's time stamps, or without."""
    ip_bytes: int
    """One of IP's."""
    mixed_bytes: int
    """What is not sure of them."""
    stranger_count: int
    """Packets of neither TCP nor UDP."""


def headers_of(
    way: Way, flows: Sequence[Flow], rdma_packets: int, udp_count: int, link_bytes: int, protocol: Counter
) -> Headers:
    """Return what the headers of an interface's packets come to; `udp_count` of them are datagrams' first ones.

    `link_bytes` is the link's header of each packet, `protocol` counts for the whole host.
    """
    is_out = way.direction == "out"
    segments6 = _share(flows, lambda one: one.is_ipv6, is_out=is_out)
    version6 = sum(one.sent_bytes if is_out else one.received_bytes for one in flows if one.is_ipv6)
    share6 = float(2 * version6 > way.payload_bytes) if segments6 is None else segments6
    datagrams, parts, wholes = _NAMES[way.direction]
    of_six = protocol(f"Udp6.{datagrams}", f"Udp6{datagrams}") or 0
    total = of_six + (protocol(f"Udp.{datagrams}") or 0)
    six = of_six / total if total else 0.0
    # Of a datagram that was cut the first packet alone has a header of UDP.
    further = max(0, (protocol(parts) or 0) - (protocol(wholes) or 0))
    further = min(further, max(0, (way.others or 0) - udp_count))
    lite = protocol(f"UdpLite.{datagrams}", f"UdpLite6.{datagrams}") or 0
    strangers = max(0, (way.others or 0) - udp_count - further - lite)
    # The kernel cuts what a program hands it as one (UDP_SEGMENT) when it leaves, and counts one datagram.
    # What asks for a connection that nobody gives, and what refuses one, is of no connection either.
    asked = protocol("Tcp.ActiveOpens", "Tcp.PassiveOpens", "Tcp.OutRsts") or 0
    pieces = min(max(0, strangers - asked), (MOST_PIECES - 1) * udp_count) if is_out else 0
    segments = way.packet_count - udp_count - further - pieces
    here = _datagrams6(way, share6, segments, udp_count)
    # Where several interfaces have datagrams, it is not told which have those of IPv6.
    mixed = round((IPV6_BYTES - IPV4_BYTES) * min(udp_count * min(six, 1 - six), max(0, total - udp_count)))
    six, mixed = (six, mixed) if here is None else (here, 0)
    ip_bytes = round(IPV4_BYTES + share6 * (IPV6_BYTES - IPV4_BYTES))
    per_datagram = link_bytes + IPV4_BYTES + six * (IPV6_BYTES - IPV4_BYTES) + UDP_BYTES
    shorter = rdma_packets * (link_bytes + ip_bytes + ROCE_BYTES) + round(udp_count * per_datagram)
    shorter += further * (link_bytes + IPV4_BYTES) + round(pieces * per_datagram)
    per_segment = link_bytes + IPV4_BYTES + share6 * (IPV6_BYTES - IPV4_BYTES) + TCP_BYTES
    # Where connections do not tell, time stamps are on or off for a whole host: the one that explains more.
    stamped = _share(flows, lambda one: one.has_time_stamps, is_out=is_out)
    shares = (1.0, 0.0) if stamped is None else (stamped,)
    choices = [shorter + round(segments * (per_segment + TIME_STAMP_BYTES * share)) for share in shares]
    return Headers(choices, ip_bytes, mixed, strangers)


def _share(flows: Sequence[Flow], is_so: Callable[[Flow], bool | None], *, is_out: bool) -> float | None:
    """Return the share of their segments whose connections are so; None where one does not tell, or there are none."""
    counts = [(one, one.sent_segments if is_out else one.received_segments) for one in flows]
    if any(count is None or is_so(one) is None for one, count in counts):
        return None
    total = sum(count or 0 for _, count in counts)
    return sum(count or 0 for one, count in counts if is_so(one)) / total if total else None


def _datagrams6(way: Way, share6: float, segments: int, udp_count: int) -> float | None:
    """Return the share of an interface's datagrams that are IPv6's; None where its packets do not tell.

    What came in may have been joined before IP counted it, but for datagrams.
    """
    if way.version6_count is None or not udp_count or (share6 and way.direction == "in"):
        return None
    return min(1.0, max(0.0, way.version6_count - share6 * segments) / udp_count)
