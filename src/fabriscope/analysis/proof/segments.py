"""Which of an interface's packets are TCP's segments and which are UDP's datagrams: their headers differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabriscope.analysis.proof.flows import Flow

LARGEST_PACKET_BYTES = 65_536
"""The most payload that an interface counts as one packet: the card cuts it into segments later, or has joined them."""

SACK_BYTES = 28
"""The most that a packet's option on missing segments adds beside time stamps: TCP's options end at 40 bytes."""


@dataclass(frozen=True)
class Way:
    """One direction of one interface, without RDMA."""

    interface: str
    direction: str
    """`out` or `in`."""
    packet_count: int
    segment_count: int | None
    """Of its TCP connections, as they count themselves; None where one does not."""
    payload_bytes: int
    """Of its TCP connections."""

    version6_count: int | None = None
    """Of the packets, those of IPv6, as IP counts them; None where it does not tell by interface."""

    @property
    def others(self) -> int | None:
        """Return how many of its packets are certainly none of TCP's; None where nobody counts segments."""
        return None if self.segment_count is None else max(0, self.packet_count - self.segment_count)

    @property
    def room(self) -> int:
        """Return how many more of its packets may be others', if TCP's are as large as they can be."""
        if self.segment_count is None:
            return 0
        least = -(-self.payload_bytes // LARGEST_PACKET_BYTES)
        return max(0, min(self.packet_count, self.segment_count) - least)


def headers_and_dropped(left_bytes: int, choices: Sequence[int], again_bytes: int) -> tuple[int, int]:
    """Return which headers explain what an interface counted beyond its connections' payload, and how much of what was
    sent again never reached its counter, since the host itself had dropped the first of the two.

    A host that sends faster than its interface takes frames drops them before they are counted, and TCP sends them
    again: it has sent more than the interface. `again_bytes` is the most that can have gone so.
    """

    def error(headers: int) -> int:
        beyond = headers - left_bytes
        return max(-beyond, beyond - again_bytes, 0)

    headers = min(choices, key=error)
    return headers, min(again_bytes, max(0, headers - left_bytes))


def sack_bytes(flows: Sequence[Flow], packet_count: int, *, is_out: bool) -> int:
    """Return the most that options on missing segments (RFC 2018) take of an interface's packets in one direction.

    Each such packet answers data that went the other way: a connection that receives next to nothing sends none.
    """
    answers = 0
    for one in flows:
        packets = one.sent_segments if is_out else one.received_segments
        answered = one.received_bytes if is_out else one.sent_bytes + one.retransmitted_bytes
        answers += answered if packets is None else min(packets, answered)
    return SACK_BYTES * min(packet_count, answers)


def longer_bytes(flows: Sequence[Flow], packet_count: int, *, is_out: bool) -> int:
    """Return the most that options whose length nobody tells add to the headers of an interface's connections."""
    longer = 0
    for one in flows:
        count = one.sent_segments if is_out else one.received_segments
        longer += one.longer_bytes * min(packet_count, packet_count if count is None else count)
    return longer


def datagram_counts(ways: Sequence[Way], counts: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return (interface, direction) to how many of its packets were UDP's.

    `counts` is direction to all datagrams of the host. Packets beyond TCP's segments are theirs first; what is left
    went where several segments may have been counted as one packet.
    """
    found = {}
    for direction, count in counts.items():
        here = [one for one in ways if one.direction == direction]
        certain = {one.interface: min(count, one.others or 0) for one in here}
        left, room = max(0, count - sum(certain.values())), sum(one.room for one in here)
        for one in here:
            more = round(min(left, room) * one.room / room) if room else 0
            found[one.interface, direction] = certain[one.interface] + min(one.room, more)
    return found
