"""What a wire allows: nothing above its rate less the headers, nothing sooner than its bits take."""

from __future__ import annotations

import math

from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import Headers, layer_of
from fabriscope.model.metrics import PAIRS, SENDERS, metric_of
from fabriscope.model.quantity import Direction, Kind
from fabriscope.model.ranks import Layout

ETHERNET_HEADER_BYTES = 14
ETHERNET_FCS_BYTES = 4
ETHERNET_PREAMBLE_BYTES = 8
ETHERNET_GAP_BYTES = 12
IPV4_HEADER_BYTES = 20
TCP_HEADER_BYTES = 32
"""With the time stamp option, which Linux uses unless it is told otherwise."""
TOLERANCE = 0.01

FRAME_OVERHEAD_BYTES = ETHERNET_HEADER_BYTES + ETHERNET_FCS_BYTES + ETHERNET_PREAMBLE_BYTES + ETHERNET_GAP_BYTES
PACKET_OVERHEAD_BYTES = IPV4_HEADER_BYTES + TCP_HEADER_BYTES
TCP, ROCE = "tcp", "roce"
ROCE_OVERHEAD_BYTES = IPV4_HEADER_BYTES + 8 + 12 + 4
"""RoCE v2: UDP's header, the base transport header, the invariant CRC. What some packets have beside is not counted."""
CARRIERS = (TCP, ROCE)
"""What has known headers."""
TWO_RANKS = Layout(2, 1)


def carrier_of(layer: str, fabric: Fabric) -> tuple[str, int | None]:
    """Return whose headers a layer has over a fabric, and its MTU: the payload of a packet for RoCE.

    One of CARRIERS, or empty where they are not known. iWARP goes over TCP, whose bound is generous for it. Of
    InfiniBand no headers are known here.
    """
    headers = layer_of(layer).headers
    if headers is not Headers.RDMA:
        return (TCP if headers is Headers.TCP else ""), fabric.mtu_bytes
    payloads = [port.mtu_bytes for port in fabric.rdma_ports.values()]
    if fabric.transport == ROCE:
        return ROCE, min((payload for payload in payloads if payload), default=None)
    return {"iwarp": TCP}.get(fabric.transport or "", ""), fabric.mtu_bytes


LARGEST_MTU_BYTES = 65_535
"""Of IP; where nobody says the MTU, a rate is bounded as if it were this."""


def wire_bytes(payload_bytes: int, mtu_bytes: int, carrier: str = TCP) -> int:
    """Return the bytes that a payload takes on the wire, in as few segments as the MTU allows.

    Ethernet 14 + FCS 4 + preamble 8 + gap 12, IPv4 20, TCP 20 + 12 for each segment (IEEE 802.3, RFC 791, 9293, 7323).
    Over RoCE v2 instead of TCP's UDP 8, base header 12, CRC 4 for each packet (InfiniBand specification, annex 17).
    """
    if carrier == ROCE:
        return payload_bytes + math.ceil(payload_bytes / mtu_bytes) * (ROCE_OVERHEAD_BYTES + FRAME_OVERHEAD_BYTES)
    segment_bytes = mtu_bytes - PACKET_OVERHEAD_BYTES
    if segment_bytes <= 0:
        raise ValueError(f"an MTU of {mtu_bytes} bytes leaves no room for payload")
    return payload_bytes + math.ceil(payload_bytes / segment_bytes) * (PACKET_OVERHEAD_BYTES + FRAME_OVERHEAD_BYTES)


def bound_bytes_per_s(
    line_rate_bits_per_s: int | None, mtu_bytes: int | None, message_size_bytes: int, carrier: str
) -> float | None:
    """Return the largest rate of payload in one direction; None where there is no wire or it is unknown.

    `message_size_bytes` is what is sent at a stretch: for windows, all messages in flight, since TCP may put small
    ones into one segment. What MPI adds of its own is not known and not subtracted.
    """
    if not line_rate_bits_per_s or not mtu_bytes or message_size_bytes <= 0 or carrier not in CARRIERS:
        return None
    return line_rate_bits_per_s / 8 * message_size_bytes / wire_bytes(message_size_bytes, mtu_bytes, carrier)


def least_latency_ns(
    line_rate_bits_per_s: int | None, mtu_bytes: int | None, message_size_bytes: int, carrier: str, delay_ns: int = 0
) -> float | None:
    """Return the time that the message's bits and the propagation take one way; None where there is no bound.

    Where the line rate or the headers are not known, the propagation remains.
    """
    rate = bound_bytes_per_s(line_rate_bits_per_s, mtu_bytes, message_size_bytes, carrier)
    if rate is None:
        return delay_ns or None
    return message_size_bytes * 1e9 / rate + delay_ns


def metric_limit(
    metric_id: str,
    line_rate_bits_per_s: int | None,
    mtu_bytes: int | None,
    message_size_bytes: int,
    window_size: int | None,
    carrier: str,
    delay_ns: int = 0,
    ranks: Layout = TWO_RANKS,
    wire_count: int | None = None,
) -> float | None:
    """Return the physical limit of a metric: the most of a rate, the least of a time, None for none.

    Of many to one it is that of what crosses the wire, over its share of all: senders on rank 0's host need none. The
    window is None where TCP may fill every segment; `wire_count` is of many to many (ways.py), None by its layout.
    """
    metric = metric_of(metric_id)
    quantity, moves = metric.quantity, metric.moves
    if not quantity.is_bounded:
        return None
    if quantity.unit.kind is Kind.TIME:
        delay_ns *= 2 if quantity.direction is Direction.THERE_AND_BACK else 1
        return least_latency_ns(line_rate_bits_per_s, mtu_bytes, message_size_bytes, carrier, delay_ns)
    if moves is None:
        return None
    if not moves.is_window:
        least_ns = least_latency_ns(line_rate_bits_per_s, mtu_bytes, message_size_bytes, carrier, delay_ns)
        return None if least_ns is None else message_size_bytes * 1e9 / least_ns
    if (flow_count := _flow_count(moves.flows, ranks)) == 0:
        return None
    share_of_all = flow_count / (ranks.rank_count - ranks.receiver_count) if moves.flows == SENDERS else 1.0
    port_count = wire_count or _port_count(ranks)
    if carrier == ROCE:  # every message has packets of its own
        in_flight_bytes = message_size_bytes
    elif window_size is None:
        in_flight_bytes = (mtu_bytes or 0) - PACKET_OVERHEAD_BYTES
    else:
        in_flight_bytes = message_size_bytes * window_size * flow_count // port_count
    rate = bound_bytes_per_s(line_rate_bits_per_s, mtu_bytes, in_flight_bytes, carrier)
    return None if rate is None else quantity.directions * port_count * rate / share_of_all


def _port_count(ranks: Layout) -> int:
    """Return how many ports bound a rate: of many to many those that receive, or those that send if they are fewer."""
    return min(ranks.receiver_count, ranks.source_count) if ranks.receiver_count > 1 else 1


def _flow_count(flows: str, ranks: Layout) -> int:
    """Return how many flows cross the wire at once: of many to one those of other hosts than the receiver's."""
    if flows == SENDERS:
        return ranks.rank_count - (ranks.ranks_with_first if ranks.receiver_count == 1 else ranks.receiver_count)
    return ranks.rank_count // 2 if flows == PAIRS else 1


def is_impossible(value: float, limit: float | None, larger_is_better: bool) -> bool:
    """Return whether a value lies beyond its limit by more than 1 %."""
    if limit is None:
        return False
    return value > limit * (1 + TOLERANCE) if larger_is_better else value < limit * (1 - TOLERANCE)
