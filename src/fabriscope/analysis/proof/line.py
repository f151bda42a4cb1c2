"""One direction of one interface; and interfaces that stand on others, which count the same bytes again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

LEAST_COUNTED_BYTES = 10_000
"""Of less than this nothing is said: a dozen packets of somebody's housekeeping would be percents."""
OWNERLESS_SHARE = 0.02
"""More of an interface's bytes than this without an owner leave it open what the job sent there."""
HOUSEKEEPING_BYTES, STRANGER_BYTES = 300, 110
"""Two questions for a hardware address and two answers, by ARP or by IPv6; and the most that one more such packet has,
or one that tells of groups (MLD)."""
TUNNEL_BYTES = 80
"""The most that a packet is longer beneath a tunnel: VXLAN over IPv6 adds 70, WireGuard over IPv6 80."""
TUNNEL_SHARE = 0.125
"""The most that a tunnel's headers add to what it carries, in packets of 1 kB and more."""


@dataclass(frozen=True)
class Line:
    """One direction of one interface."""

    host: str
    interface: str
    direction: str
    """`out` or `in`."""
    counted_bytes: int
    packet_count: int
    tcp_bytes: int
    """Payload of all TCP connections."""
    header_bytes: int
    rdma_bytes: int
    """Payload of an RDMA device that sends through the interface's own counters (Soft RoCE)."""
    background_bytes: int
    rest_bytes: int
    """What nothing accounts for; negative where more is accounted for than was counted."""
    again_bytes: int = 0
    """Of the TCP payload, what was sent again: a queue may have dropped it before the interface counted it."""
    datagram_bytes: int = 0
    """What went by the job's datagrams (`books_datagrams`)."""
    datagram_count: int = 0
    """Of the packets, those of UDP, whoever sent them; their shorter headers are taken off."""
    other_packets: int | None = None
    """Of the packets, those that are certainly none of TCP's; None where TCP's segments are not counted."""
    unsure_bytes: int = 0
    """What else of the job's may be hidden: readings are not of one moment, idle hosts not always as idle, and what TCP
    sent again may have been dropped before it was counted, so that something else was counted in its place."""
    lost_bytes: int = 0
    """Of what TCP sent, or sent again, as much was not counted: the host dropped it before, or a route sent it by
    another interface."""
    slack_bytes: int = 0
    """What connections that were open while counters were read may have moved more, or less: taken off the rest."""
    stranger_count: int = 0
    """Of the packets, those of neither TCP nor UDP: of a ping, of ARP."""
    unplaced_bytes: int = 0
    """What connections carried by it whose addresses are no interface's, or several interfaces'."""
    longer_bytes: int = 0
    """How much longer the headers of its connections may be than those that are reckoned, for other options."""
    is_exact: bool = False
    """The kernel itself counted the job's datagrams, apart from everybody else's."""

    @property
    def housekeeping_bytes(self) -> int:
        """Return how much the host itself may have told its neighbours."""
        if self.other_packets is None:
            return LEAST_COUNTED_BYTES
        return HOUSEKEEPING_BYTES + STRANGER_BYTES * self.stranger_count

    @property
    def error(self) -> float | None:
        """Return |counted - background - explained| / counted; None where too little was counted."""
        return abs(self.rest_bytes) / self.counted_bytes if self.counted_bytes >= LEAST_COUNTED_BYTES else None


def told_apart(lines: Sequence[Line], lower: Mapping[str, Sequence[str]]) -> list[Line]:
    """Return the accounts of a host's interfaces without what those above them counted too."""
    lines = _past_upper(lines, lower)
    return [_without_nested(line, lines, lower) for line in lines]


def _without_nested(line: Line, lines: Sequence[Line], lower: Mapping[str, Sequence[str]]) -> Line:
    """Return the account of an interface less what those above it counted too (VLAN, VXLAN: the kernel tells)."""
    nested = sum(max(0, one.counted_bytes) for one in _above(line, lines, lower))
    # Above, a packet may be 64 KiB; beneath, each segment of it has all headers.
    nested += min(TUNNEL_BYTES * max(0, line.packet_count), round(TUNNEL_SHARE * nested))
    return replace(line, rest_bytes=line.rest_bytes - min(max(0, line.rest_bytes), nested))


def _past_upper(lines: Sequence[Line], lower: Mapping[str, Sequence[str]]) -> list[Line]:
    """Return the accounts with what an interface lacks, of what its connections had, set against the one beneath it.

    A host answers for all its addresses by each interface (arp_ignore of 0): what is meant for a macvlan's comes by its
    parent's hardware address too, until the answers agree, and only the parent counts it.
    """
    found = list(lines)
    for place, line in enumerate(found):
        above = _above(line, found, lower) if line.direction == "in" else []
        past = line.rest_bytes - sum(max(0, one.counted_bytes - one.header_bytes) for one in above)
        for upper in above:
            size = min(max(0, -upper.rest_bytes), max(0, past))
            past -= size
            found[found.index(upper)] = replace(upper, rest_bytes=upper.rest_bytes + size)
            found[place] = replace(found[place], rest_bytes=found[place].rest_bytes - size)
    return found


def _above(line: Line, lines: Sequence[Line], lower: Mapping[str, Sequence[str]]) -> list[Line]:
    return [one for one in lines if one.direction == line.direction and line.interface in lower.get(one.interface, ())]
